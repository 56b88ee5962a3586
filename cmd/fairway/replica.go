// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	netv1 "k8s.io/api/networking/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/fairway-ingress/fairway/internal/controller"
	"github.com/fairway-ingress/fairway/internal/election"
	"github.com/fairway-ingress/fairway/internal/events"
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
	"github.com/fairway-ingress/fairway/internal/source/kube"
	"github.com/fairway-ingress/fairway/internal/status"
)

// replica is this process as one of several: whether it leads, and what it does then. With manifests, where nobody else can be, there is none.
type replica struct {
	flags    *leaderFlags
	log      *slog.Logger
	pod      podName
	election *election.Election // nil without one
	status   *status.Writer     // nil where no addresses are written
	// resources writes the status of custom resources; nil where there are none.
	resources dynamic.Interface
	// programmer writes the conditions of custom resources; nil where there are none.
	programmer *status.Programmer
	events     *events.Reporter
	siblings   status.Replicas
	published  *corev1.Service // owned by the loop's goroutine

	cancel  context.CancelFunc
	running sync.WaitGroup
}

// podName is who we are, by the downward API; the fields are empty outside of a pod.
type podName struct{ namespace, name string }

func ownPod() podName { return podName{os.Getenv("POD_NAMESPACE"), os.Getenv("POD_NAME")} }

func (p podName) known() bool { return p.namespace != "" && p.name != "" }

// newReplica prepares what Run runs and hooks it up with the loop, before either is run.
func newReplica(ctx context.Context, f *controllerFlags, loop *controller.Loop, log *slog.Logger) (*replica, error) {
	objects, ok := loop.Source.(*kube.Source)
	if !ok {
		return nil, nil
	}
	r := &replica{flags: &f.leaderFlags, log: log, pod: ownPod()}
	if f.apiFlags.kong != nil {
		r.resources = f.apiFlags.kong.Client
	}
	config, err := f.config()
	if err != nil {
		return nil, err
	}
	if err := r.elect(config, loop); err != nil {
		return nil, err
	}
	echoes, err := client(config, 100)
	if err != nil {
		return nil, err
	}
	r.tellEvents(ctx, f, echoes, loop, objects)
	r.keepStatus(echoes, loop, objects)
	return r, nil
}

// client makes one with a rate limit of its own, so that bulk writes can't keep a renewal of the Lease waiting.
func client(config *rest.Config, perSecond float32) (kubernetes.Interface, error) {
	own := rest.CopyConfig(config)
	own.QPS, own.Burst = perSecond, int(2*perSecond)
	c, err := kubernetes.NewForConfig(own)
	if err != nil {
		return nil, fmt.Errorf("reach the API server: %w", err)
	}
	return c, nil
}

func (r *replica) elect(config *rest.Config, loop *controller.Loop) error {
	switch {
	case r.flags.noElection:
		r.log.Info("no leader is elected, so this replica writes no status of Ingresses", "flag", "--disable-leader-election")
		return nil
	case !r.pod.known():
		r.log.Warn("POD_NAME and POD_NAMESPACE are not set, so this replica can't be elected and writes no status of Ingresses; set them by the downward API")
		return nil
	}
	leases, err := client(config, 10)
	if err != nil {
		return err
	}
	r.election = election.New(election.Options{
		Client: leases, Namespace: r.pod.namespace, Name: r.flags.electionID, Identity: r.pod.name, TTL: r.flags.electionTTL, Log: r.log,
		Changed: loop.Metrics.Leadership(r.flags.electionID),
	})
	return nil
}

// keepStatus makes the status follow what the loop serves.
func (r *replica) keepStatus(client kubernetes.Interface, loop *controller.Loop, objects *kube.Source) {
	if r.election == nil || !r.flags.updateStatus {
		return
	}
	var count func(error)
	r.status = status.New(status.Options{
		Client: client, Resources: r.resources, Interval: time.Duration(r.flags.statusSeconds) * time.Second, Log: r.log,
		Latest: func(ref model.Ref) *netv1.IngressLoadBalancerStatus {
			return objects.LatestStatus(ref.Kind, source.Key{Namespace: ref.Namespace, Name: ref.Name})
		},
		Written: func(err error) { count(err) }, Contested: r.events.Contested,
	})
	count = loop.Metrics.StatusWrites(r.status.Contests)
	r.siblings = status.Replicas{Client: client, Namespace: r.pod.namespace, Name: r.pod.name}
	objects.OnStatus(func(kind string, key source.Key) {
		r.status.Observe(model.Ref{Kind: kind, Namespace: key.Namespace, Name: key.Name})
	})
	if r.flags.publishAddress != "" {
		r.status.Publish(status.Parse(r.flags.publishAddress))
	}
	loop.Echoes = append(loop.Echoes, r.serve)
}

// tellEvents makes Events tell what comes of the loop's rounds. Without an election each replica speaks for itself.
func (r *replica) tellEvents(ctx context.Context, f *controllerFlags, client kubernetes.Interface, loop *controller.Loop, objects *kube.Source) {
	options := events.Options{
		Client: client, Pod: ownReference(ctx, client, r.pod, r.log), Quiet: r.flags.noSyncEvents, Refer: referTo(loop, objects),
		Speaks: func() bool { return r.election == nil || r.election.Leading() },
	}
	if f.kong.chosen() {
		options.Component, options.Reason = kongComponent, kongReason
	}
	r.events = events.New(options)
	loop.Echoes = append(loop.Echoes, (&teller{reporter: r.events, settings: f.configMap.Key}).tell)
}

// serve tells the status writer of a round.
func (r *replica) serve(s *controller.State) {
	if s.InForce == nil {
		return
	}
	if key := r.flags.publishService.Key; key.Name != "" {
		if service := s.Snapshot.Services[key]; service != nil && service != r.published {
			r.published = service
			r.status.Publish(status.OfService(service))
		}
	}
	r.status.Serve(s.InForce.Accepted)
}

// start runs the replica until stop is called.
func (r *replica) start(ctx context.Context) {
	if r == nil {
		return
	}
	// What ends it is stop alone: the status is taken back while the loop is ending already.
	ctx, r.cancel = context.WithCancel(context.WithoutCancel(ctx))
	r.running.Go(func() { r.events.Run(ctx) })
	if r.election == nil {
		return
	}
	r.running.Go(func() {
		if err := r.election.Run(ctx, r.lead); err != nil {
			r.log.Error("no leader is elected, so nobody writes the status of Ingresses", "err", err)
		}
	})
}

// stop ends the leader's work and hands the Lease to another replica.
func (r *replica) stop() {
	if r == nil || r.cancel == nil {
		return
	}
	r.cancel()
	r.running.Wait()
}

// lead is what the leader does.
func (r *replica) lead(term, work context.Context) {
	if r.status == nil {
		r.program(work)
		return
	}
	conditions := make(chan struct{})
	go func() { defer close(conditions); r.program(work) }()
	defer func() { <-conditions }()
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.followNodes(work)
	}()
	r.status.Lead(work)
	<-done
	if term.Err() == nil && r.flags.clearStatus {
		r.clearStatus(term)
	}
}

// followNodes publishes the addresses of nodes unless flags say what to publish.
func (r *replica) followNodes(ctx context.Context) {
	if r.flags.publishAddress != "" || r.flags.publishService.Name != "" {
		return
	}
	nodes := status.Nodes{Replicas: r.siblings, Internal: r.flags.internalAddress, Interval: time.Duration(r.flags.statusSeconds) * time.Second}
	nodes.Run(ctx, r.status.Publish, func(err error) {
		r.log.Warn("addresses of nodes are not known, so the status of Ingresses stays as it is", "err", err)
	})
}

// clearPatience is how long the end may be held up by taking addresses out, and by asking whether to.
const clearPatience = time.Minute

// clearStatus takes the addresses out unless another replica serves them.
func (r *replica) clearStatus(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, clearPatience)
	defer cancel()
	others, err := r.siblings.Others(ctx)
	switch {
	case err != nil:
		r.log.Warn("status of Ingresses stays, because other replicas can't be counted", "err", err)
	case others:
		r.log.Info("status of Ingresses stays, because another replica runs")
	default:
		r.log.Info("status of Ingresses is taken out, because the last replica stops")
		if err := r.status.Clear(ctx); err != nil {
			r.log.Warn("status of Ingresses is not taken out", "err", err)
		}
	}
}
