// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package dns

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// server answers look-ups from a table that a test may change.
type server struct {
	mu      sync.Mutex
	answers map[string][]netip.Addr
	err     error
}

func (s *server) lookup(_ context.Context, name string) ([]netip.Addr, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil, s.err
	}
	if a, found := s.answers[name]; found {
		return a, nil
	}
	return nil, &net.DNSError{Name: name, IsNotFound: true}
}

func (s *server) set(err error, answers map[string][]netip.Addr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err, s.answers = err, answers
}

func addresses(texts ...string) []netip.Addr {
	var list []netip.Addr
	for _, t := range texts {
		list = append(list, netip.MustParseAddr(t))
	}
	return list
}

func TestResolver(t *testing.T) {
	s := &server{answers: map[string][]netip.Addr{
		"both.example": addresses("fd00::1", "10.0.0.2", "10.0.0.1", "10.0.0.1"), "six.example": addresses("fd00::1"),
	}}
	r := New(Options{Lookup: s.lookup, Interval: 5 * time.Millisecond})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = r.Run(ctx) }()
	defer func() { cancel(); <-done }()

	until := func(what string, want map[string][]netip.Addr) {
		t.Helper()
		timeout := time.After(5 * time.Second)
		for cmp.Diff(want, r.Addresses(), cmp.Comparer(func(a, b netip.Addr) bool { return a == b })) != "" || r.Pending() {
			select {
			case <-r.Changed():
			case <-timeout:
				t.Fatalf("%s: got %v", what, r.Addresses())
			}
		}
	}
	r.Want([]string{"both.example", "none.example", "six.example"})
	known := map[string][]netip.Addr{"both.example": addresses("10.0.0.1", "10.0.0.2"), "six.example": addresses("fd00::1")}
	until("first answers", known)

	s.set(errors.New("server away"), nil)
	time.Sleep(30 * time.Millisecond) // several look-ups, which all fail
	until("old answers while the server is away", known)

	s.set(nil, map[string][]netip.Addr{"six.example": addresses("fd00::2")})
	until("a change, and a name that ended", map[string][]netip.Addr{"six.example": addresses("fd00::2")})
	r.Want(nil)
	until("nothing is wanted", map[string][]netip.Addr{})
}
