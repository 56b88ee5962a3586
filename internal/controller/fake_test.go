// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	netv1 "k8s.io/api/networking/v1"

	"github.com/fairway-ingress/fairway/internal/ingress"
	"github.com/fairway-ingress/fairway/internal/metrics"
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
)

// objects is a source whose snapshot a test sets.
type objects struct {
	synced, changed chan struct{}

	mu       sync.Mutex // guards snapshot
	snapshot *source.Snapshot
}

func (o *objects) Run(ctx context.Context) error { <-ctx.Done(); return nil }
func (o *objects) Synced() <-chan struct{}       { return o.synced }
func (o *objects) Changed() <-chan struct{}      { return o.changed }

func (o *objects) Snapshot() *source.Snapshot {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.snapshot
}

// hold makes Ingresses for these hosts all there is.
func (o *objects) hold(hosts ...string) {
	snapshot := &source.Snapshot{}
	for _, host := range hosts {
		snapshot.Ingresses = append(snapshot.Ingresses, anIngress(host))
	}
	o.set(snapshot)
}

func (o *objects) set(snapshot *source.Snapshot) {
	o.mu.Lock()
	o.snapshot = snapshot
	o.mu.Unlock()
	wake(o.changed)
}

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func anIngress(host string) *netv1.Ingress {
	i := &netv1.Ingress{}
	i.Namespace, i.Name = "default", host
	i.Spec.Rules = []netv1.IngressRule{{Host: host, IngressRuleValue: netv1.IngressRuleValue{HTTP: &netv1.HTTPIngressRuleValue{
		Paths: []netv1.HTTPIngressPath{{Path: "/", PathType: new(netv1.PathTypePrefix), Backend: netv1.IngressBackend{
			Service: &netv1.IngressServiceBackend{Name: "web", Port: netv1.ServiceBackendPort{Number: 80}},
		}}},
	}}}}
	return i
}

// external is a snapshot with a route to an ExternalName Service.
func external(host string) *source.Snapshot {
	s := &corev1.Service{}
	s.Namespace, s.Name = "default", "web"
	s.Spec.Type, s.Spec.ExternalName, s.Spec.Ports = corev1.ServiceTypeExternalName, "elsewhere.example", []corev1.ServicePort{{Port: 80}}
	return &source.Snapshot{
		Ingresses: []*netv1.Ingress{anIngress(host)}, Services: map[source.Key]*corev1.Service{{Namespace: "default", Name: "web"}: s},
	}
}

// names is a resolver that answers when a test says so.
type names struct {
	changed chan struct{}

	mu        sync.Mutex // guards below
	wanted    []string
	addresses map[string][]netip.Addr
}

func (n *names) Run(ctx context.Context) error { <-ctx.Done(); return nil }
func (n *names) Changed() <-chan struct{}      { return n.changed }

func (n *names) Want(list []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.wanted = list
}

func (n *names) Pending() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.wanted) > len(n.addresses)
}

func (n *names) Addresses() map[string][]netip.Addr {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.addresses
}

func (n *names) answer(name, address string) {
	n.mu.Lock()
	n.addresses = map[string][]netip.Addr{name: {netip.MustParseAddr(address)}}
	n.mu.Unlock()
	wake(n.changed)
}

// applied is a call of Apply.
type applied struct {
	at    time.Duration // since the start of the test
	hosts string        // names of the model's hosts
}

// plane is a driver that notes what it is told.
type plane struct {
	begin     time.Time
	restarted chan struct{}

	mu    sync.Mutex // guards below
	takes time.Duration
	fails int // so many calls from now on
	hates model.Snippet
	// dislikes says which settings are refused; nil for none.
	dislikes func(m *model.Model) map[string]string
	calls    []applied
	before   string
	last     uint64
}

func (p *plane) Run(ctx context.Context) error { <-ctx.Done(); return nil }
func (p *plane) Restarted() <-chan struct{}    { return p.restarted }

func (p *plane) Apply(ctx context.Context, m *model.Model) (model.Change, error) {
	var list []string
	for _, h := range m.Hosts {
		if h.Name != model.CatchAll {
			list = append(list, h.Name)
		}
	}
	hosts := strings.Join(list, " ")
	p.mu.Lock()
	p.calls = append(p.calls, applied{time.Since(p.begin), hosts})
	takes, fails, hates := p.takes, p.fails > 0, p.hates
	p.fails--
	p.mu.Unlock()
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		return model.Change{}, ctx.Err()
	}
	if fails {
		return model.Change{}, errors.New("refused")
	}
	if hates != "" && has(m, hates) {
		return model.Change{}, &model.RefusedError{Snippets: map[model.Snippet]string{hates: "bad taste"}}
	}
	if p.dislikes != nil {
		if refused := p.dislikes(m); len(refused) > 0 {
			return model.Change{}, &model.RefusedError{Settings: refused}
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if hosts == p.before && p.last > 0 {
		return model.Change{Generation: p.last}, nil
	}
	p.before = hosts
	p.last++
	return model.Change{Generation: p.last, Set: 1}, nil
}

// has tells whether a route holds a snippet.
func has(m *model.Model, snippet model.Snippet) bool {
	for _, h := range m.Hosts {
		for _, match := range h.Matches {
			if match.Route.Policy.Snippet == snippet {
				return true
			}
		}
	}
	return false
}

func (p *plane) will(takes time.Duration, fails int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.takes, p.fails = takes, fails
}

// applies gives the calls so far and forgets them.
func (p *plane) applies() []applied {
	p.mu.Lock()
	defer p.mu.Unlock()
	calls := p.calls
	p.calls = nil
	return calls
}

// stand is a loop with its fakes.
type stand struct {
	*Loop
	objects *objects
	names   *names
	plane   *plane
}

func newStand() *stand {
	s := &stand{
		objects: &objects{synced: make(chan struct{}), changed: make(chan struct{}, 1), snapshot: &source.Snapshot{}},
		names:   &names{changed: make(chan struct{}, 1)},
		plane:   &plane{begin: time.Now(), restarted: make(chan struct{}, 1)},
	}
	s.Loop = &Loop{
		Source: s.objects, Resolver: s.names, Builder: ingress.NewBuilder(ingress.Options{WatchWithoutClass: true}), Driver: s.plane,
		Metrics: metrics.New(metrics.Options{Version: "test"}), Log: slog.New(slog.DiscardHandler),
	}
	return s
}

// run runs the loop in a bubble where time is fake, and a test beside it.
func run(t *testing.T, test func(t *testing.T, s *stand)) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- s.Run(ctx) }()
		test(t, s)
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
}

// started runs a test on a loop that has applied one host.
func started(t *testing.T, test func(t *testing.T, s *stand)) {
	run(t, func(t *testing.T, s *stand) {
		s.objects.hold("a.example")
		close(s.objects.synced)
		synctest.Wait()
		time.Sleep(time.Minute) // whatever the start left to do
		synctest.Wait()
		s.plane.applies()
		s.plane.mu.Lock()
		s.plane.begin = time.Now()
		s.plane.mu.Unlock()
		test(t, s)
	})
}
