// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"log/slog"
	"maps"
	"slices"

	netv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-ingress/fairway/internal/admission"
	"github.com/fairway-ingress/fairway/internal/controller"
	"github.com/fairway-ingress/fairway/internal/kong"
	"github.com/fairway-ingress/fairway/internal/konghq"
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
	"github.com/fairway-ingress/fairway/internal/source/kongapi"
	"github.com/fairway-ingress/fairway/internal/source/kube"
	"github.com/fairway-ingress/fairway/internal/status"
)

// judgeKong has the webhook judge custom resources too, and plugins by the gateways' own schemas.
func (f *controllerFlags) judgeKong(meaning *konghq.Options, objects controller.Source, driver *kong.Driver) {
	if watched, ok := objects.(*kube.Source); ok {
		f.webhook.kong = &admission.Kong{Options: *meaning, Snapshot: watched.Snapshot, Schema: driver.Judge, OpenSource: driver.OpenSource}
	}
}

// tellKong has the leader write the status of custom resources.
func (f *controllerFlags) tellKong(meaning *konghq.Options, loop *controller.Loop, r *replica, log *slog.Logger) {
	if r == nil || r.election == nil || !f.updateStatus || r.resources == nil {
		return
	}
	r.programmer = status.NewProgrammer(r.resources, log)
	loop.Echoes = append(loop.Echoes, (&kongTeller{meaning: meaning, replica: r}).tell)
}

// kongTeller hands what the loop knows to who writes the status of custom resources. It belongs to the loop's goroutine.
type kongTeller struct {
	meaning *konghq.Options
	replica *replica
	// What addresses and conditions were told of last.
	served, stated kongInputs
	policies       map[model.Ref]status.Statement
}

// kongInputs are what follows from objects alone, and not from endpoints.
type kongInputs struct {
	objects  *kongapi.Objects
	classes  map[string]*netv1.IngressClass
	problems []model.Problem
	err      string
}

func (a *kongInputs) equal(b *kongInputs) bool {
	return a.objects == b.objects && a.err == b.err && maps.Equal(a.classes, b.classes) && slices.Equal(a.problems, b.problems)
}

func (t *kongTeller) tell(s *controller.State) {
	ours := konghq.Ours(t.meaning, s.Snapshot)
	now := kongInputs{objects: s.Snapshot.Kong, classes: s.Snapshot.IngressClasses}
	if s.Err == nil && !t.served.equal(&now) {
		t.served = now
		t.serve(s.Snapshot, ours)
	}
	for _, p := range s.Problems {
		now.problems = append(now.problems, model.Problem{Object: model.Ref(p.Object), Field: p.Field, Reason: p.Reason, Message: p.Message})
	}
	if s.Err != nil {
		now.err = s.Err.Error()
	}
	if !t.stated.equal(&now) {
		t.stated = now
		t.replica.programmer.Set("objects", status.Conditions(s.Snapshot.Kong, now.problems, s.Err, ours))
	}
	if policies := status.Policies(s.Snapshot.Kong, s.Result.Model.Kong, now.problems, s.Err); !status.Same(t.policies, policies) {
		t.policies = policies
		t.replica.programmer.Set("policies", policies)
	}
}

// serve says which TCPIngresses and UDPIngresses are to have addresses.
func (t *kongTeller) serve(snapshot *source.Snapshot, ours func(metav1.Object) bool) {
	served := map[model.Ref]metav1.Object{}
	for _, o := range snapshot.Kong.TCPIngresses {
		if ours(o) {
			served[model.Ref{Kind: "TCPIngress", Namespace: o.Namespace, Name: o.Name}] = o
		}
	}
	for _, o := range snapshot.Kong.UDPIngresses {
		if ours(o) {
			served[model.Ref{Kind: "UDPIngress", Namespace: o.Namespace, Name: o.Name}] = o
		}
	}
	t.replica.status.ServeResources(served)
}

// program writes what custom resources are to say until ctx ends; where there are none it waits.
func (r *replica) program(ctx context.Context) {
	if r.programmer != nil {
		r.programmer.Lead(ctx)
		return
	}
	<-ctx.Done()
}
