// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/gorilla/websocket"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	netv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-ingress/fairway/test/testbed"
)

const (
	namespace  = "bench"
	className  = "bench"
	controller = "example.test/bench"
	// The two endpoints: addresses that the cluster's network namespace takes for its own.
	addressA, addressB = "172.20.200.1", "172.20.200.2"
	endpointPort       = 8000
)

// stage is a control plane, a controller and two backends in one network namespace.
type stage struct {
	*testbed.Scene
	controller *testbed.Controller
	servers    []*http.Server
	ingresses  int // host 0 … ingresses-1 are there
}

func newStage(ctx context.Context, flags ...string) (s *stage, err error) {
	if os.Getuid() != 0 {
		return nil, errors.New("needs root for network namespaces")
	}
	dir, err := testbed.NewDir()
	if err != nil {
		return nil, err
	}
	s = &stage{}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	progress("starting the control plane")
	if s.Scene, err = testbed.NewScene(dir); err != nil {
		return nil, err
	}
	s.controller = testbed.NewController(dir, s.Cluster, controller)
	s.controller.Flags = flags
	for _, address := range []string{addressA, addressB} {
		listener, err := testbed.Listen(s.Cluster.Netns, fmt.Sprintf("%s:%d", address, endpointPort))
		if err != nil {
			return nil, err
		}
		server := &http.Server{Handler: answer(address)}
		s.servers = append(s.servers, server)
		go func() { _ = server.Serve(listener) }() // ends by Close
	}
	if _, err := s.Client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	if err := s.MakeClass(ctx, className, controller); err != nil {
		return nil, err
	}
	return s, s.controller.Start()
}

func (s *stage) close() {
	s.controller.Stop()
	for _, server := range s.servers {
		_ = server.Close()
	}
	s.Close()
}

// answer says in a header which endpoint answers, and echoes WebSocket messages.
func answer(address string) http.HandlerFunc {
	upgrader := websocket.Upgrader{}
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Endpoint", address)
		if !websocket.IsWebSocketUpgrade(r) {
			return
		}
		conn, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer conn.Close()
		for {
			kind, text, err := conn.ReadMessage()
			if err != nil || conn.WriteMessage(kind, text) != nil {
				return
			}
		}
	}
}

// parallel runs a function for 0 … n-1, sixteen at a time, and gives the first error.
func parallel(n int, do func(int) error) error {
	var running sync.WaitGroup
	work, failed := make(chan int), make(chan error, n)
	for range 16 {
		running.Go(func() {
			for i := range work {
				if err := do(i); err != nil {
					failed <- err
				}
			}
		})
	}
	for i := range n {
		work <- i
	}
	close(work)
	running.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

// fill makes hosts until there are n, each an Ingress with a Service and an EndpointSlice of its own, and waits until the last is served.
func (s *stage) fill(ctx context.Context, n int) error {
	from := s.ingresses
	if err := parallel(n-from, func(i int) error { return s.create(ctx, from+i) }); err != nil {
		return err
	}
	s.ingresses = n
	for i := from; i < n; i++ {
		if _, err := s.await(ctx, hostName(i), "/", func(r *http.Response) bool { return r.StatusCode == http.StatusOK }); err != nil {
			return err
		}
	}
	return nil
}

func (s *stage) create(ctx context.Context, i int) error {
	name := fmt.Sprintf("web%05d", i)
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.ServiceSpec{ClusterIP: "None", Ports: []corev1.ServicePort{{Port: endpointPort}}}}
	if _, err := s.Client.CoreV1().Services(namespace).Create(ctx, service, metav1.CreateOptions{}); err != nil {
		return err
	}
	if _, err := s.Client.DiscoveryV1().EndpointSlices(namespace).Create(ctx, newSlice(name, addressA), metav1.CreateOptions{}); err != nil {
		return err
	}
	_, err := s.Client.NetworkingV1().Ingresses(namespace).Create(ctx, newIngress(name, hostName(i), "/", name), metav1.CreateOptions{})
	return err
}

func newSlice(service, address string) *discoveryv1.EndpointSlice {
	port, portName, protocol := int32(endpointPort), "", corev1.ProtocolTCP
	return &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Name: service, Labels: map[string]string{discoveryv1.LabelServiceName: service}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{address}}},
		Ports:       []discoveryv1.EndpointPort{{Name: &portName, Port: &port, Protocol: &protocol}},
	}
}

func newIngress(name, host, path, service string) *netv1.Ingress {
	return testbed.NewIngress(className, name, host, path, service, endpointPort)
}

// get asks Fairway for http://host/path over a new connection.
func (s *stage) get(ctx context.Context, host, path string) (*http.Response, error) {
	transport := &http.Transport{DisableKeepAlives: true, DialContext: s.dial(testbed.HTTPPort)}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+host+path, nil)
	if err != nil {
		return nil, err
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	return response, response.Body.Close()
}

// await asks every millisecond until an answer satisfies, and gives the moment.
func (s *stage) await(ctx context.Context, host, path string, satisfied func(*http.Response) bool) (time.Time, error) {
	last := "no answer"
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline) && ctx.Err() == nil; time.Sleep(time.Millisecond) {
		response, err := s.get(ctx, host, path)
		switch {
		case err != nil:
			last = err.Error()
		case satisfied(response):
			return time.Now(), nil
		default:
			last = response.Status
		}
	}
	return time.Time{}, fmt.Errorf("http://%s%s did not change within a minute: %s", host, path, last)
}
