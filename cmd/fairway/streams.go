// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"log/slog"

	"github.com/fairway-ingress/fairway/internal/controller"
	"github.com/fairway-ingress/fairway/internal/l4"
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/nginx/process"
)

// withStreams is a data plane of two: nginx, and package l4 for TCP and UDP services. Neither waits for the other.
type withStreams struct {
	controller.Driver
	services *l4.Services
	owed     chan struct{}
}

func newStreams(address string, log *slog.Logger) *l4.Services {
	return l4.NewServices(l4.ServicesOptions{Address: address, LowPorts: process.WithLowPorts, Log: log.With("part", "l4")})
}

func beside(driver controller.Driver, services *l4.Services) controller.Driver {
	return withStreams{driver, services, make(chan struct{}, 1)}
}

// Run runs both, and returns when both have ended.
func (w withStreams) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() { defer close(ended); w.services.Run(ctx) }()
	go w.forward(ctx)
	err := w.Driver.Run(ctx)
	cancel()
	<-ended
	return err
}

// forward says that something is owed when one of the two says so.
func (w withStreams) forward(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.Driver.Restarted():
		case <-w.services.Restarted():
		}
		select {
		case w.owed <- struct{}{}:
		default:
		}
	}
}

// Apply lets TCP and UDP services follow the model also when nginx does not.
func (w withStreams) Apply(ctx context.Context, m *model.Model) (model.Change, error) {
	w.services.Apply(m)
	return w.Driver.Apply(ctx, m)
}

// Restarted sends a value when one of the two does.
func (w withStreams) Restarted() <-chan struct{} { return w.owed }

// Notices are those of both.
func (w withStreams) Notices() []model.Problem {
	return append(noticesOf(w.Driver), w.services.Notices()...)
}

// noticesOf gives what a driver says of the settings and of its files, if it says anything.
func noticesOf(driver controller.Driver) []model.Problem {
	if noticer, ok := driver.(interface{ Notices() []model.Problem }); ok {
		return noticer.Notices()
	}
	return nil
}
