// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"log/slog"

	"github.com/fairway-ingress/fairway/internal/controller"
	"github.com/fairway-ingress/fairway/internal/front"
	"github.com/fairway-ingress/fairway/internal/l4"
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/nginx/process"
)

// withStreams is a data plane of two: nginx, and package l4 for TCP and UDP services. Neither waits for the other.
type withStreams struct {
	front.Front
	services *l4.Services
}

func newStreams(address string, accessLog io.Writer, log *slog.Logger) *l4.Services {
	return l4.NewServices(l4.ServicesOptions{Address: address, LowPorts: process.WithLowPorts, AccessLog: accessLog, Log: log.With("part", "l4")})
}

func beside(driver controller.Driver, services *l4.Services) controller.Driver {
	return withStreams{front.New(driver), services}
}

// Run runs both, and returns when both have ended.
func (w withStreams) Run(ctx context.Context) error {
	return w.RunWith(ctx, w.services.Run, func(ctx context.Context) { w.Forward(ctx, w.services.Restarted()) })
}

// Apply lets TCP and UDP services follow the model also when nginx does not.
func (w withStreams) Apply(ctx context.Context, m *model.Model) (model.Change, error) {
	w.services.Apply(m)
	return w.Inner.Apply(ctx, m)
}

// Notices are those of both.
func (w withStreams) Notices() []model.Problem {
	return append(w.Front.Notices(), w.services.Notices()...)
}
