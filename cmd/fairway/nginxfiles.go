// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/spf13/pflag"

	"github.com/fairway-ingress/fairway/internal/nginx/conf"
)

// nginxFiles are files that others write and nginx' configuration is made of: the databases for GeoIP and a template. They are watched.
type nginxFiles struct {
	template string
	geoDir   string
	editions string // with commas between

	log       *slog.Logger
	driver    fileUser
	text      string                   // of the template that was tried last
	tried     bool                     // whether there was one
	databases map[string]conf.Database // that the driver has
}

// fileUser is who is given what the files hold; an nginx.Driver is one.
type fileUser interface {
	UseDatabases(databases map[string]conf.Database)
	UseTemplate(ctx context.Context, text string) error
}

const (
	// settleFor lets somebody who replaces a file finish.
	settleFor = 50 * time.Millisecond
	// lookEvery finds what notifications miss, such as a folder that comes later.
	lookEvery = 5 * time.Second
)

func (f *nginxFiles) flags() *pflag.FlagSet {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.StringVar(&f.template, "nginx-template", "", "template that replaces the built-in one of nginx.conf, see docs/template.md; it is watched, and one that nginx refuses is not used")
	flags.StringVar(&f.geoDir, "geoip2-dir", "/etc/ingress-controller/geoip", "folder of the databases for the setting use-geoip2; it is watched")
	flags.StringVar(&f.editions, "maxmind-edition-ids", "GeoLite2-City,GeoLite2-ASN",
		"databases that are read from there, as EDITION.mmdb: "+strings.Join(conf.GeoEditions(), ", "))
	return flags
}

func (f *nginxFiles) check() error {
	for _, edition := range strings.Split(f.editions, ",") {
		if !slices.Contains(conf.GeoEditions(), edition) {
			return fmt.Errorf("--maxmind-edition-ids has %q; there are %s", edition, strings.Join(conf.GeoEditions(), ", "))
		}
	}
	return nil
}

// start gives the driver what the files hold now and follows them until ctx ends. A template that cannot be read at the start is reported like one that
// is not good.
func (f *nginxFiles) start(ctx context.Context, driver fileUser, log *slog.Logger) {
	f.driver, f.log = driver, log
	f.look(ctx)
	go f.watch(ctx)
}

func (f *nginxFiles) watch(ctx context.Context) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		f.log.Error("files of nginx are not watched", "err", err)
		return
	}
	defer watcher.Close()
	timer := time.NewTimer(settleFor) // for what changed meanwhile
	defer timer.Stop()
	for {
		f.follow(watcher)
		select {
		case <-ctx.Done():
			return
		case <-watcher.Events:
			timer.Reset(settleFor)
		case err := <-watcher.Errors:
			f.log.Warn("notifications of files of nginx are incomplete", "err", err)
		case <-timer.C:
			f.look(ctx)
			timer.Reset(lookEvery)
		}
	}
}

// follow asks for notifications of the folders, not the files: files are replaced, also by way of links.
func (f *nginxFiles) follow(watcher *fsnotify.Watcher) {
	folders := []string{f.geoDir}
	if f.template != "" {
		folders = append(folders, filepath.Dir(f.template))
	}
	for _, folder := range folders {
		if _, err := os.Stat(folder); err == nil && !slices.Contains(watcher.WatchList(), folder) {
			_ = watcher.Add(folder) // looking every now and then does without
		}
	}
}

// look gives the driver what has changed.
func (f *nginxFiles) look(ctx context.Context) {
	if databases := f.findDatabases(); !maps.Equal(databases, f.databases) {
		f.databases = databases
		f.log.Info("databases for GeoIP found", "editions", strings.Join(slices.Sorted(maps.Keys(databases)), ","))
		f.driver.UseDatabases(databases)
	}
	if f.template == "" {
		return
	}
	text, err := os.ReadFile(f.template)
	if err != nil && !f.tried {
		f.tried = true
		f.log.Error("template is not readable, another one stays in force", "file", f.template, "err", err)
		return
	}
	if err != nil || f.tried && string(text) == f.text {
		return // it may be about to be replaced
	}
	f.text, f.tried = string(text), true
	if err := f.driver.UseTemplate(ctx, string(text)); err != nil {
		f.log.Error("template is refused, the last good one stays in force", "file", f.template, "err", err)
		return
	}
	f.log.Info("template is good", "file", f.template)
}

// findDatabases gives the files that are there. Size and time tell two contents apart.
func (f *nginxFiles) findDatabases() map[string]conf.Database {
	found := map[string]conf.Database{}
	for _, edition := range strings.Split(f.editions, ",") {
		path := filepath.Join(f.geoDir, edition+".mmdb")
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			found[edition] = conf.Database{Path: path, Version: fmt.Sprintf("%d bytes of %d", info.Size(), info.ModTime().UnixNano())}
		}
	}
	if len(found) == 0 {
		return nil
	}
	return found
}
