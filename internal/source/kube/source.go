// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	netv1 "k8s.io/api/networking/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/fairway-ingress/fairway/internal/source"
)

// Options of a source.
type Options struct {
	// Client reads from the API server; its configuration should be wrapped by Patience.
	Client kubernetes.Interface
	// Log gets the coming and going of the API server; nil is silent.
	Log *slog.Logger
	// Namespace limits Ingresses, Services, EndpointSlices, Secrets and ConfigMaps to one; empty means all.
	Namespace string
	// Namespaces asks for the Namespace objects, which a selector by label needs.
	Namespaces bool
	// SecretNamespaces, when not empty, are the only ones whose Secrets are watched, and SecretSelector, when not nil, is what labels of a Secret
	// must match. Secrets that flags name are watched in any case.
	SecretNamespaces []string
	SecretSelector   labels.Selector
	// Resync makes the informers give all objects again now and then; 0 never.
	Resync time.Duration
	// References names the Secrets and ConfigMaps that an Ingress needs; nil means none.
	References func(*netv1.Ingress) (secrets, configMaps []source.Key)
	// Secrets, ConfigMaps and Services that flags name, also outside of Namespace.
	Secrets, ConfigMaps, Services []source.Key
	// ConfigMapReferences names the Secrets and ConfigMaps that a ConfigMap needs; nil means none.
	ConfigMapReferences func(*corev1.ConfigMap) (secrets, configMaps []source.Key)
	// Kong asks for the custom resources of Kong; nil for none.
	Kong *KongOptions
}

// Source makes snapshots from an API server. Snapshot may be called from any goroutine.
type Source struct {
	options Options
	log     *slog.Logger
	changed chan struct{}
	synced  chan struct{} // closed when the first snapshot is complete

	statusChanged func(kind string, key source.Key) // nil for nobody
	latest        latestObjects

	ingresses        ingressList
	classes          classTable
	services         table[source.Key, *corev1.Service]
	slices           sliceTable
	secrets          table[source.Key, *corev1.Secret]
	configMaps       table[source.Key, *corev1.ConfigMap]
	namespaces       table[string, *corev1.Namespace]
	kong             kongTables
	follow           []func(old, new *netv1.Ingress) // are told of each change of an Ingress
	secretsWanted    *wanted
	configMapsWanted *wanted
	missing          workqueue.TypedRateLimitingInterface[request]
}

// New gives a source that Run will fill.
func New(options Options) *Source {
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	if options.ConfigMapReferences == nil {
		options.ConfigMapReferences = func(*corev1.ConfigMap) (_, _ []source.Key) { return nil, nil }
	}
	if options.References == nil {
		options.References = func(*netv1.Ingress) (_, _ []source.Key) { return nil, nil }
	}
	return &Source{
		options: options, log: options.Log, changed: make(chan struct{}, 1), synced: make(chan struct{}),
		secretsWanted: newWanted(options.Secrets), configMapsWanted: newWanted(options.ConfigMaps),
		missing: workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[request](50*time.Millisecond, 30*time.Second)),
	}
}

// Snapshot gives the objects as they are now; before Synced it may lack some.
func (s *Source) Snapshot() *source.Snapshot {
	return &source.Snapshot{
		Kong:      s.kongSnapshot(),
		Ingresses: s.ingresses.snapshot(), IngressClasses: s.classes.snapshot(), Services: s.services.snapshot(),
		EndpointSlices: s.slices.snapshot(), Secrets: s.secrets.snapshot(), ConfigMaps: s.configMaps.snapshot(), Namespaces: s.namespaces.snapshot(),
	}
}

// Frame gives what Snapshot does, but of the Ingresses, Services, EndpointSlices and Secrets nothing, and of the ConfigMaps only those that flags name. It
// costs little also right after other objects have changed.
func (s *Source) Frame() *source.Snapshot {
	frame := &source.Snapshot{IngressClasses: s.classes.snapshot(), Namespaces: s.namespaces.snapshot(), ConfigMaps: map[source.Key]*corev1.ConfigMap{}}
	for _, key := range s.options.ConfigMaps {
		if object, found := s.configMaps.get(key); found {
			frame.ConfigMaps[key] = object
		}
	}
	return frame
}

// FollowIngresses has put called with what was and what is for each change of an Ingress, from one goroutine; either is nil. Neither may be modified. It
// is to be called before Run.
func (s *Source) FollowIngresses(put func(old, new *netv1.Ingress)) { s.follow = append(s.follow, put) }

// Changed sends a value after something changed; several changes may be one value. Nothing is sent before Synced.
func (s *Source) Changed() <-chan struct{} { return s.changed }

// Synced is closed when everything that the API server held at the start is in the snapshot.
func (s *Source) Synced() <-chan struct{} { return s.synced }

func (s *Source) notify() {
	select {
	case <-s.synced:
	default:
		return
	}
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// Run watches until ctx ends. It returns an error only when the account may not read what it needs.
func (s *Source) Run(ctx context.Context) error {
	var running sync.WaitGroup
	defer running.Wait()
	defer s.missing.ShutDown()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for range 8 {
		running.Go(func() { s.fetchMissing(ctx) })
	}
	start := func(watches []watch) bool {
		var synced []cache.InformerSynced
		for _, w := range watches {
			synced = append(synced, w.handled)
			running.Go(func() { w.informer.RunWithContext(ctx) })
		}
		return cache.WaitForCacheSync(ctx.Done(), synced...)
	}
	first, second, err := s.informers(ctx)
	if err != nil {
		return err
	}
	// The Ingresses say which Secrets to keep, so they come first.
	if !start(first) || !s.startKong(ctx, &running) || !start(second) {
		return nil // ctx ended
	}
	close(s.synced)
	s.notify()
	running.Go(func() { s.awaitClasses(ctx, &running) })
	<-ctx.Done()
	return nil
}

// watch is an informer, and what tells that its handler has seen everything that the API server held at the start.
type watch struct {
	informer cache.SharedIndexInformer
	handled  cache.InformerSynced
}

// informers gives those to run first and those to run when they are synced.
func (s *Source) informers(ctx context.Context) (first, second []watch, err error) {
	all := informers.NewSharedInformerFactory(s.options.Client, s.options.Resync)
	scoped := informers.NewSharedInformerFactoryWithOptions(s.options.Client, s.options.Resync, informers.WithNamespace(s.options.Namespace))

	if allowed, err := s.mayListClasses(ctx); err != nil {
		return nil, nil, err
	} else if allowed {
		first = append(first, s.classWatch(all))
		s.classes.publish()
	}
	if s.options.Namespaces {
		first = append(first, add(s, all.Core().V1().Namespaces().Informer(), slim, sameLabels, func(old, new *corev1.Namespace) {
			putCluster(&s.namespaces, old, new)
			s.notify()
		}))
	}
	ingresses := scoped.Networking().V1().Ingresses().Informer()
	s.followStatus(ingressKind, ingresses)
	first = append(first,
		add(s, ingresses, slim, sameIngress, s.putIngress),
		add(s, scoped.Core().V1().Services().Informer(), slim, sameService, s.putService),
		add(s, scoped.Discovery().V1().EndpointSlices().Informer(), slim, sameSlice, func(old, new *discoveryv1.EndpointSlice) {
			s.slices.replace(old, new)
			s.notify()
		}),
	)
	second = append(s.secretWatches(), add(s, scoped.Core().V1().ConfigMaps().Informer(), s.keepConfigMap, sameConfigMap, s.putConfigMap))
	return first, append(second, s.outside()...), nil
}

// single makes informers that watch one object.
func (s *Source) single(key source.Key) informers.SharedInformerFactory {
	return informers.NewSharedInformerFactoryWithOptions(s.options.Client, s.options.Resync, informers.WithNamespace(key.Namespace),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) {
			o.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, key.Name).String()
		}))
}

// outside gives an informer for each ConfigMap and Service that a flag names outside of the one watched namespace.
func (s *Source) outside() []watch {
	if s.options.Namespace == "" {
		return nil
	}
	var list []watch
	for _, key := range s.options.ConfigMaps {
		if key.Namespace != s.options.Namespace {
			list = append(list, add(s, s.single(key).Core().V1().ConfigMaps().Informer(), s.keepConfigMap, sameConfigMap, s.putConfigMap))
		}
	}
	for _, key := range s.options.Services {
		if key.Namespace != s.options.Namespace {
			list = append(list, add(s, s.single(key).Core().V1().Services().Informer(), slim, sameService, s.putService))
		}
	}
	return list
}

func (s *Source) putService(old, new *corev1.Service) {
	if s.options.Kong != nil {
		s.refer(referencesOf(s.options.Kong, old), referencesOf(s.options.Kong, new))
	}
	if new == nil {
		s.services.remove(keyOf(old))
	} else {
		s.services.set(keyOf(new), new)
	}
	s.notify()
}

// putIngress also notes which Secrets and ConfigMaps are named now, and fetches those that were stripped.
func (s *Source) putIngress(old, new *netv1.Ingress) {
	s.ingresses.replace(old, new)
	for _, put := range s.follow {
		put(old, new)
	}
	var before, after [2][]source.Key
	if old != nil {
		before[0], before[1] = s.options.References(old)
	}
	if new != nil {
		after[0], after[1] = s.options.References(new)
	}
	s.secretsWanted.change(before[0], after[0])
	s.configMapsWanted.change(before[1], after[1])
	waiting := false
	select {
	case <-s.synced:
		for _, key := range after[0] {
			if _, found := s.secrets.get(key); !found {
				s.fetch(fetchSecret, key)
				waiting = true
			}
		}
		for _, key := range after[1] {
			if _, found := s.configMaps.get(key); !found {
				s.fetch(fetchConfigMap, key)
				waiting = true
			}
		}
	default: // Secrets are read later and kept
	}
	if !waiting {
		s.notify()
		return
	}
	// Fetching says when it is done; where there is nothing to fetch, nobody would.
	time.AfterFunc(20*time.Millisecond, s.notify)
}

func gone(err error) bool { return apierrors.IsNotFound(err) }

// add prepares an informer.
func add[T any](s *Source, informer cache.SharedIndexInformer, transform cache.TransformFunc, same func(old, new *T) bool, put func(old, new *T)) watch {
	h := &handler[T]{same: same, put: put, held: map[string]*T{}}
	// Errors of these calls say that the informer is running already, which it is not.
	_ = informer.SetTransform(transform)
	_ = informer.SetWatchErrorHandlerWithContext(func(_ context.Context, r *cache.Reflector, err error) { s.watchFailed(r.Name(), err) })
	registration, err := informer.AddEventHandler(h)
	if err != nil {
		panic(fmt.Sprintf("watch %T: %v", *new(T), err)) // a stopped informer; ours is new
	}
	return watch{informer, registration.HasSynced}
}

func (s *Source) watchFailed(name string, err error) {
	if errors.Is(err, context.Canceled) || apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		return // routine: the watch starts anew
	}
	s.log.Warn("watch failed and is repeated; the last known state stays in force", "watch", name, "err", err)
}

// slim drops what nobody reads before an object is stored.
func slim(obj any) (any, error) {
	if o, ok := obj.(metav1.Object); ok {
		o.SetManagedFields(nil)
		if annotations := o.GetAnnotations(); annotations != nil {
			delete(annotations, corev1.LastAppliedConfigAnnotation)
		}
	}
	return obj, nil
}

// putCluster keeps an object that is in no namespace.
func putCluster[T any](t *table[string, *T], old, new *T) {
	if new == nil {
		t.remove(any(old).(metav1.Object).GetName())
	} else {
		t.set(any(new).(metav1.Object).GetName(), new)
	}
}

func sameIngress(old, new *netv1.Ingress) bool {
	return old.UID == new.UID && maps.Equal(old.Annotations, new.Annotations) && maps.Equal(old.Labels, new.Labels) &&
		old.CreationTimestamp.Equal(&new.CreationTimestamp) && apiequality.Semantic.DeepEqual(old.Spec, new.Spec)
}

func sameClass(old, new *netv1.IngressClass) bool {
	return maps.Equal(old.Annotations, new.Annotations) && reflect.DeepEqual(old.Spec, new.Spec)
}

func sameLabels(old, new *corev1.Namespace) bool { return maps.Equal(old.Labels, new.Labels) }

func sameService(old, new *corev1.Service) bool {
	return maps.Equal(old.Annotations, new.Annotations) && apiequality.Semantic.DeepEqual(old.Spec, new.Spec) &&
		apiequality.Semantic.DeepEqual(old.Status, new.Status)
}

func sameSlice(old, new *discoveryv1.EndpointSlice) bool {
	// Of their annotations, one says when the slice was changed last; that changes nothing.
	return serviceOf(old) == serviceOf(new) && old.AddressType == new.AddressType &&
		old.Annotations[source.WeightAnnotation] == new.Annotations[source.WeightAnnotation] &&
		apiequality.Semantic.DeepEqual(old.Ports, new.Ports) && apiequality.Semantic.DeepEqual(old.Endpoints, new.Endpoints)
}

func sameSecret(old, new *corev1.Secret) bool {
	return isStripped(old) == isStripped(new) && old.Type == new.Type && old.ResourceVersion == new.ResourceVersion
}

func sameConfigMap(old, new *corev1.ConfigMap) bool {
	return isStripped(old) == isStripped(new) && old.ResourceVersion == new.ResourceVersion
}
