// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package dns looks up the names of ExternalName Services. In go names, out come addresses for source.Snapshot.Addresses: what the system's
// resolver says, with its search list, IPv4 if there is any, else IPv6. Names are looked up again and again, and a change is
// announced. While a server fails to answer, the last answer stays for a while; a name that does not exist is dropped at once.
package dns

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"
)

const (
	lookupTimeout = 5 * time.Second
	parallel      = 16
	// staleFor is how long an answer outlives the server that gave it.
	staleFor = 5 * time.Minute
)

// Options of a Resolver.
type Options struct {
	Log *slog.Logger
	// Lookup gives the addresses of a name; nil is the system's resolver.
	Lookup func(ctx context.Context, name string) ([]netip.Addr, error)
	// Interval between two look-ups of a name; 0 means 5 s.
	Interval time.Duration
}

// Resolver follows the addresses of names. Its methods may be called from any goroutine.
type Resolver struct {
	options Options
	changed chan struct{}
	wake    chan struct{}

	mu       sync.Mutex // guards below
	names    []string
	answered map[string]time.Time // when a name was answered last
	given    map[string][]netip.Addr
}

// New gives a resolver that knows no names.
func New(options Options) *Resolver {
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	if options.Lookup == nil {
		options.Lookup = func(ctx context.Context, name string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", name)
		}
	}
	if options.Interval == 0 {
		options.Interval = 5 * time.Second
	}
	return &Resolver{
		options: options, changed: make(chan struct{}, 1), wake: make(chan struct{}, 1),
		answered: map[string]time.Time{}, given: map[string][]netip.Addr{},
	}
}

// Want says which names are to be followed from now on, sorted. New ones are looked up at once.
func (r *Resolver) Want(names []string) {
	r.mu.Lock()
	same := slices.Equal(names, r.names)
	r.names = names
	r.mu.Unlock()
	if !same {
		signal(r.wake)
	}
}

// Addresses gives what is known, by name; the map must not be modified. Names that do not resolve are missing.
func (r *Resolver) Addresses() map[string][]netip.Addr {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.given
}

// Pending tells whether a wanted name has not been looked up yet.
func (r *Resolver) Pending() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.names, func(name string) bool { return r.answered[name].IsZero() })
}

// Changed sends a value after Addresses changed or the last pending name was looked up.
func (r *Resolver) Changed() <-chan struct{} { return r.changed }

// Run looks up until ctx ends.
func (r *Resolver) Run(ctx context.Context) error {
	ticker := time.NewTicker(r.options.Interval)
	defer ticker.Stop()
	for {
		r.lookUpAll(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-r.wake:
		case <-ticker.C:
		}
	}
}

func (r *Resolver) lookUpAll(ctx context.Context) {
	r.mu.Lock()
	names, old := r.names, r.given
	r.mu.Unlock()
	wasPending := r.Pending()
	var mu sync.Mutex // guards found and times
	found, times := map[string][]netip.Addr{}, map[string]time.Time{}
	var running sync.WaitGroup
	slots := make(chan struct{}, parallel)
	for _, name := range names {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			addresses, at := r.lookUp(ctx, name, old[name])
			mu.Lock()
			defer mu.Unlock()
			times[name] = at
			if len(addresses) > 0 {
				found[name] = addresses
			}
		})
	}
	running.Wait()
	if ctx.Err() != nil {
		return
	}
	changed := !maps.EqualFunc(found, old, slices.Equal)
	r.mu.Lock()
	r.answered = times
	if changed {
		r.given = found
	}
	r.mu.Unlock()
	if changed || wasPending {
		signal(r.changed)
	}
}

// lookUp gives the addresses of a name and when they were answered; a server that fails leaves the old ones for a while.
func (r *Resolver) lookUp(ctx context.Context, name string, old []netip.Addr) ([]netip.Addr, time.Time) {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	now := time.Now()
	addresses, err := r.options.Lookup(ctx, name)
	if err == nil {
		return prefer4(addresses), now
	}
	var dnsError *net.DNSError
	if errors.As(err, &dnsError) && dnsError.IsNotFound {
		return nil, now
	}
	r.mu.Lock()
	last := r.answered[name]
	r.mu.Unlock()
	if last.IsZero() || now.Sub(last) > staleFor {
		r.options.Log.Warn("name does not resolve", "host", name, "err", err)
		return nil, now
	}
	return old, last
}

// prefer4 gives the IPv4 addresses, or the IPv6 ones if there are none; sorted and unique.
func prefer4(addresses []netip.Addr) []netip.Addr {
	var four, six []netip.Addr
	for _, a := range addresses {
		if a = a.Unmap(); a.Is4() {
			four = append(four, a)
		} else {
			six = append(six, a)
		}
	}
	if four == nil {
		four = six
	}
	slices.SortFunc(four, netip.Addr.Compare)
	return slices.Compact(four)
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
