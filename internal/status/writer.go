// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	netv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/client-go/util/workqueue"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
)

const (
	// manager is under what name the API server notes our writes.
	manager = "fairway"
	// parallel writes are in flight at most, and so many a second are begun: a change of the address with ten thousand Ingresses is
	// through in some minutes, and the API server hardly feels it.
	parallel        = 10
	writesPerSecond = 50
	// writePatience is how long one write may take.
	writePatience = 20 * time.Second
	// A write that failed is repeated after retryMin, then ever later.
	retryMin = 200 * time.Millisecond
	retryMax = time.Minute
	// DefaultInterval is how often all Ingresses are looked at without a change, minInterval the least.
	DefaultInterval = time.Minute
	minInterval     = 5 * time.Second
)

// Options of a writer.
type Options struct {
	// Client writes, at a rate that is limited here.
	Client kubernetes.Interface
	// Latest gives the newest known version of an Ingress, or nil.
	Latest func(source.Key) *netv1.Ingress
	// Interval is how often all Ingresses are looked at without a change; zero means DefaultInterval.
	Interval time.Duration
	// Written is told of each try to write.
	Written func(error)
	// Contested is told when an Ingress is given up to somebody else who keeps writing other addresses.
	Contested func(model.Problem)
	Log       *slog.Logger
}

// Writer keeps status.loadBalancer right while Lead runs. Its methods may be called from any goroutine, and only Lead and Clear take time.
type Writer struct {
	options Options
	log     *slog.Logger
	limit   flowcontrol.RateLimiter

	mu        sync.Mutex // guards below
	list      []*netv1.Ingress
	served    map[source.Key]bool // the same as list
	wanted    Addresses
	known     bool                                             // wanted has been set
	queue     workqueue.TypedRateLimitingInterface[source.Key] // nil while not leading
	writes    map[source.Key]*record                           // of Ingresses that were written or given up
	contested int                                              // records given up
	twice     int                                              // records of two overwritten writes and more
}

// New makes a writer that writes nothing yet.
func New(options Options) *Writer {
	if options.Interval == 0 {
		options.Interval = DefaultInterval
	}
	options.Interval = max(options.Interval, minInterval)
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	if options.Written == nil {
		options.Written = func(error) {}
	}
	if options.Contested == nil {
		options.Contested = func(model.Problem) {}
	}
	return &Writer{
		options: options, log: options.Log, limit: flowcontrol.NewTokenBucketRateLimiter(writesPerSecond, writesPerSecond),
		served: map[source.Key]bool{}, writes: map[source.Key]*record{},
	}
}

func keyOf(i *netv1.Ingress) source.Key { return source.Key{Namespace: i.Namespace, Name: i.Name} }

// Serve says which Ingresses are served, in the order of source.Older. One that is no longer served keeps its status: it may be somebody
// else's by now.
func (w *Writer) Serve(list []*netv1.Ingress) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.list
	w.list = list
	source.Diff(before, list, func(old, new *netv1.Ingress) {
		if new == nil {
			delete(w.served, keyOf(old))
			w.forget(keyOf(old))
			return
		}
		w.served[keyOf(new)] = true
		w.forget(keyOf(new)) // who changed it may have settled the contest
		w.enqueue(keyOf(new))
	})
}

// Publish says which addresses the Ingresses are to have.
func (w *Writer) Publish(addresses Addresses) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.known && slices.EqualFunc(w.wanted, addresses, func(x, y netv1.IngressLoadBalancerIngress) bool { return compare(x, y) == 0 }) {
		return
	}
	w.log.Info("addresses for the status of Ingresses", "addresses", addresses.String())
	w.wanted, w.known = addresses, true
	w.forgetAll()
	w.enqueueAll()
}

// Observe says that the status of an Ingress changed, whoever changed it.
func (w *Writer) Observe(key source.Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.enqueue(key)
}

// enqueue puts an Ingress in line if it is to be written; w.mu is held.
func (w *Writer) enqueue(key source.Key) {
	if w.queue != nil && w.differs(key) {
		w.queue.Add(key)
	}
}

func (w *Writer) enqueueAll() {
	for _, i := range w.list {
		w.enqueue(keyOf(i))
	}
}

// differs tells whether an Ingress that is ours to write says something else, as far as is known here; w.mu is held.
func (w *Writer) differs(key source.Key) bool {
	if !w.known || !w.served[key] {
		return false
	}
	latest := w.options.Latest(key)
	if latest == nil || w.wanted.same(latest.Status.LoadBalancer) {
		return false
	}
	r := w.writes[key]
	return !r.gaveUp(time.Now()) || r.maySettle(latest)
}

// Lead writes until ctx ends.
func (w *Writer) Lead(ctx context.Context) {
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[source.Key](retryMin, retryMax))
	w.mu.Lock()
	w.queue = queue
	w.forgetAll()
	w.enqueueAll()
	w.mu.Unlock()
	var running sync.WaitGroup
	for range parallel {
		running.Go(func() { w.work(ctx, queue) })
	}
	tick := time.NewTicker(w.options.Interval)
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-tick.C:
			w.mu.Lock()
			w.settle()
			w.enqueueAll()
			w.mu.Unlock()
		}
	}
	w.mu.Lock()
	w.queue = nil
	w.mu.Unlock()
	queue.ShutDown()
	running.Wait()
}

func (w *Writer) work(ctx context.Context, queue workqueue.TypedRateLimitingInterface[source.Key]) {
	for {
		key, quit := queue.Get()
		if quit {
			return
		}
		err := w.write(ctx, key)
		switch {
		case err == nil || ctx.Err() != nil:
			queue.Forget(key)
		case apierrors.IsConflict(err):
			queue.AddRateLimited(key) // somebody else was quicker
		default:
			w.log.Warn("status is not written", "object", "Ingress "+key.String(), "err", err)
			queue.AddRateLimited(key)
		}
		queue.Done(key)
	}
}

// write brings one Ingress up to date. It reads the object anew: what is in memory lacks parts, and the write must tell a stranger's
// addresses from ours that have not come back yet.
func (w *Writer) write(ctx context.Context, key source.Key) error {
	w.mu.Lock()
	due, wanted := w.differs(key), w.wanted
	w.mu.Unlock()
	if !due || ctx.Err() != nil {
		return nil
	}
	if err := w.limit.Wait(ctx); err != nil {
		return nil // ctx ended
	}
	ctx, cancel := context.WithTimeout(ctx, writePatience)
	defer cancel()
	live, err := w.options.Client.NetworkingV1().Ingresses(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read Ingress %s: %w", key, err)
	}
	if wanted.same(live.Status.LoadBalancer) || w.givesWay(key, wanted, live) {
		return nil
	}
	return w.put(ctx, live, wanted)
}

func (w *Writer) put(ctx context.Context, live *netv1.Ingress, addresses Addresses) error {
	key := keyOf(live)
	live.Status.LoadBalancer.Ingress = addresses
	_, err := w.options.Client.NetworkingV1().Ingresses(key.Namespace).UpdateStatus(ctx, live, metav1.UpdateOptions{FieldManager: manager})
	if apierrors.IsNotFound(err) {
		return nil
	}
	w.options.Written(err)
	if err != nil {
		return fmt.Errorf("write status of Ingress %s: %w", key, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.recordOf(key).wrote = addresses
	w.log.Debug("status written", "object", "Ingress "+key.String(), "addresses", addresses.String())
	return nil
}

// Clear takes our addresses out of all Ingresses that are served; what somebody else wrote stays. It is for the end, when no replica is left to
// serve them.
func (w *Writer) Clear(ctx context.Context) error {
	w.mu.Lock()
	list, wanted := w.list, w.wanted
	known := w.known && len(wanted) > 0
	w.mu.Unlock()
	if !known {
		return nil
	}
	keys := make(chan source.Key)
	var running sync.WaitGroup
	var mu sync.Mutex // guards failed and last
	failed, last := 0, error(nil)
	for range parallel {
		running.Go(func() {
			for key := range keys {
				if err := w.clearOne(ctx, key, wanted); err != nil {
					mu.Lock()
					failed, last = failed+1, err
					mu.Unlock()
				}
			}
		})
	}
	for _, i := range list {
		if latest := w.options.Latest(keyOf(i)); latest != nil && wanted.same(latest.Status.LoadBalancer) {
			keys <- keyOf(i)
		}
	}
	close(keys)
	running.Wait()
	if failed > 0 {
		return fmt.Errorf("%d Ingresses keep their addresses: %w", failed, last)
	}
	return nil
}

func (w *Writer) clearOne(ctx context.Context, key source.Key, wanted Addresses) error {
	if err := w.limit.Wait(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, writePatience)
	defer cancel()
	live, err := w.options.Client.NetworkingV1().Ingresses(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && !wanted.same(live.Status.LoadBalancer) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read Ingress %s: %w", key, err)
	}
	return w.put(ctx, live, nil)
}
