// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package nginx

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/nginx/conf"
	"github.com/fairway-ingress/fairway/internal/nginx/process"
)

// checkSettings lets nginx test settings that it has not tested yet, in a configuration of their own, so that a slip of the admin does not keep the changes of
// everybody else waiting. The error is a *model.RefusedError: of raw configuration it names the parts at fault, of all else the whole.
func (d *Driver) checkSettings(ctx context.Context, m *model.Model) error {
	if d.tested != nil && reflect.DeepEqual(*d.tested, m.Settings) {
		return nil
	}
	why, err := d.testSettings(ctx, m.Settings)
	if err != nil {
		return err
	}
	if why == "" {
		settings := m.Settings
		d.tested = &settings
		return nil
	}
	refused, err := d.findRaw(ctx, m.Settings)
	if err != nil {
		return err
	}
	if len(refused) == 0 {
		refused[""] = why
	}
	return &model.RefusedError{Settings: refused}
}

// findRaw adds the raw parts of the settings one by one and gives those that nginx refuses; none when the rest of the settings is at fault.
func (d *Driver) findRaw(ctx context.Context, settings model.Settings) (map[string]string, error) {
	refused := map[string]string{}
	raw := settings.Raw
	if raw == (model.Raw{}) {
		return refused, nil
	}
	var kept model.Raw
	if why, err := d.testSettings(ctx, settings.WithRaw(kept)); err != nil || why != "" {
		return refused, err
	}
	for _, part := range model.RawParts() {
		if *part.Of(&raw) == "" {
			continue
		}
		before := kept
		*part.Of(&kept) = *part.Of(&raw)
		why, err := d.testSettings(ctx, settings.WithRaw(kept))
		if err != nil {
			return nil, err
		}
		if why != "" {
			refused[part.Key] = why
			kept = before
		}
	}
	return refused, nil
}

// testSettings says why nginx refuses settings, "" when it does not. The error is that of a test that could not be made.
func (d *Driver) testSettings(ctx context.Context, settings model.Settings) (why string, err error) {
	// A route as the settings have it brings in what only routes need.
	usual := &model.Route{Policy: settings.Route}
	usual.Policy.ExternalAuth = settings.GlobalAuth
	host := &model.Host{Name: "settings.invalid", Matches: []model.Match{{Path: "/", Route: usual}}}
	config := d.config
	config.Settings, config.Shapes = settings, conf.Needed([]*model.Host{host}, &settings)
	config.Servers, config.Streams, config.ZoneBytes = nil, nil, minZoneBytes
	text, _ := config.Render()
	path := filepath.Join(d.config.Place.Dir, "settings.conf")
	if err := errors.Join(writeFiles(config), writeFile(path, text)); err != nil {
		return "", err
	}
	if err := process.Test(ctx, d.command, path); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return complaint(err), nil
	}
	return "", nil
}

// complaint gives what nginx says is wrong, without when it said so and what follows from it.
func complaint(err error) string {
	_, text, found := strings.Cut(err.Error(), "[emerg] ")
	if !found {
		return err.Error()
	}
	_, text, _ = strings.Cut(text, ": ") // the process
	text, _, _ = strings.Cut(text, "\n")
	return text
}
