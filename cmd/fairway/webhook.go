// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/kubernetes"

	"github.com/fairway-ingress/fairway/internal/admission"
	"github.com/fairway-ingress/fairway/internal/controller"
	"github.com/fairway-ingress/fairway/internal/ingress"
	"github.com/fairway-ingress/fairway/internal/metrics"
	"github.com/fairway-ingress/fairway/internal/source/kube"
)

// webhookFlags are those of the admission webhook.
type webhookFlags struct {
	address              string
	certificate, key     string
	selfMade             bool
	service, secret      keyFlag
	configuration        string
	lifetime             time.Duration
	warn, strict         bool
	validate, inspection bool

	kong *admission.Kong // nil unless the data plane is Kong
}

func (f *webhookFlags) flags() *pflag.FlagSet {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.StringVar(&f.address, "validating-webhook", "", "address of the admission webhook, host:port; empty for no webhook. See docs/admission.md")
	flags.StringVar(&f.certificate, "validating-webhook-certificate", "", "file with the webhook's certificate, read again when it changes")
	flags.StringVar(&f.key, "validating-webhook-key", "", "file with the key of that certificate")
	flags.BoolVar(&f.selfMade, "validating-webhook-self-managed", false,
		"make and renew the webhook's certificate, and write who is to be trusted into the ValidatingWebhookConfiguration, instead of reading files")
	flags.Var(&f.service, "validating-webhook-service", "namespace/name of the Service by which the API server reaches the webhook; for a self-managed certificate")
	flags.Var(&f.secret, "validating-webhook-secret", "namespace/name of the Secret in which the replicas keep the self-managed certificate; it is created")
	flags.StringVar(&f.configuration, "validating-webhook-configuration", "", "name of the ValidatingWebhookConfiguration; for a self-managed certificate")
	flags.DurationVar(&f.lifetime, "validating-webhook-certificate-lifetime", 90*24*time.Hour, "lifetime of the self-managed certificate, renewed when a third is left")
	flags.BoolVar(&f.warn, "validating-webhook-warnings", true, "answer Problems that are no reason to refuse an Ingress as warnings")
	flags.BoolVar(&f.strict, "validating-webhook-strict", false, "refuse Ingresses also for what is otherwise a warning")
	flags.BoolVar(&f.validate, "enable-annotation-validation", true,
		"refuse values of annotations that do not parse, where the reference says refused; false only warns. They never have an effect")
	flags.BoolVar(&f.inspection, "deep-inspect", true,
		"refuse Ingresses whose hosts, paths or names of Secrets have text that is known from attacks on nginx. Such text has no effect here")
	return flags
}

// check finds mistakes that these flags make together.
func (f *webhookFlags) check(manifests string) error {
	if f.address == "" {
		return nil
	}
	if _, port, err := net.SplitHostPort(f.address); err != nil {
		return usageError{fmt.Errorf("--validating-webhook is %q; it must be host:port or :port", f.address)}
	} else if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return usageError{fmt.Errorf("--validating-webhook is %q; a port is a number from 1 to 65535", f.address)}
	}
	if manifests != "" {
		return usageError{errors.New("--validating-webhook needs an API server that asks it; it goes not with --manifests")}
	}
	return f.checkCertificate()
}

// checkCertificate wants either files or what a self-managed certificate needs.
func (f *webhookFlags) checkCertificate() error {
	switch files := f.certificate != "" || f.key != ""; {
	case f.selfMade && files:
		return usageError{errors.New("--validating-webhook-self-managed and --validating-webhook-certificate or -key exclude each other: give files, or have a certificate made")}
	case !f.selfMade && (f.certificate == "" || f.key == ""):
		return usageError{errors.New("--validating-webhook needs a certificate: give --validating-webhook-certificate and --validating-webhook-key, " +
			"or --validating-webhook-self-managed")}
	case f.selfMade && (f.service.Name == "" || f.secret.Name == "" || f.configuration == ""):
		return usageError{errors.New("--validating-webhook-self-managed needs --validating-webhook-service, --validating-webhook-secret and --validating-webhook-configuration")}
	case f.lifetime < 10*time.Second:
		return usageError{fmt.Errorf("--validating-webhook-certificate-lifetime is %v; it must be 10s at least", f.lifetime)}
	}
	return nil
}

// port is the webhook's, for the comparison with others.
func (f *webhookFlags) port() []portFlag {
	host, port, err := net.SplitHostPort(f.address)
	if err != nil {
		return nil
	}
	n, _ := strconv.Atoi(port) // checked before
	return []portFlag{{"validating-webhook", host, n}}
}

// settle gives the options what the flags say about reviews.
func (f *webhookFlags) settle(options *ingress.Options) {
	options.LenientAnnotations, options.DeepInspect = !f.validate, f.inspection
}

// start serves the webhook, if it is asked for, and gives what stops it. It is to be called before the source runs.
func (f *webhookFlags) start(ctx context.Context, api *apiFlags, objects controller.Source, options ingress.Options, m *metrics.Metrics, log *slog.Logger) (stop func(), err error) {
	if f.address == "" {
		return func() {}, nil
	}
	log = log.With("part", "webhook")
	source := objects.(*kube.Source) // check has refused others
	reviewer := &admission.Reviewer{Objects: source, Index: &admission.Index{}, Options: options, Strict: f.strict, Kong: f.kong}
	source.FollowIngresses(reviewer.Index.Replace)
	certificate, follow, err := f.openCertificate(api, log)
	if err != nil {
		return nil, err
	}
	listener, err := f.port()[0].listen()
	if err != nil {
		return nil, err
	}
	handler := admission.NewHandler(reviewer, f.warn, m.Admission(), log)
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{}, 2)
	run := func(what func(context.Context) error) {
		if err := what(ctx); err != nil && ctx.Err() == nil {
			log.Error("the admission webhook has stopped", "err", err)
		}
		ended <- struct{}{}
	}
	go run(follow)
	go run(func(ctx context.Context) error {
		return admission.Serve(ctx, admission.NewServer(handler, certificate, log), listener)
	})
	log.Info("admission webhook listens", "address", listener.Addr().String())
	return sync.OnceFunc(func() { cancel(); <-ended; <-ended }), nil
}

// openCertificate gives where the server takes its certificate from, and what keeps that up to date.
func (f *webhookFlags) openCertificate(api *apiFlags, log *slog.Logger) (
	get func(*tls.ClientHelloInfo) (*tls.Certificate, error), follow func(context.Context) error, err error,
) {
	if f.selfMade {
		config, err := api.config()
		if err != nil {
			return nil, nil, err
		}
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			return nil, nil, fmt.Errorf("reach the API server: %w", err)
		}
		made := &admission.SelfMade{
			Client: client, Secret: f.secret.Key, Service: f.service.Key, Configuration: f.configuration, Lifetime: f.lifetime, Log: log,
		}
		return made.Certificate, made.Run, nil
	}
	files, err := admission.OpenFiles(f.certificate, f.key, log)
	if err != nil {
		return nil, nil, err
	}
	return files.Certificate, files.Run, nil
}
