// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fairway-ingress/fairway/internal/nginx/conf"
)

// fakeUser notes what it is given; templates with "bad" in them are refused.
type fakeUser struct {
	mu       sync.Mutex
	editions string
	template string
}

func (u *fakeUser) UseDatabases(databases map[string]conf.Database) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.editions = strings.Join(slices.Sorted(maps.Keys(databases)), " ")
}

func (u *fakeUser) UseTemplate(_ context.Context, text string) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if strings.Contains(text, "bad") {
		return errors.New("it is bad")
	}
	u.template = text
	return nil
}

func (u *fakeUser) has() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.editions + "|" + u.template
}

// TestNginxFiles follows databases and a template that come, change and go, also as links that are pointed elsewhere.
func TestNginxFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	user := &fakeUser{}
	f := nginxFiles{template: filepath.Join(dir, "nginx.tmpl"), geoDir: dir, editions: "GeoLite2-City,GeoIP2-ISP"}
	if err := f.check(); err != nil {
		t.Fatal(err)
	}
	write("nginx.tmpl", "one")
	write("GeoLite2-ASN.mmdb", "not asked for")
	f.start(t.Context(), user, slog.New(slog.DiscardHandler))
	await := func(want string) {
		t.Helper()
		eventually(t, "the driver has "+want, func() bool { return user.has() == want })
	}
	await("|one")
	write("GeoLite2-City.mmdb", "cities")
	await("GeoLite2-City|one")
	write("nginx.tmpl", "two")
	await("GeoLite2-City|two")
	write("nginx.tmpl", "bad")
	write("GeoIP2-ISP.mmdb", "providers")
	await("GeoIP2-ISP GeoLite2-City|two")
	write("three.tmpl", "three")
	if err := os.Symlink("three.tmpl", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "link"), f.template); err != nil {
		t.Fatal(err)
	}
	await("GeoIP2-ISP GeoLite2-City|three")
	if err := os.Remove(filepath.Join(dir, "GeoLite2-City.mmdb")); err != nil {
		t.Fatal(err)
	}
	await("GeoIP2-ISP|three")
}

func TestUnknownEdition(t *testing.T) {
	f := nginxFiles{editions: "GeoLite2-City,GeoLite2-Towns"}
	if err := f.check(); err == nil || !strings.Contains(err.Error(), "GeoLite2-Towns") {
		t.Errorf("got %v", err)
	}
}
