// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/dynamic"

	"github.com/fairway-ingress/fairway/internal/controller"
	"github.com/fairway-ingress/fairway/internal/ingress"
	"github.com/fairway-ingress/fairway/internal/kong"
	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/kong/translate"
	"github.com/fairway-ingress/fairway/internal/konghq"
	"github.com/fairway-ingress/fairway/internal/metrics"
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source/dns"
	"github.com/fairway-ingress/fairway/internal/source/kube"
	"github.com/fairway-ingress/fairway/internal/source/manifests"
)

// leadQuestion tells whether this replica leads: nobody does until that is known, and everybody where nobody is elected.
type leadQuestion struct{ answer atomic.Pointer[func() bool] }

func (q *leadQuestion) ask() bool {
	answer := q.answer.Load()
	return answer != nil && (*answer)()
}

// lead has the driver know who leads, and the leader what there is to write.
func (f *kongFlags) lead(r *replica) {
	answer := func() bool { return true }
	if r != nil && r.election != nil {
		answer = r.election.Leading
	}
	f.leads.answer.Store(&answer)
	if f.told != nil {
		f.told(r)
	}
}

// runKong is run with Kong Gateways as data plane.
func (f *controllerFlags) runKong(ctx context.Context, cancel context.CancelCauseFunc, signals <-chan os.Signal, stdin io.Reader, log *slog.Logger) error {
	if err := f.makeRuntimeDir(); err != nil {
		return err
	}
	options := f.options()
	f.webhook.settle(&options)
	meaning := f.kong.meaning(&options)
	objects, err := f.kongSource(ctx, stdin, log, &options)
	if err != nil {
		return err
	}
	gateways, stopDiscovery, err := f.discovery(ctx)
	if err != nil {
		return err
	}
	defer stopDiscovery()
	connect, err := f.kong.connect()
	if err != nil {
		return err
	}
	families := metrics.NewKong(cmp.Or(os.Getenv("POD_NAME"), "fairway"))
	fixed, isFixed := gateways.(kong.Fixed)
	driver := kong.New(kong.Options{
		Gateways: gateways, Connect: connect, Translate: f.kong.translate(families), Tag: f.kong.tag, ReverseSync: f.kong.reverse,
		SkipCACertificates: f.kong.skipCA, Own: isFixed && fixed.Local(), Leads: f.kong.leads.ask, WatchEvery: f.kong.interval,
		LookPatience: f.kong.patience, VerifyEvery: f.kong.verifyEvery(), Pushed: f.kong.pushed(families), FellBack: families.FellBack, Gone: f.kong.gone(families),
		LeaveOut: !f.kong.useLast, KeepFailed: f.kong.dump.enabled, Log: log.With("part", "kong"),
	})
	stopDump, err := f.kong.dump.serve(f.profilerAddress.String(), driver, log)
	if err != nil {
		return err
	}
	defer stopDump()
	loop := &controller.Loop{
		Source: objects, Resolver: dns.New(dns.Options{Log: log}), Builder: ingress.NewBuilder(options), Driver: driver, Log: log,
		Extend: konghq.NewBuilder(meaning).Build,
		Metrics: metrics.New(metrics.Options{
			Version: buildVersion(), Revision: buildRevision(), Repository: "https://github.com/fairway-ingress/fairway", Log: log.With("part", "metrics"),
		}),
	}
	loop.Metrics.Register(families.Collectors()...)
	f.judgeKong(meaning, objects, driver)
	f.kong.told = func(r *replica) {
		if r != nil {
			f.kong.pushes.to(r.events)
		}
		f.tellKong(meaning, loop, r, log)
	}
	server := &controller.Server{Loop: loop, HealthPath: f.healthPath, More: map[string]http.Handler{
		controller.KongStatePath: showKong(func(context.Context) (kong.Shown, error) { return driver.State() }),
		controller.KongDiffPath:  showKong(driver.Diff),
	}}
	return f.operate(ctx, cancel, signals, server, options, log)
}

// makeRuntimeDir makes the folder of the socket for the command line, which is all that there is without nginx.
func (f *controllerFlags) makeRuntimeDir() error {
	if err := checkUnused(f.runtimeDir); err != nil {
		return err
	}
	return os.MkdirAll(filepath.Join(f.runtimeDir, filepath.Dir(controllerSocket)), 0o700)
}

// meaning says what objects mean for Kong.
func (f *kongFlags) meaning(options *ingress.Options) *konghq.Options {
	return &konghq.Options{
		ControllerClass: options.ControllerClass, IngressClass: options.IngressClass, AnnotationsPrefix: options.AnnotationsPrefix,
		KeepDraining: f.drain, DisableExternalName: options.DisableExternalName, AllowLocalEndpoints: options.AllowLocalEndpoints,
		CrossNamespace: f.crossNamespace, ClusterDomain: f.clusterDomain, DefaultBackend: options.DefaultBackend,
		DefaultCertificate: options.DefaultCertificate,
	}
}

// kongSource is source with the custom resources of Kong.
func (f *controllerFlags) kongSource(ctx context.Context, stdin io.Reader, log *slog.Logger, options *ingress.Options) (controller.Source, error) {
	if f.manifests != "" {
		return manifests.Open(f.manifests, manifests.Options{Log: log, Stdin: stdin, Kong: true})
	}
	config, err := f.config()
	if err != nil {
		return nil, err
	}
	config.ContentType, config.AcceptContentTypes = "application/json", "application/json" // custom resources have no other form
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	f.apiFlags.kong = &kube.KongOptions{Client: client, References: konghq.References, Labels: konghq.Labels()}
	return f.apiFlags.source(ctx, log, options, f.publishService.Key)
}

// discovery gives where gateways are, and what waits until the search for them has ended.
func (f *controllerFlags) discovery(ctx context.Context) (kong.Discovery, func(), error) {
	if f.kong.service.Name == "" {
		var fixed kong.Fixed
		for _, url := range f.kong.urls {
			fixed = append(fixed, kong.Endpoint{URL: url})
		}
		return fixed, func() {}, nil
	}
	config, err := f.config()
	if err != nil {
		return nil, nil, err
	}
	api, err := client(config, 10)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	found, wait := discoverKong(ctx, api, f.kong.service.Key, f.kong.ports)
	return found, func() { cancel(); wait() }, nil
}

// translate gives the translation with its metrics.
func (f *kongFlags) translate(families *metrics.Kong) kong.Translate {
	translator := translate.New(translate.Options{OpenWithoutPlugin: f.openFail, Workspace: f.workspace})
	var mu sync.Mutex // whoever asks what a gateway is to hold does so beside the loop
	return func(m *model.Model, g *entity.Gateway) (*entity.State, []model.Problem) {
		mu.Lock()
		defer mu.Unlock()
		begin := time.Now()
		state, problems := translator.Translate(m, g)
		families.Translated(len(problems), time.Since(begin))
		return state, problems
	}
}

// looksPerVerification is how many looks at a gateway come to one at all that its database holds, with reverse sync.
const looksPerVerification = 10

func (f *kongFlags) verifyEvery() time.Duration {
	if f.reverse {
		return looksPerVerification * f.interval
	}
	return 0 // the driver's default
}

// pushed feeds the metrics and tells of what came of pushes.
func (f *kongFlags) pushed(families *metrics.Kong) func(kong.Push) {
	return func(p kong.Push) {
		f.pushes.tell(p)
		protocol := "db-less"
		if p.Database {
			protocol = "deck" // as the Kong Ingress Controller calls it, whatever writes
		}
		families.Pushed(metrics.KongPush{
			Gateway: p.Gateway, Protocol: protocol, Took: p.Took, Bytes: p.Bytes, Requests: p.Requests, Broken: p.Broken, Reason: p.Reason(), Hash: p.Hash,
			Refused: p.Refused, Fallback: p.Fallback, Failed: p.Err != nil,
		}, time.Now())
	}
}

// showKong answers the command line.
func showKong(ask func(context.Context) (kong.Shown, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shown, err := ask(r.Context())
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		w.Header().Set(controller.KongChangesHeader, strconv.Itoa(len(shown.Changes)))
		if r.URL.Query().Get("output") == "json" {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(shown.JSON()) // the client is gone: nothing to be done
			return
		}
		shown.Print(w)
	})
}
