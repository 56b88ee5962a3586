// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"log/slog"

	"github.com/fairway-ingress/fairway/internal/admission"
	"github.com/fairway-ingress/fairway/internal/controller"
	"github.com/fairway-ingress/fairway/internal/kong"
	"github.com/fairway-ingress/fairway/internal/konghq"
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source/kube"
	"github.com/fairway-ingress/fairway/internal/status"
)

// judgeKong has the webhook judge custom resources too, and plugins by the gateways' own schemas.
func (f *controllerFlags) judgeKong(meaning *konghq.Options, objects controller.Source, driver *kong.Driver) {
	if source, ok := objects.(*kube.Source); ok {
		f.webhook.kong = &admission.Kong{Options: *meaning, Snapshot: source.Snapshot, Schema: driver.Judge}
	}
}

// tellKong has the leader write the conditions of custom resources.
func (f *controllerFlags) tellKong(meaning *konghq.Options, loop *controller.Loop, r *replica, log *slog.Logger) {
	if r == nil || r.election == nil || !f.updateStatus || f.apiFlags.kong == nil {
		return
	}
	r.programmer = status.NewProgrammer(f.apiFlags.kong.Client, log)
	loop.Echoes = append(loop.Echoes, func(s *controller.State) {
		problems := make([]model.Problem, len(s.Problems))
		for i, p := range s.Problems {
			problems[i] = model.Problem{Object: model.Ref(p.Object), Field: p.Field, Reason: p.Reason, Message: p.Message}
		}
		r.programmer.Set(status.Conditions(s.Snapshot.Kong, problems, s.Err, konghq.Ours(meaning, s.Snapshot)))
	})
}

// program writes the conditions until ctx ends; where there are none to write it waits.
func (r *replica) program(ctx context.Context) {
	if r.programmer != nil {
		r.programmer.Lead(ctx)
		return
	}
	<-ctx.Done()
}
