// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-ingress/fairway/test/testbed"
)

// load asks through the balancer until it is stopped.
type load struct {
	done    chan struct{}
	running sync.WaitGroup
	mu      sync.Mutex // guards below
	good    int
	bad     map[string]int
}

// startLoad begins with clients that keep their connections and clients that don't.
func startLoad(address, host string) *load {
	l := &load{done: make(chan struct{}), bad: map[string]int{}}
	for n := range 6 {
		client := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DisableKeepAlives: n%2 == 0}}
		l.running.Go(func() {
			for {
				select {
				case <-l.done:
					client.CloseIdleConnections()
					return
				case <-time.After(2 * time.Millisecond):
				}
				l.note(ask(client, address, host, "/"))
			}
		})
	}
	return l
}

func (l *load) note(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.bad[err.Error()]++
	} else {
		l.good++
	}
}

func (l *load) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.good
}

// ask sends one request and demands a whole answer of status 200.
func ask(client *http.Client, address, host, path string) error {
	request, err := http.NewRequest(http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		return err
	}
	request.Host = host
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", response.StatusCode)
	}
	return nil
}

// Two replicas are replaced one after the other, as by a Deployment with maxUnavailable 0, while clients go on asking.
func TestRollingUpdate(t *testing.T) {
	e := running(t)
	ns := e.Namespace(t)
	e.deploy(t, ns)
	e.CreateIngress(t, ns, newIngress("web", "rollout.example"))
	flags := []string{"--publish-status-address", "192.0.2.60", "--shutdown-grace-period", "2"}
	b := newBalancer(t)
	old := []*replica{e.start(t, "rollout-a", flags...), e.start(t, "rollout-b", flags...)}
	for _, r := range old {
		b.add(r)
	}
	eventually(t, "both get connections", func() bool { return b.has(old[0]) && b.has(old[1]) })
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	address := b.listener.Addr().String()
	eventually(t, "the route is served", func() bool { return ask(client, address, "rollout.example", "/") == nil })
	e.eventuallyAddresses(t, ns, "web", "192.0.2.60")

	l := startLoad(address, "rollout.example")
	for n, leaving := range old {
		fresh := e.start(t, fmt.Sprintf("rollout-new-%d", n), flags...)
		b.add(fresh)
		eventually(t, "the new replica gets connections", func() bool { return b.has(fresh) })
		before := l.count()
		eventually(t, "requests go on", func() bool { return l.count() > before+100 })
		leaving.stop(t)
		before = l.count()
		eventually(t, "requests go on", func() bool { return l.count() > before+100 })
		if got := e.addresses(t, ns, "web"); got != "192.0.2.60" {
			t.Errorf("status in the rolling update: %q", got)
		}
	}
	close(l.done)
	l.running.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(l.bad)+len(b.failed) > 0 {
		t.Errorf("failed requests beside %d good ones: %v; connections: %v", l.good, l.bad, b.failed)
	}
	t.Logf("%d requests while both replicas were replaced, %d failed", l.good, len(l.bad))
}

// dial opens connections to a replica.
func (r *replica) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	return testbed.Dialer{Netns: r.e.Cluster.Netns}.DialContext(ctx, network, fmt.Sprintf("127.0.0.1:%d", r.http))
}

// webSocket opens one, by which the echo server gives back what it gets.
func (r *replica) webSocket(t *testing.T, host string) *websocket.Conn {
	t.Helper()
	dialer := websocket.Dialer{NetDialContext: r.dial}
	socket, response, err := dialer.DialContext(t.Context(), "ws://"+host+"/ws", nil)
	if err != nil {
		t.Fatalf("WebSocket: %v, %v", err, response)
	}
	t.Cleanup(func() { socket.Close() })
	if _, _, err := socket.ReadMessage(); err != nil { // the server introduces itself
		t.Fatal(err)
	}
	return socket
}

func echoes(socket *websocket.Conn, text string) error {
	if err := socket.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
		return err
	}
	if err := socket.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		return err
	}
	_, got, err := socket.ReadMessage()
	if err == nil && string(got) != text {
		err = fmt.Errorf("%q came back as %q", text, got)
	}
	return err
}

// served starts a replica that serves a host, with settings.
func (e *environment) served(t *testing.T, name string, settings map[string]string, flags ...string) (r *replica, host string) {
	t.Helper()
	ns := e.Namespace(t)
	e.deploy(t, ns)
	host = name + ".example"
	e.CreateIngress(t, ns, newIngress("web", host))
	c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: settings}
	if _, err := e.Client.CoreV1().ConfigMaps(ns).Create(t.Context(), c, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	r = e.start(t, name, append(flags, "--configmap", ns+"/settings", "--publish-status-address", "192.0.2.70")...)
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DialContext: r.dial, DisableKeepAlives: true}}
	eventually(t, "the route is served", func() bool { return ask(client, host, host, "/") == nil })
	return r, host
}

// A stop lets what is open finish: a slow request its answer, a WebSocket its talk. New connections are taken for the grace period, while
// readiness fails already.
func TestStopDrains(t *testing.T) {
	e := running(t)
	r, host := e.served(t, "drain", nil, "--shutdown-grace-period", "3")
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{DialContext: r.dial, DisableKeepAlives: true}}
	socket := r.webSocket(t, host)
	if err := echoes(socket, "before"); err != nil {
		t.Fatal(err)
	}
	slow := make(chan error, 1)
	go func() { slow <- ask(client, host, host, "/?delay=4s") }()
	time.Sleep(500 * time.Millisecond) // it is on its way
	stopping := time.Now()
	r.Signal(syscall.SIGTERM)
	eventually(t, "not ready", func() bool { return !r.ready() })
	if err := ask(client, host, host, "/"); err != nil {
		t.Errorf("a request in the grace period: %v", err)
	}
	eventually(t, "no new connections", func() bool { return ask(client, host, host, "/") != nil })
	if took := time.Since(stopping); took < 3*time.Second {
		t.Errorf("the grace period was %s", took)
	}
	if err := echoes(socket, "while stopping"); err != nil {
		t.Errorf("the WebSocket: %v", err)
	}
	if err := <-slow; err != nil {
		t.Errorf("the slow request: %v", err)
	}
	if err := echoes(socket, "and still"); err != nil {
		t.Errorf("the WebSocket: %v", err)
	}
	select {
	case <-r.Ended():
		t.Error("the replica ended before its WebSocket")
	default:
	}
	socket.Close()
	eventually(t, "the end", func() bool {
		select {
		case <-r.Ended():
			return true
		default:
			return false
		}
	})
	if code := r.Status(); code != 0 {
		t.Errorf("exit status %d", code)
	}
}

// What is still open when worker-shutdown-timeout is over is cut off.
func TestStopHasALimit(t *testing.T) {
	e := running(t)
	r, host := e.served(t, "limit", map[string]string{"worker-shutdown-timeout": "2s"})
	socket := r.webSocket(t, host)
	if err := echoes(socket, "before"); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	r.Signal(syscall.SIGTERM)
	<-r.Ended()
	took := time.Since(begin)
	t.Logf("ended after %.1f s; worker-shutdown-timeout is 2s", took.Seconds())
	if took < 2*time.Second {
		t.Error("that is before the limit")
	}
	if err := echoes(socket, "after"); err == nil {
		t.Error("the WebSocket outlived nginx")
	}
	if code := r.Status(); code != 0 {
		t.Errorf("exit status %d", code)
	}
}
