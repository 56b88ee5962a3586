// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package nginx

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/nginx/conf"
	"github.com/fairway-ingress/fairway/internal/nginx/process"
)

// UseDatabases says which databases for GeoIP there are, by their edition, and has them applied.
func (d *Driver) UseDatabases(databases map[string]conf.Database) {
	d.mu.Lock()
	d.files.databases = databases
	d.mu.Unlock()
	d.owe()
}

// UseTemplate puts a template in place of that of nginx.conf, "" for the built-in one, and has it applied. One that does not parse, or leads to what
// nginx refuses, is refused: the last good one stays.
func (d *Driver) UseTemplate(ctx context.Context, text string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	defer d.owe()
	var next *conf.Template
	d.refuse = ""
	if text != "" {
		var err error
		if next, err = conf.ParseTemplate(text); err == nil {
			err = d.testTemplate(ctx, next)
		}
		if err != nil {
			d.refuse = err.Error()
			return err
		}
	}
	d.files.template = next
	return nil
}

// testTemplate lets nginx test the configuration in force, made by another template.
func (d *Driver) testTemplate(ctx context.Context, t *conf.Template) error {
	config := d.config
	config.Template = t
	if config.Shapes == nil { // nothing is in force yet
		config.Settings = model.DefaultSettings()
		config.Shapes = conf.Needed(nil, &config.Settings)
	}
	text, hash := config.Render()
	path := filepath.Join(config.Place.Dir, "template.conf")
	if err := errors.Join(writeFiles(config), writeFile(path, text)); err != nil {
		return err
	}
	if err := process.Test(ctx, d.command, path); err != nil {
		return err
	}
	if !strings.Contains(string(text), hash) {
		return errors.New(`the configuration lacks its hash: init_by_lua_block must call require("fairway.init").master with configuration = "{{ .Hash }}"`)
	}
	return nil
}

// Notices gives what the settings in force ask for and this nginx cannot do. Problems of settings have no object, as only their owner knows it.
func (d *Driver) Notices() []model.Problem {
	d.mu.Lock()
	defer d.mu.Unlock()
	var problems []model.Problem
	notice := func(key, format string, args ...any) {
		problems = append(problems, model.Problem{Field: "data[" + key + "]", Reason: model.ReasonUnavailable, Message: fmt.Sprintf(format, args...)})
	}
	s, place := d.config.Settings, d.config.Place
	if s.Compression.Brotli && place.Brotli == nil {
		notice("enable-brotli", "nginx has no module for Brotli, so responses are not compressed with it; install libnginx-mod-http-brotli-filter")
	}
	switch {
	case !s.GeoIP.On:
	case !place.GeoIP:
		notice("use-geoip2", "nginx has no module for GeoIP2, so its variables are empty; install libnginx-mod-http-geoip2")
	case len(d.files.databases) == 0:
		notice("use-geoip2", "there is no database, so the variables are empty; put those that --maxmind-edition-ids names into --geoip2-dir")
	}
	if d.refuse != "" {
		problems = append(problems, model.Problem{Object: model.Ref{Kind: "File", Name: d.options.Template}, Reason: model.ReasonUnavailable,
			Message: fmt.Sprintf("the template is refused: %s; the last good one stays in force", d.refuse)})
	}
	return slices.Clip(problems)
}
