// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kong

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/fairway-ingress/fairway/internal/kong/admin"
	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/kong/kongtest"
	"github.com/fairway-ingress/fairway/internal/model"
)

const testTag = "managed-by-fairway-test"

// bench is a driver before simulated gateways, with a state to bring into force.
type bench struct {
	*testing.T
	simulators []*kongtest.Simulator
	endpoints  Fixed
	driver     *Driver
	log        *lockedBuffer

	mu     sync.Mutex
	wanted []entity.Entity
	pushes []Push
}

// lockedBuffer is a log that several goroutines write.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// newBench starts gateways and a driver that runs.
func newBench(t *testing.T, change func(*Options), gateways ...kongtest.Options) *bench {
	t.Helper()
	b := &bench{T: t, log: &lockedBuffer{}}
	for _, o := range gateways {
		simulator := kongtest.New(o)
		server := httptest.NewServer(simulator)
		t.Cleanup(server.Close)
		b.simulators = append(b.simulators, simulator)
		b.endpoints = append(b.endpoints, Endpoint{URL: server.URL})
	}
	b.driver = b.newDriver(change)
	b.run(b.driver)
	return b
}

func (b *bench) newDriver(change func(*Options)) *Driver {
	options := Options{
		Gateways: b.endpoints, Tag: testTag, WatchEvery: 10 * time.Millisecond, Patience: 30 * time.Second, LookPatience: 30 * time.Second, Log: slog.New(slog.NewTextHandler(b.log, nil)),
		Connect: func(e Endpoint) (*admin.Client, error) {
			return admin.New(admin.Options{URL: e.URL, Pause: time.Millisecond})
		},
		Translate: func(*model.Model, *entity.Gateway) (*entity.State, []model.Problem) {
			b.mu.Lock()
			defer b.mu.Unlock()
			return entity.NewState(slices.Clone(b.wanted)), nil
		},
		Pushed: func(p Push) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.pushes = append(b.pushes, p)
		},
	}
	if change != nil {
		change(&options)
	}
	return New(options)
}

func (b *bench) run(d *Driver) (stop func()) {
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			b.Errorf("driver: %v", err)
		}
	})
	b.Cleanup(stop)
	return stop
}

// want sets the state that the next Apply brings into force.
func (b *bench) want(entities ...[]entity.Entity) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wanted = slices.Concat(entities...)
}

func (b *bench) tryApply() (model.Change, error) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	defer cancel()
	return b.driver.Apply(ctx, &model.Model{})
}

// apply demands success.
func (b *bench) apply() model.Change {
	b.Helper()
	change, err := b.tryApply()
	if err != nil {
		b.Fatalf("apply: %v", err)
	}
	return change
}

// applyUntil repeats what the controller's loop would.
func (b *bench) applyUntil(what string, good func() bool) {
	b.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		_, err := b.tryApply()
		if err == nil && good() {
			return
		}
		if time.Now().After(deadline) {
			b.Fatalf("%s does not come to pass; last error %v", what, err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// writes gives what a gateway was asked to change since the last call.
func (b *bench) writes(i int) []kongtest.Call {
	calls := b.simulators[i].Writes()
	b.simulators[i].Forget()
	return calls
}

func (b *bench) notices(reason string) []model.Problem {
	return slices.DeleteFunc(b.driver.Notices(), func(p model.Problem) bool { return p.Reason != reason })
}

func ingress(name string) model.Ref { return model.Ref{Kind: "Ingress", Namespace: "shop", Name: name} }

func metaOf(kind *entity.Kind, key, owner string) entity.Meta {
	return entity.Meta{
		ID: entity.NewID(kind, key), Owner: ingress(owner), Field: "spec.rules[0]",
		Tags: []string{"k8s-kind:Ingress", "k8s-namespace:shop", "k8s-name:" + owner},
	}
}

// app is what one Ingress with a Service of some endpoints makes.
func app(name string, endpoints ...string) []entity.Entity {
	upstream := &entity.Upstream{Meta: metaOf(entity.Upstreams, name, name), Name: name + ".shop.80.svc"}
	service := &entity.Service{Meta: metaOf(entity.Services, name, name), Name: "shop." + name + ".80", Host: upstream.Name, Port: 80, Path: "/"}
	route := &entity.Route{
		Meta: metaOf(entity.Routes, name, name), Name: "shop." + name, Hosts: []string{name + ".example"}, Paths: []string{"/"}, StripPath: new(false),
		PreserveHost: new(true), Protocols: []string{"http", "https"}, Service: entity.RefTo(service),
	}
	entities := []entity.Entity{upstream, service, route}
	for _, e := range endpoints {
		entities = append(entities, &entity.Target{Meta: metaOf(entity.Targets, name+"/"+e, name), Target: e, Upstream: entity.RefTo(upstream)})
	}
	return entities
}

func apps(n int) []entity.Entity {
	var all []entity.Entity
	for i := range n {
		all = append(all, app(fmt.Sprintf("app-%d", i), fmt.Sprintf("10.0.%d.%d:80", i/250, i%250+1))...)
	}
	return all
}

// plugin is one of a name on the route of an app.
func plugin(of, name string, config map[string]any) []entity.Entity {
	return []entity.Entity{&entity.Plugin{
		Meta: metaOf(entity.Plugins, of+"/"+name, of), Name: name, Route: &entity.Reference{ID: entity.NewID(entity.Routes, of)}, Config: config,
	}}
}

// ask gives what becomes of a request to an app.
func (b *bench) ask(name string) kongtest.Answer {
	return b.simulators[0].Route(kongtest.Request{Host: name + ".example", Path: "/"})
}

func (b *bench) status(simulator int, name string) int {
	return b.simulators[simulator].Route(kongtest.Request{Host: name + ".example", Path: "/"}).Status
}

var (
	withDatabase = kongtest.Options{}
	dbless       = kongtest.Options{DBLess: true}
)

// atomicList is a list of endpoints that several goroutines use.
type atomicList struct {
	mu   sync.Mutex
	list Fixed
}

func (l *atomicList) store(list Fixed) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = list
}

func (l *atomicList) load() Fixed {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.list
}

// takesNoDocument makes a gateway without a database find every document too large.
func takesNoDocument(c kongtest.Call) *kongtest.Fault {
	if c.Path == "/config" {
		return &kongtest.Fault{Status: 413, Body: "<html>"}
	}
	return nil
}
