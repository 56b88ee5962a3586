// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fairway-ingress/fairway/test/freeport"
)

// TestFlagsOfPorts looks at a running controller for what the flags of its own ports do.
func TestFlagsOfPorts(t *testing.T) {
	dir := needsNginx(t)
	profiler := freeport.Take(t)
	p := startProgram(t, dir, "--health-check-path=/up", "--profiling=true", "--profiler-address=127.0.0.2", "--profiler-port", strconv.Itoa(profiler))
	t.Cleanup(func() { _ = p.command.Process.Kill() }) // ended already when all went well
	eventually(t, "ready", func() bool { status, _ := get(p.own, "", "/readyz"); return status == 200 })
	for _, c := range []struct {
		what, host, path string
		port, want       int
	}{
		{"health-check-path", "", "/up", p.own, 200},
		{"health-check-path", "", "/healthz", p.own, 404},
		{"health-check-path on hosts without an Ingress", "unknown.example", "/up", p.http, 200},
		{"health-check-path on hosts without an Ingress", "unknown.example", "/healthz", p.http, 404},
		{"metrics on healthz-port", "", "/metrics", p.own, 200},
	} {
		if status, body := get(c.port, c.host, c.path); status != c.want {
			t.Errorf("%s: %s answers %d, want %d: %s", c.what, c.path, status, c.want, body)
		}
	}
	response, err := http.Get(fmt.Sprintf("http://127.0.0.2:%d/debug/pprof/cmdline", profiler))
	if err != nil {
		t.Errorf("profiler-address: %v", err)
	} else if response.Body.Close(); response.StatusCode != 200 {
		t.Errorf("profiles answer %d", response.StatusCode)
	}
	if status, _ := get(profiler, "", "/debug/pprof/cmdline"); status != 0 {
		t.Errorf("profiles answer %d on another address than --profiler-address", status)
	}
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := p.command.Wait(); err != nil {
		t.Error(err)
	}
}

func TestVerbosity(t *testing.T) {
	for verbosity, want := range map[int]bool{0: false, 1: false, 2: true, 5: true} {
		f := controllerFlags{verbosity: verbosity, logFormat: "text"}
		if got := f.logger(io.Discard).Enabled(t.Context(), slog.LevelDebug); got != want {
			t.Errorf("--v=%d logs details: %v", verbosity, got)
		}
	}
}

// TestNginxBinary names a program by the predecessor's environment variable.
func TestNginxBinary(t *testing.T) {
	dir := needsNginx(t)
	t.Setenv("NGINX_BINARY", filepath.Join(dir, "absent"))
	p := startProgram(t, dir)
	if err := p.command.Wait(); err == nil || !strings.Contains(p.log.String(), filepath.Join(dir, "absent")) {
		t.Errorf("ended with %v:\n%s", err, p.log)
	}
}

// TestWarnsOfIgnoredFlags demands one warning with a reason for each flag without effect, and none for a value that asks for what is so anyway.
func TestWarnsOfIgnoredFlags(t *testing.T) {
	for _, f := range ignoredFlags {
		warnings := func(value string) string {
			var log bytes.Buffer
			flags := newController().Flags()
			if err := flags.Set(f.name, value); err != nil {
				t.Fatal(err)
			}
			warnOfIgnoredFlags(flags, slog.New(slog.NewTextHandler(&log, nil)))
			return log.String()
		}
		if got := warnings("1"); strings.Count(got, "\n") != 1 || !strings.Contains(got, "flag=--"+f.name) || !strings.Contains(got, f.why) {
			t.Errorf("--%s=1 logs %q", f.name, got)
		}
		if value, found := alreadySo[f.name]; found && warnings(value) != "" {
			t.Errorf("--%s=%s logs %q", f.name, value, warnings(value))
		}
	}
	for name := range alreadySo {
		if newIgnoredFlags().Lookup(name) == nil {
			t.Errorf("--%s has an effect, and is in alreadySo", name)
		}
	}
}

// TestPostShutdownGracePeriod stops a controller whose API server has nothing to say: it ends only when the period has passed.
func TestPostShutdownGracePeriod(t *testing.T) {
	dir := needsNginx(t)
	asked := make(chan struct{}, 1)
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case asked <- struct{}{}:
		default:
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(api.Close)
	p := startProgram(t, dir, "--manifests=", "--apiserver-host", api.URL, "--post-shutdown-grace-period=2", "--disable-leader-election")
	t.Cleanup(func() { _ = p.command.Process.Kill() }) // ended already when all went well
	<-asked
	begin := time.Now()
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = p.command.Wait() // with which status does not matter here
	if took := time.Since(begin); took < 2*time.Second {
		t.Errorf("ended after %s\n%s", took, p.log)
	}
}
