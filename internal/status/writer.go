// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"time"

	netv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
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
	// Client writes, at a rate that is limited here, and Resources writes custom resources; nil where there are none.
	Client    kubernetes.Interface
	Resources dynamic.Interface
	// Latest gives what the newest known version of an object says, or nil where there is none.
	Latest func(model.Ref) *netv1.IngressLoadBalancerStatus
	// Interval is how often all objects are looked at without a change; zero means DefaultInterval.
	Interval time.Duration
	// Written is told of each try to write.
	Written func(error)
	// Contested is told when an object is given up to somebody else who keeps writing other addresses.
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
	resources map[model.Ref]metav1.Object
	served    map[model.Ref]bool // the same as list and resources
	wanted    Addresses
	known     bool                                            // wanted has been set
	queue     workqueue.TypedRateLimitingInterface[model.Ref] // nil while not leading
	writes    map[model.Ref]*record                           // of objects that were written or given up
	contested int                                             // records given up
	twice     int                                             // records of two overwritten writes and more
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
		served: map[model.Ref]bool{}, writes: map[model.Ref]*record{},
	}
}

func refOf(i *netv1.Ingress) model.Ref {
	return model.Ref{Kind: "Ingress", Namespace: i.Namespace, Name: i.Name}
}

// Serve says which Ingresses are served, in the order of source.Older. One that is no longer served keeps its status: it may be somebody
// else's by now.
func (w *Writer) Serve(list []*netv1.Ingress) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.list
	w.list = list
	source.Diff(before, list, func(old, new *netv1.Ingress) {
		if new == nil {
			w.drop(refOf(old))
			return
		}
		w.serve(refOf(new))
	})
}

// ServeResources says which custom resources are served, as Serve does for Ingresses. The map is not modified afterwards.
func (w *Writer) ServeResources(resources map[model.Ref]metav1.Object) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.resources
	w.resources = resources
	for ref := range before {
		if resources[ref] == nil {
			w.drop(ref)
		}
	}
	for ref, object := range resources {
		if before[ref] != object {
			w.serve(ref)
		}
	}
}

// drop is to be called with w.mu held.
func (w *Writer) drop(ref model.Ref) {
	delete(w.served, ref)
	w.forget(ref)
}

// serve is to be called with w.mu held.
func (w *Writer) serve(ref model.Ref) {
	w.served[ref] = true
	w.forget(ref) // who changed it may have settled the contest
	w.enqueue(ref)
}

// Publish says which addresses the objects are to have.
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

// Observe says that the status of an object changed, whoever changed it.
func (w *Writer) Observe(ref model.Ref) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.enqueue(ref)
}

// enqueue puts an object in line if it is to be written; w.mu is held.
func (w *Writer) enqueue(ref model.Ref) {
	if w.queue != nil && w.differs(ref) {
		w.queue.Add(ref)
	}
}

func (w *Writer) enqueueAll() {
	for ref := range w.all() {
		w.enqueue(ref)
	}
}

// all gives what is served, Ingresses by age; w.mu is held.
func (w *Writer) all() iter.Seq[model.Ref] {
	return func(yield func(model.Ref) bool) {
		for _, i := range w.list {
			if !yield(refOf(i)) {
				return
			}
		}
		for ref := range w.resources {
			if !yield(ref) {
				return
			}
		}
	}
}

// differs tells whether an object that is ours to write says something else, as far as is known here; w.mu is held.
func (w *Writer) differs(ref model.Ref) bool {
	if !w.known || !w.served[ref] {
		return false
	}
	latest := w.options.Latest(ref)
	if latest == nil || w.wanted.same(*latest) {
		return false
	}
	r := w.writes[ref]
	return !r.gaveUp(time.Now()) || r.maySettle(latest)
}

// Lead writes until ctx ends.
func (w *Writer) Lead(ctx context.Context) {
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[model.Ref](retryMin, retryMax))
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

func (w *Writer) work(ctx context.Context, queue workqueue.TypedRateLimitingInterface[model.Ref]) {
	for {
		ref, quit := queue.Get()
		if quit {
			return
		}
		err := w.write(ctx, ref)
		switch {
		case err == nil || ctx.Err() != nil:
			queue.Forget(ref)
		case apierrors.IsConflict(err):
			queue.AddRateLimited(ref) // somebody else was quicker
		default:
			w.log.Warn("status is not written", "object", ref.String(), "err", err)
			queue.AddRateLimited(ref)
		}
		queue.Done(ref)
	}
}

// write brings one object up to date. It reads the object anew: what is in memory lacks parts, and the write must tell a stranger's
// addresses from ours that have not come back yet.
func (w *Writer) write(ctx context.Context, ref model.Ref) error {
	w.mu.Lock()
	due, wanted := w.differs(ref), w.wanted
	w.mu.Unlock()
	if !due || ctx.Err() != nil {
		return nil
	}
	if err := w.limit.Wait(ctx); err != nil {
		return nil // ctx ended
	}
	ctx, cancel := context.WithTimeout(ctx, writePatience)
	defer cancel()
	live, err := w.read(ctx, ref)
	if live == nil || err != nil || wanted.same(live.says) || w.givesWay(ref, wanted, live) {
		return err
	}
	return w.put(ctx, ref, live, wanted)
}

func (w *Writer) put(ctx context.Context, ref model.Ref, live *live, addresses Addresses) error {
	err := live.put(ctx, addresses)
	if apierrors.IsNotFound(err) {
		return nil
	}
	w.options.Written(err)
	if err != nil {
		return fmt.Errorf("write status of %s: %w", ref, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.recordOf(ref).wrote = addresses
	w.log.Debug("status written", "object", ref.String(), "addresses", addresses.String())
	return nil
}

// Clear takes our addresses out of all that is served; what somebody else wrote stays. It is for the end, when no replica is left to
// serve it.
func (w *Writer) Clear(ctx context.Context) error {
	w.mu.Lock()
	list, wanted := slices.Collect(w.all()), w.wanted
	known := w.known && len(wanted) > 0
	w.mu.Unlock()
	if !known {
		return nil
	}
	refs := make(chan model.Ref)
	var running sync.WaitGroup
	var mu sync.Mutex // guards failed and last
	failed, last := 0, error(nil)
	for range parallel {
		running.Go(func() {
			for ref := range refs {
				if err := w.clearOne(ctx, ref, wanted); err != nil {
					mu.Lock()
					failed, last = failed+1, err
					mu.Unlock()
				}
			}
		})
	}
	for _, ref := range list {
		if latest := w.options.Latest(ref); latest != nil && wanted.same(*latest) {
			refs <- ref
		}
	}
	close(refs)
	running.Wait()
	if failed > 0 {
		return fmt.Errorf("%d objects keep their addresses: %w", failed, last)
	}
	return nil
}

func (w *Writer) clearOne(ctx context.Context, ref model.Ref, wanted Addresses) error {
	if err := w.limit.Wait(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, writePatience)
	defer cancel()
	live, err := w.read(ctx, ref)
	if live == nil || err != nil || !wanted.same(live.says) {
		return err
	}
	return w.put(ctx, ref, live, nil)
}
