// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"

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
	warn, strict         bool
	validate, inspection bool
}

func (f *webhookFlags) flags() *pflag.FlagSet {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.StringVar(&f.address, "validating-webhook", "", "address of the admission webhook, host:port; empty for no webhook. See docs/admission.md")
	flags.StringVar(&f.certificate, "validating-webhook-certificate", "", "file with the webhook's certificate, read again when it changes")
	flags.StringVar(&f.key, "validating-webhook-key", "", "file with the key of that certificate")
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
	if f.certificate == "" || f.key == "" {
		return usageError{errors.New("--validating-webhook needs a certificate: give --validating-webhook-certificate and --validating-webhook-key")}
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
func (f *webhookFlags) start(ctx context.Context, objects controller.Source, options ingress.Options, m *metrics.Metrics, log *slog.Logger) (stop func(), err error) {
	if f.address == "" {
		return func() {}, nil
	}
	log = log.With("part", "webhook")
	source := objects.(*kube.Source) // check has refused others
	reviewer := &admission.Reviewer{Objects: source, Index: &admission.Index{}, Options: options, Strict: f.strict}
	source.FollowIngresses(reviewer.Index.Replace)
	certificate, follow, err := f.openCertificate(log)
	if err != nil {
		return nil, err
	}
	listener, err := f.port()[0].listen()
	if err != nil {
		return nil, err
	}
	handler := admission.NewHandler(reviewer, f.warn, m.Admission(constantLabels(options)), log)
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
	return func() { cancel(); <-ended; <-ended }, nil
}

// openCertificate gives where the server takes its certificate from, and what keeps that up to date.
func (f *webhookFlags) openCertificate(log *slog.Logger) (get func(*tls.ClientHelloInfo) (*tls.Certificate, error), follow func(context.Context) error, err error) {
	files, err := admission.OpenFiles(f.certificate, f.key, log)
	if err != nil {
		return nil, nil, err
	}
	return files.Certificate, files.Run, nil
}

// constantLabels are on every family that has the predecessor's name.
func constantLabels(options ingress.Options) prometheus.Labels {
	return prometheus.Labels{
		"controller_namespace": cmp.Or(os.Getenv("POD_NAMESPACE"), "default"), "controller_pod": os.Getenv("POD_NAME"),
		"controller_class": cmp.Or(options.ControllerClass, ingress.DefaultControllerClass),
	}
}
