// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package http

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	checks "github.com/fairway-ingress/fairway/internal/health"
	"github.com/fairway-ingress/fairway/internal/ingress"
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/nginx"
	"github.com/fairway-ingress/fairway/internal/source"
	"github.com/fairway-ingress/fairway/internal/source/manifests"
	"github.com/fairway-ingress/fairway/test/freeport"
	"github.com/fairway-ingress/fairway/test/testlog"
)

// stage is the nginx and the backends that all tests share; tests use it one after the other.
type stage struct {
	dir                 string
	driver              *nginx.Driver
	plane               *checks.Driver // before driver
	backends            map[string]netip.AddrPort
	pki                 *pki
	httpPort, httpsPort int
	access, errors      testlog.Log
	stop                context.CancelFunc
	stopped             chan error
	reloads             int                    // since the stage began
	refused             map[string]string      // snippets and settings that nginx did not take
	inForce             *model.Settings        // of the last case, or of an earlier step of this one; nil at the beginning of a case
	settingsID          string                 // of the last model
	problems            []model.Problem        // likewise
	cases               int                    // that began
	sessions            tls.ClientSessionCache // of the case

	applying sync.Mutex
	model    *model.Model // that was applied last
}

var shared *stage

func TestMain(m *testing.M) {
	if _, err := exec.LookPath("/usr/sbin/nginx"); err != nil {
		fmt.Fprintln(os.Stderr, "these tests need nginx: run hack/install-packages.sh runtime")
		os.Exit(1)
	}
	var err error
	if shared, err = newStage(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	shared.stop()
	if err := <-shared.stopped; err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	_ = os.RemoveAll(shared.dir)
	os.Exit(code)
}

func newStage() (*stage, error) {
	dir, err := os.MkdirTemp("/tmp", "fairway-http-")
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(dir, 0o711); err != nil { // nginx' workers pass through
		return nil, err
	}
	s := &stage{dir: dir, refused: map[string]string{}, stopped: make(chan error, 1)}
	if s.pki, err = newPKI(); err != nil {
		return nil, err
	}
	if s.backends, err = startBackends(s.pki); err != nil {
		return nil, err
	}
	return s, s.start(nil)
}

// start starts nginx in s.dir. Traffic is what is counted of requests; nil for nothing.
func (s *stage) start(traffic *model.TrafficOptions) error {
	for _, port := range []*int{&s.httpPort, &s.httpsPort} {
		var err error
		if *port, _, err = freeport.Reserve(); err != nil {
			return err
		}
	}
	var err error
	s.driver, err = nginx.New(nginx.Options{
		RuntimeDir: s.dir, Traffic: traffic, Address: "127.0.0.1", HTTPPort: s.httpPort, HTTPSPort: s.httpsPort,
		AccessLog: &s.access, ErrorLog: &s.errors, Log: slog.New(slog.NewTextHandler(&s.errors, nil)),
	})
	if err != nil {
		return err
	}
	s.plane = checks.New(quiet{s.driver}, checks.Options{AllowLocal: true, Log: slog.New(slog.NewTextHandler(&s.errors, nil))})
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	go func() { s.stopped <- s.plane.Run(ctx) }()
	go s.follow(ctx)
	return nil
}

// quiet is nginx' driver without the reasons to apply a model again that the tests see to themselves.
type quiet struct{ *nginx.Driver }

func (quiet) Restarted() <-chan struct{} { return nil }

// follow applies the last model again when a check has found something, as the controller does.
func (s *stage) follow(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.plane.Restarted():
		}
		s.applying.Lock()
		if s.model != nil {
			if _, err := s.plane.Apply(ctx, s.model); err != nil && ctx.Err() == nil {
				fmt.Fprintf(&s.errors, "apply again: %v\n", err)
			}
		}
		s.applying.Unlock()
	}
}

// expand puts the backends' addresses into a text, ${web.ip}, ${web.port}, nginx' own ports, ${self.http}, ${self.https}, and ${once}, a number
// that no other case, and no other run of it, has; and certificates, see pki.expand.
func (s *stage) expand(text string) string {
	text = strings.NewReplacer("${once}", fmt.Sprint(s.cases), "${self.http}", fmt.Sprint(s.httpPort), "${self.https}", fmt.Sprint(s.httpsPort)).Replace(text)
	for name, address := range s.backends {
		text = strings.NewReplacer("${"+name+".ip}", address.Addr().String(), "${"+name+".port}", fmt.Sprint(address.Port())).Replace(text)
	}
	return s.pki.expand(text)
}

// build makes the model of manifests, with the shared backends unless the case gives a Service of that name.
func (s *stage) build(t testing.TB, cluster, settings string) *model.Model {
	t.Helper()
	options := ingress.Options{WatchWithoutClass: true, AllowLocalEndpoints: true, TopologyAware: true, Zone: "here"}
	text := s.expand(cluster)
	mine := s.backends
	if strings.Contains(text, "name: default-backend") {
		options.DefaultBackend = source.Key{Namespace: "default", Name: "default-backend"}
	}
	if strings.Contains(text, "name: default-certificate") {
		options.DefaultCertificate = source.Key{Namespace: "default", Name: "default-certificate"}
	}
	base := map[string]string{"worker-processes": "2", "worker-shutdown-timeout": "5s"}
	if settings != "" {
		if err := yaml.Unmarshal([]byte(s.expand(settings)), &base); err != nil {
			t.Fatal(err)
		}
	}
	data, err := yaml.Marshal(map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]string{"name": "settings"}, "data": base})
	if err != nil {
		t.Fatal(err)
	}
	options.ConfigMap = source.Key{Namespace: "default", Name: "settings"}
	file := filepath.Join(t.TempDir(), "all.yaml")
	all := text + "\n---\n" + string(data) + backendManifests(mine)
	if err := os.WriteFile(file, []byte(all), 0o600); err != nil {
		t.Fatal(err)
	}
	snapshot, err := manifests.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range snapshot.Faults {
		t.Fatalf("manifests, line %d: %s\n%s", fault.Line, fault.Message, all)
	}
	snapshot = snapshot.WithRefused(s.refused).WithAddresses(map[string][]netip.Addr{"external.example": {s.backends["web"].Addr()}})
	builder := ingress.NewBuilder(options)
	if s.inForce != nil {
		builder.Confirm(*s.inForce)
	}
	m := builder.Build(snapshot).Model
	s.settingsID, s.problems = m.SettingsID, m.Problems
	return m
}

// apply brings manifests into force.
func (s *stage) apply(t testing.TB, cluster, settings string) model.Change {
	t.Helper()
	for {
		m := s.build(t, cluster, settings)
		change, err := s.try(m)
		var refusal *model.RefusedError
		if !errors.As(err, &refusal) {
			s.inForce = &m.Settings
			return s.applied(t, change, err)
		}
		for key, reason := range refusal.Settings {
			if _, known := s.refused[model.SettingsRefusal(s.settingsID, key)]; known {
				t.Fatalf("the model still has the refused setting %q: %s", key, reason)
			}
			s.refused[model.SettingsRefusal(s.settingsID, key)] = reason
		}
		for snippet, reason := range refusal.Snippets { // as the controller does
			if _, known := s.refused[string(snippet)]; known {
				t.Fatalf("the model still has a refused snippet: %s", snippet)
			}
			s.refused[string(snippet)] = reason
		}
	}
}

func (s *stage) applyModel(t testing.TB, m *model.Model) model.Change {
	t.Helper()
	change, err := s.try(m)
	return s.applied(t, change, err)
}

func (s *stage) try(m *model.Model) (model.Change, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	s.applying.Lock()
	defer s.applying.Unlock()
	s.model = m
	return s.plane.Apply(ctx, m)
}

func (s *stage) applied(t testing.TB, change model.Change, err error) model.Change {
	t.Helper()
	if err != nil {
		t.Fatalf("apply: %v\n%s", err, s.errors.String())
	}
	if change.Reload {
		s.reloads++
	}
	return change
}

// problemLines gives the Problems of the last model.
func (s *stage) problemLines() string {
	var out strings.Builder
	for _, p := range s.problems {
		fmt.Fprintf(&out, "%s %s: %s: %s\n", p.Object, p.Field, p.Reason, p.Message)
	}
	return out.String()
}
