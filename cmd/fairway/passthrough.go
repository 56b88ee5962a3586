// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"log/slog"
	"path/filepath"

	"github.com/fairway-ingress/fairway/internal/controller"
	"github.com/fairway-ingress/fairway/internal/front"
	"github.com/fairway-ingress/fairway/internal/l4"
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/nginx/conf"
	"github.com/fairway-ingress/fairway/internal/nginx/process"
)

// withPassthrough is a data plane of two: package l4 takes connections over TLS, and nginx gets those that do not pass through.
type withPassthrough struct {
	front.Front
	passthrough *l4.Passthrough
}

// dataPlane gives nginx' driver, with package l4 before it if flags want that: then the HTTPS port is open from now on.
func (f *controllerFlags) dataPlane(driver controller.Driver, log *slog.Logger) (controller.Driver, error) {
	if !f.passthrough {
		return driver, nil
	}
	var p *l4.Passthrough
	err := process.WithLowPorts(func() (err error) {
		p, err = l4.Listen(l4.Options{
			Address: f.bind, Port: f.httpsPort, Socket: filepath.Join(f.runtimeDir, conf.TLSSocket), Log: log.With("part", "l4"),
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	return withPassthrough{front.New(driver), p}, nil
}

// Run runs both, and returns when both have ended.
func (w withPassthrough) Run(ctx context.Context) error {
	return w.RunWith(ctx, w.passthrough.Run)
}

// Apply lets connections follow the model once nginx does: a host that does not pass through any more needs its certificate there.
func (w withPassthrough) Apply(ctx context.Context, m *model.Model) (model.Change, error) {
	change, err := w.Inner.Apply(ctx, m)
	if err == nil {
		w.passthrough.Apply(m)
	}
	return change, err
}
