// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/fairway-ingress/fairway/test/testbed"
)

// checkEvery is how often readiness is asked for. A kubelet asks every some seconds; what counts is that it is less than the replicas'
// grace period.
const checkEvery = 100 * time.Millisecond

// balancer hands new TCP connections to replicas that are ready, in turn, and leaves those that exist where they are, as kube-proxy does.
type balancer struct {
	listener net.Listener
	running  sync.WaitGroup
	cancel   context.CancelFunc

	mu       sync.Mutex // guards below
	replicas []*replica
	ready    []*replica
	next     int
	failed   map[string]int // connections that nobody took
}

func newBalancer(t *testing.T) *balancer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	b := &balancer{listener: listener, cancel: cancel, failed: map[string]int{}}
	b.running.Go(func() { b.watch(ctx) })
	b.running.Go(b.accept)
	t.Cleanup(func() {
		b.cancel()
		b.listener.Close()
		b.running.Wait()
	})
	return b
}

// add makes a replica a target once it is ready.
func (b *balancer) add(r *replica) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.replicas = append(b.replicas, r)
}

// has tells whether a replica gets new connections.
func (b *balancer) has(r *replica) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, other := range b.ready {
		if other == r {
			return true
		}
	}
	return false
}

func (b *balancer) watch(ctx context.Context) {
	for ctx.Err() == nil {
		b.mu.Lock()
		all := append([]*replica(nil), b.replicas...)
		b.mu.Unlock()
		var ready []*replica
		for _, r := range all {
			if r.ready() {
				ready = append(ready, r)
			}
		}
		b.mu.Lock()
		b.ready = ready
		b.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-time.After(checkEvery):
		}
	}
}

func (b *balancer) accept() {
	for {
		client, err := b.listener.Accept()
		if err != nil {
			return
		}
		go b.serve(client)
	}
}

func (b *balancer) pick() *replica {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.ready) == 0 {
		return nil
	}
	b.next++
	return b.ready[b.next%len(b.ready)]
}

func (b *balancer) note(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failed[err.Error()]++
}

// serve copies both ways until both sides have said all.
func (b *balancer) serve(client net.Conn) {
	defer client.Close()
	r := b.pick()
	if r == nil {
		b.note(fmt.Errorf("no replica is ready"))
		return
	}
	server, err := testbed.Dialer{Netns: r.e.Cluster.Netns}.DialContext(context.Background(), "tcp", fmt.Sprintf("127.0.0.1:%d", r.http))
	if err != nil {
		b.note(err)
		return
	}
	defer server.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		pour(server, client)
	}()
	pour(client, server)
	<-done
}

// pour copies until the end and passes the end on.
func pour(to, from net.Conn) {
	_, _ = io.Copy(to, from) // a reset is an end too
	if half, ok := to.(*net.TCPConn); ok {
		_ = half.CloseWrite()
	}
}
