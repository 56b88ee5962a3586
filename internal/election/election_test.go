// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package election

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// replica is a candidate on a shared fake API.
type replica struct {
	*Election
	stop   func() // and wait
	killed chan struct{}
}

// start makes a candidate whose client is its own, so that it can be cut off.
func start(t *testing.T, api *fake.Clientset, name string, lead Lead) *replica {
	r := &replica{killed: make(chan struct{})}
	own := fake.NewClientset()
	own.PrependReactor("*", "leases", func(action clienttesting.Action) (bool, runtime.Object, error) {
		select {
		case <-r.killed:
			return true, nil, errors.New("no route to the API server")
		default:
		}
		object, err := api.Invokes(action, nil)
		return true, object, err
	})
	r.Election = New(Options{Client: own, Namespace: "fairway", Name: "leader", Identity: name, TTL: DefaultTTL})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := r.Run(ctx, lead); err != nil {
			t.Error(err)
		}
	}()
	r.stop = func() { cancel(); <-ended }
	return r
}

func idle(_, work context.Context) { <-work.Done() }

func TestOneLeads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := fake.NewClientset()
		a := start(t, api, "a", idle)
		synctest.Wait()
		b := start(t, api, "b", idle)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if !a.Leading() || b.Leading() {
			t.Errorf("a leads: %v, b leads: %v", a.Leading(), b.Leading())
		}
		a.stop()
		b.stop()
	})
}

// A leader that ends first finishes its work, and its successor need not wait for the Lease to run out.
func TestHandsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := fake.NewClientset()
		var b *replica
		a := start(t, api, "a", func(term, work context.Context) {
			<-work.Done()
			time.Sleep(time.Minute) // far longer than the Lease
			if term.Err() != nil {
				t.Error("the Lease was lost while the work was finished")
			}
			if b.Leading() {
				t.Error("two lead")
			}
		})
		synctest.Wait()
		b = start(t, api, "b", idle)
		time.Sleep(time.Minute)
		a.stop()
		begin := time.Now()
		for !b.Leading() {
			time.Sleep(time.Millisecond)
		}
		if took := time.Since(begin); took > DefaultTTL/4 {
			t.Errorf("the successor took %s", took)
		}
		b.stop()
	})
}

// The promise of --election-ttl, whenever the leader dies. The old leader knows by itself before there is another.
func TestFollowsWithinTheTTL(t *testing.T) {
	for range 30 {
		synctest.Test(t, func(t *testing.T) {
			api := fake.NewClientset()
			a := start(t, api, "a", idle)
			synctest.Wait()
			b := start(t, api, "b", idle)
			time.Sleep(time.Minute + rand.N(10*time.Second))
			close(a.killed)
			begin := time.Now()
			for !b.Leading() {
				time.Sleep(10 * time.Millisecond)
			}
			if took := time.Since(begin); took > DefaultTTL {
				t.Errorf("the successor took %s of %s", took, DefaultTTL)
			}
			if a.Leading() {
				t.Error("two lead")
			}
			a.stop()
			b.stop()
		})
	}
}

func TestStopsWithoutEverLeading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, fake.NewClientset(), "a", func(_, _ context.Context) { t.Error("it leads") })
		close(r.killed)
		time.Sleep(time.Minute)
		r.stop()
	})
}

func TestTimes(t *testing.T) {
	for _, ttl := range []time.Duration{0, time.Millisecond, 2 * time.Second, 5 * time.Second, 30 * time.Second, time.Hour} {
		e := New(Options{TTL: ttl})
		lease, deadline, retry := e.timing()
		if lease <= deadline || deadline <= retry*12/10 || lease < time.Second || lease > e.options.TTL {
			t.Errorf("%s: lease %s, deadline %s, retry %s", ttl, lease, deadline, retry)
		}
	}
}
