// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package election chooses one of several replicas, by a Lease object. All replicas serve traffic; the leader alone writes what must be
// written once: the status of Ingresses, Events about objects.
//
// A replica that ends hands the Lease back when its work as a leader is done, so the next takes over at once; one that is killed
// is followed within Options.TTL. What the leader does is not here: it is a function that Run is given.
package election

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

const (
	// DefaultTTL is used for a TTL of zero or less, as the predecessor does.
	DefaultTTL = 30 * time.Second
	// minTTL is the shortest: a Lease counts whole seconds.
	minTTL = 2 * time.Second
)

// Options of an election.
type Options struct {
	// Client reads and writes the Lease. It should not share its rate limit with bulk writes.
	Client kubernetes.Interface
	// Namespace and Name are those of the Lease.
	Namespace, Name string
	// Identity tells the replicas apart; the name of the pod.
	Identity string
	// TTL is the time within which another replica leads when the leader is killed.
	TTL time.Duration
	// Changed is told when this replica begins and ceases to lead; nil is nobody.
	Changed func(leading bool)
	Log     *slog.Logger
}

// Election is the candidature of this replica.
type Election struct {
	options Options
	leading atomic.Bool
}

// New prepares a candidature; Run is what competes.
func New(options Options) *Election {
	if options.TTL <= 0 {
		options.TTL = DefaultTTL
	}
	options.TTL = max(options.TTL, minTTL)
	if options.Changed == nil {
		options.Changed = func(bool) {}
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	return &Election{options: options}
}

// Leading tells whether this replica leads.
func (e *Election) Leading() bool { return e.leading.Load() }

// Lead is the work of a leader. The term ends when the Lease is lost; work ends then, and also when this replica is to stop: what is still to be
// done then is done in what is left of the term.
type Lead func(term, work context.Context)

// Run competes until ctx ends. Each time it is elected it calls lead, and it keeps the Lease until lead has returned.
func (e *Election) Run(ctx context.Context, lead Lead) error {
	for ctx.Err() == nil {
		c := &candidate{election: e, lead: lead}
		if err := c.run(ctx); err != nil {
			return err
		}
	}
	return nil
}

// timing gives how long the Lease is good, after which time without an answer the leader gives up, and how often both sides ask. A
// follower sees a renewal one (jittered) retry late, and tries one after the end: 0.6 + 2 × 2.2/15 < 1 of the TTL.
func (e *Election) timing() (lease, deadline, retry time.Duration) {
	ttl := e.options.TTL
	return max(ttl*6/10, time.Second), ttl * 4 / 10, ttl / 15
}

func (e *Election) note(leading bool) {
	e.leading.Store(leading)
	e.options.Changed(leading)
	e.options.Log.Info("leadership", "leader", leading, "lease", e.options.Namespace+"/"+e.options.Name)
}

// candidate is one candidature, until the Lease was had and lost.
type candidate struct {
	election *Election
	lead     Lead

	mu      sync.Mutex // guards below
	elected bool
	over    bool
	done    chan struct{} // closed when lead has returned
}

func (c *candidate) run(ctx context.Context) error {
	o := c.election.options
	lease, deadline, retry := c.election.timing()
	// The elector gives the Lease back when its context ends, so that must not be ctx itself: lead comes first.
	holding, release := context.WithCancel(context.WithoutCancel(ctx))
	defer release()
	c.done = make(chan struct{})
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: o.Name}, Client: o.Client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: o.Identity},
		},
		Name: o.Name, LeaseDuration: lease, RenewDeadline: deadline, RetryPeriod: retry, ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(term context.Context) { c.serve(ctx, term, release) },
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		return fmt.Errorf("elect a leader by Lease %s/%s: %w", o.Namespace, o.Name, err)
	}
	stop := context.AfterFunc(ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.elected {
			release()
		}
	})
	defer stop()
	elector.Run(holding)
	c.mu.Lock()
	c.over = true
	elected := c.elected
	c.mu.Unlock()
	if elected {
		<-c.done
	}
	return nil
}

// serve is a term of office. The elector calls it on a goroutine that may come late.
func (c *candidate) serve(ctx, term context.Context, release func()) {
	c.mu.Lock()
	if c.over {
		c.mu.Unlock()
		return
	}
	c.elected = true
	c.mu.Unlock()
	defer close(c.done)
	defer release()
	work, cancel := context.WithCancel(term)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	c.election.note(true)
	defer c.election.note(false)
	c.lead(term, work)
}
