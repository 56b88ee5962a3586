// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	netv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-ingress/fairway/test/testbed"
)

func (s *stage) dial(port int) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		return testbed.Dialer{Netns: s.Cluster.Netns}.DialContext(ctx, network, fmt.Sprintf("127.0.0.1:%d", port))
	}
}

// measurePropagation measures at growing numbers of Ingresses. A time is from the beginning of the API write until an answer to a
// request that obeys it, so it includes the API server's own part, on the same two cores.
func measurePropagation(ctx context.Context, o settings, r *report) error {
	s, err := newStage(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	sizes, samples := []int{10, 100, 1000, 10000}, 100
	if o.quick {
		sizes, samples = []int{10, 100, 1000}, 25
	}
	var firstWorker float64
	for _, size := range sizes {
		progress("propagation: %d Ingresses", size)
		if err := s.fill(ctx, size); err != nil {
			return err
		}
		if size > 10 {
			if err := s.propagate(ctx, r, size, samples); err != nil {
				return err
			}
		}
		worker, err := s.memory(ctx, r, size)
		if err != nil {
			return err
		}
		if size == sizes[0] {
			firstWorker = worker
		}
		if size == 10000 {
			r.addBudget("memory", "worker, 10000 Ingresses against 10", worker/firstWorker, "×", 3, "every host was asked for once; private memory of the largest worker")
		}
	}
	return s.coldStart(r, sizes[len(sizes)-1])
}

// change is one kind of change: i counts the samples.
type change struct {
	what   string
	budget float64 // ms at p99; 0 none
	write  func(i int) error
	await  func(i int) (time.Time, error)
	after  func(i int) error
}

func (s *stage) propagate(ctx context.Context, r *report, size, samples int) error {
	reloads, err := s.controller.Reloads()
	if err != nil {
		return err
	}
	changes, err := s.changes(ctx)
	if err != nil {
		return err
	}
	for _, c := range changes {
		var times []float64
		for i := range samples {
			begin := time.Now()
			if err := c.write(i); err != nil {
				return err
			}
			end, err := c.await(i)
			if err != nil {
				return err
			}
			times = append(times, float64(end.Sub(begin).Microseconds())/1000)
			if c.after != nil {
				if err := c.after(i); err != nil {
					return err
				}
			}
			time.Sleep(20 * time.Millisecond)
		}
		note := fmt.Sprintf("%d samples; p50 %s ms", samples, short(quantile(times, .5)))
		what := fmt.Sprintf("%s, %d Ingresses, p99", c.what, size)
		if c.budget > 0 {
			r.addBudget("propagation", what, quantile(times, .99), "ms", c.budget, note)
		} else {
			r.add("propagation", what, quantile(times, .99), "ms", note)
		}
	}
	after, err := s.controller.Reloads()
	if err != nil {
		return err
	}
	r.addBudget("propagation", fmt.Sprintf("reloads during these, %d Ingresses", size), float64(after-reloads), "", 0, "")
	return nil
}

func (s *stage) changes(ctx context.Context) ([]change, error) {
	ingresses, slices, secrets := s.Client.NetworkingV1().Ingresses(namespace), s.Client.DiscoveryV1().EndpointSlices(namespace), s.Client.CoreV1().Secrets(namespace)
	const tlsHost = "tls.example"
	_ = ingresses.Delete(ctx, "tls", metav1.DeleteOptions{}) // of the size before
	_ = secrets.Delete(ctx, "tls", metav1.DeleteOptions{})
	first, err := testbed.NewTLSSecret("tls", tlsHost, 1)
	if err != nil {
		return nil, err
	}
	if _, err := secrets.Create(ctx, first, metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	secure := newIngress("tls", tlsHost, "/", "web00000")
	secure.Spec.TLS = []netv1.IngressTLS{{Hosts: []string{tlsHost}, SecretName: "tls"}}
	if _, err := ingresses.Create(ctx, secure, metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	isOK := func(r *http.Response) bool { return r.StatusCode == http.StatusOK }
	address := func(i int) string { return []string{addressB, addressA}[i%2] }
	return []change{
		{
			what: "new Ingress", budget: 250,
			write: func(i int) error {
				_, err := ingresses.Create(ctx, newIngress(fmt.Sprintf("new%d", i), fmt.Sprintf("new%d.example", i), "/", "web00000"), metav1.CreateOptions{})
				return err
			},
			await: func(i int) (time.Time, error) { return s.await(ctx, fmt.Sprintf("new%d.example", i), "/", isOK) },
			after: func(i int) error { return ingresses.Delete(ctx, fmt.Sprintf("new%d", i), metav1.DeleteOptions{}) },
		},
		{
			what: "changed path",
			write: func(i int) error {
				_, err := ingresses.Update(ctx, newIngress("web00001", hostName(1), fmt.Sprintf("/p%d", i), "web00001"), metav1.UpdateOptions{})
				return err
			},
			await: func(i int) (time.Time, error) { return s.await(ctx, hostName(1), fmt.Sprintf("/p%d", i), isOK) },
		},
		{
			what: "endpoint change", budget: 50,
			write: func(i int) error {
				_, err := slices.Update(ctx, newSlice("web00002", address(i)), metav1.UpdateOptions{})
				return err
			},
			await: func(i int) (time.Time, error) {
				return s.await(ctx, hostName(2), "/", func(r *http.Response) bool { return r.Header.Get("Endpoint") == address(i) })
			},
		},
		{
			what: "certificate change",
			write: func(i int) error {
				secret, err := testbed.NewTLSSecret("tls", tlsHost, int64(i)+2)
				if err != nil {
					return err
				}
				_, err = secrets.Update(ctx, secret, metav1.UpdateOptions{})
				return err
			},
			await: func(i int) (time.Time, error) { return s.awaitCertificate(ctx, tlsHost, int64(i)+2) },
		},
	}, nil
}

func (s *stage) awaitCertificate(ctx context.Context, host string, serial int64) (time.Time, error) {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline) && ctx.Err() == nil; time.Sleep(time.Millisecond) {
		conn, err := s.dial(testbed.HTTPSPort)(ctx, "tcp", "")
		if err != nil {
			continue
		}
		client := tls.Client(conn, &tls.Config{ServerName: host, InsecureSkipVerify: true})
		err = client.HandshakeContext(ctx)
		conn.Close()
		if err == nil && client.ConnectionState().PeerCertificates[0].SerialNumber.Int64() == serial {
			return time.Now(), nil
		}
	}
	return time.Time{}, fmt.Errorf("certificate %d of %s was not seen within a minute", serial, host)
}

// memory asks every host once, so that workers know them all, and reports sizes. It gives the private memory of the largest worker.
func (s *stage) memory(ctx context.Context, r *report, size int) (float64, error) {
	for range 2 { // connections fall to either worker
		if err := parallel(size, func(i int) error {
			_, err := s.get(ctx, hostName(i), "/")
			return err
		}); err != nil {
			return 0, err
		}
	}
	workers, err := s.controller.Workers()
	if err != nil {
		return 0, err
	}
	var worker float64
	for _, pid := range workers {
		private, err := rollup(pid, "Private_Dirty:", "Private_Clean:")
		if err != nil {
			return 0, err
		}
		worker = max(worker, private)
	}
	r.add("memory", fmt.Sprintf("worker, %d Ingresses", size), worker, "MiB", "private")
	resident, err := rollup(s.controller.PID(), "Rss:")
	if err != nil {
		return 0, err
	}
	what := fmt.Sprintf("controller, %d Ingresses", size)
	if size == 10000 {
		r.addBudget("memory", what, resident, "MiB", 400, "resident; one endpoint each")
	} else {
		r.add("memory", what, resident, "MiB", "resident")
	}
	info, err := os.Stat(filepath.Join(s.controller.RuntimeDir(), "nginx.conf"))
	if err != nil {
		return 0, err
	}
	r.add("memory", fmt.Sprintf("nginx.conf, %d Ingresses", size), float64(info.Size())/1024, "KiB", "")
	return worker, nil
}

// rollup sums fields of /proc/PID/smaps_rollup, in MiB.
func rollup(pid int, fields ...string) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, err
	}
	var sum float64
	for _, line := range strings.Split(string(text), "\n") {
		for _, field := range fields {
			if strings.HasPrefix(line, field) {
				var kib float64
				if _, err := fmt.Sscan(strings.TrimPrefix(line, field), &kib); err != nil {
					return 0, err
				}
				sum += kib / 1024
			}
		}
	}
	return sum, nil
}

// coldStart stops controller and nginx and times a start until ready.
func (s *stage) coldStart(r *report, size int) error {
	s.controller.Stop()
	begin := time.Now()
	if err := s.controller.Start(); err != nil {
		return err
	}
	took := time.Since(begin).Seconds()
	what := fmt.Sprintf("cold start to ready, %d Ingresses", size)
	if size == 10000 {
		r.addBudget("start", what, took, "s", 10, "includes reading everything from the API server")
	} else {
		r.add("start", what, took, "s", "includes reading everything from the API server")
	}
	return nil
}
