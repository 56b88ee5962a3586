// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/textproto"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/fairway-ingress/fairway/internal/kong/admin"
	"github.com/fairway-ingress/fairway/internal/konghq"
)

// The data planes.
const (
	nginxPlane = "nginx"
	kongPlane  = "kong"
)

// kongFlags say how Kong Gateways are found, reached and written to. Names and meanings are those of the Kong Ingress Controller.
type kongFlags struct {
	plane     string
	urls      []string
	service   keyFlag
	ports     []string
	workspace string
	headers   []string
	token     string
	tokenFile string
	tls       kongTLSFlags

	concurrency                      int
	timeoutSeconds                   float32
	interval, patience               time.Duration
	tag                              string
	reverse, drain, skipCA, openFail bool
	crossNamespace                   bool
	clusterDomain                    string

	useLast bool
	dump    kongDump
	pushes  pushTeller
	leads   leadQuestion
	// told hooks up what the leader writes about custom resources; nil for nothing.
	told func(*replica)
}

// kongTLSFlags are for an Admin API over TLS; what may be given as text may be given as a file.
type kongTLSFlags struct {
	skipVerify                 bool
	serverName                 string
	ca, caFile                 string
	cert, certFile, key, keyFl string
}

// kongNoEffect are flags of the Kong Ingress Controller that are taken and do nothing.
var kongNoEffect = []struct{ name, why string }{
	{"init-cache-sync-duration", "the first push comes when all objects are there"},
	{"kong-admin-init-retries", "gateways are asked until they answer"},
	{"kong-admin-init-retry-delay", "gateways are asked until they answer"},
	{"proxy-sync-seconds", "changes are pushed at once"},
}

func (f *kongFlags) flags() *pflag.FlagSet {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.StringVar(&f.plane, "data-plane", nginxPlane, "nginx, or kong to drive Kong Gateways through their Admin API instead; see docs/kong.md")
	flags.StringSliceVar(&f.urls, "kong-admin-url", []string{"http://localhost:8001"}, "addresses of the gateways' Admin API, comma-separated or repeated")
	flags.Var(&f.service, "kong-admin-svc", "namespace/name of the headless Service by whose endpoints gateways are found, in place of --kong-admin-url")
	flags.StringSliceVar(&f.ports, "kong-admin-svc-port-names", []string{"admin-tls", "kong-admin-tls"}, "names of its ports that count; those with tls in the name are spoken to over TLS")
	flags.StringVar(&f.workspace, "kong-workspace", "", "workspace of Kong Enterprise; it must exist")
	flags.StringSliceVar(&f.headers, "kong-admin-header", nil, "header name:value of every request to the Admin API")
	flags.StringVar(&f.token, "kong-admin-token", "", "token of Kong Enterprise's Admin API")
	flags.StringVar(&f.tokenFile, "kong-admin-token-file", "", "file with it, read again when it changes")
	f.tls.add(flags)
	flags.IntVar(&f.concurrency, "kong-admin-concurrency", 10, "requests to a gateway at the same time")
	flags.Float32Var(&f.timeoutSeconds, "proxy-timeout-seconds", 30, "seconds that a gateway without a database may take for its configuration")
	flags.DurationVar(&f.interval, "gateway-discovery-readiness-check-interval", 3*time.Second, "how often each gateway is looked at")
	flags.DurationVar(&f.patience, "gateway-discovery-readiness-check-timeout", 5*time.Second, "how long a gateway may take to answer then")
	flags.StringVar(&f.tag, "kong-admin-filter-tag", "managed-by-ingress-controller", "tag of all that is ours in a database; nothing else is touched there")
	flags.BoolVar(&f.reverse, "enable-reverse-sync", false, "repair what was changed by hand in a database; without one that is always so")
	flags.BoolVar(&f.drain, "enable-drain-support", true, "keep endpoints that end, yet still serve, as targets of weight 0")
	flags.BoolVar(&f.skipCA, "skip-ca-certificates", false, "leave CA certificates alone")
	flags.BoolVar(&f.openFail, "kong-open-without-plugin", false, "serve routes whose plugin for access control is missing or broken, instead of answering 503")
	flags.BoolVar(&f.crossNamespace, "kong-cross-namespace-plugins", false, "let objects name plugins of other namespaces without a ReferenceGrant")
	flags.StringVar(&f.clusterDomain, "cluster-domain", "", "domain behind the names of Services that are their own endpoint")
	flags.BoolVar(&f.useLast, "use-last-valid-config-for-fallback", true,
		"keep the last good form of what a gateway without a database refuses, as a database does, instead of leaving it out")
	f.dump.add(flags)
	for _, n := range kongNoEffect {
		flags.String(n.name, "", "has no effect: "+n.why)
		flags.Lookup(n.name).Hidden = true
	}
	return flags
}

func (f *kongTLSFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.skipVerify, "kong-admin-tls-skip-verify", false, "take any certificate of the Admin API")
	flags.StringVar(&f.serverName, "kong-admin-tls-server-name", "", "name that its certificate must be for")
	flags.StringVar(&f.ca, "kong-admin-ca-cert", "", "PEM of who may have signed it")
	flags.StringVar(&f.caFile, "kong-admin-ca-cert-file", "", "file with that")
	flags.StringVar(&f.cert, "kong-admin-tls-client-cert", "", "PEM of the certificate to show to the Admin API")
	flags.StringVar(&f.certFile, "kong-admin-tls-client-cert-file", "", "file with that, read again for each connection")
	flags.StringVar(&f.key, "kong-admin-tls-client-key", "", "PEM of its key")
	flags.StringVar(&f.keyFl, "kong-admin-tls-client-key-file", "", "file with that, read again for each connection")
}

// chosen tells whether the data plane is Kong.
func (f *kongFlags) chosen() bool { return f.plane == kongPlane }

// check finds mistakes that these flags make, by themselves and with others, and gives flags of classes the defaults that go with Kong.
func (f *kongFlags) check(flags *pflag.FlagSet, all *controllerFlags) error {
	fail := func(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }
	switch {
	case f.plane != nginxPlane && f.plane != kongPlane:
		return fail("--data-plane is %q; it can be nginx or kong", f.plane)
	case !f.chosen():
		return nil
	case f.service.Name != "" && flags.Changed("kong-admin-url"):
		return fail("--kong-admin-svc and --kong-admin-url exclude each other: give one of them")
	case f.service.Name != "" && all.manifests != "":
		return fail("--kong-admin-svc needs an API server; it goes not with --manifests")
	case f.token != "" && f.tokenFile != "":
		return fail("--kong-admin-token and --kong-admin-token-file exclude each other: give one of them")
	case f.concurrency < 1:
		return fail("--kong-admin-concurrency is %d; it must be 1 at least", f.concurrency)
	case f.interval < 100*time.Millisecond || f.patience < 100*time.Millisecond || f.timeoutSeconds <= 0:
		return fail("--gateway-discovery-readiness-check-interval and -timeout must be 100ms at least, and --proxy-timeout-seconds more than 0")
	case f.tag == "" || strings.ContainsAny(f.tag, ",/"):
		return fail("--kong-admin-filter-tag is %q; it must not be empty and holds neither , nor /", f.tag)
	}
	for _, url := range f.urls {
		if _, err := admin.New(admin.Options{URL: url}); err != nil {
			return usageError{fmt.Errorf("--kong-admin-url: %w", err)}
		}
	}
	if _, err := f.header(); err != nil {
		return usageError{err}
	}
	if err := f.dump.check(all); err != nil {
		return usageError{err}
	}
	if err := f.tls.check(); err != nil {
		return usageError{err}
	}
	for name, value := range map[string]*string{"ingress-class": &all.ingressClass, "controller-class": &all.controllerClass, "election-id": &all.electionID} {
		if !flags.Changed(name) {
			*value = kongDefaults[name]
		}
	}
	return nil
}

// kongDefaults are the defaults of other flags when the data plane is Kong: by the same Lease a running Kong Ingress Controller is kept out.
var kongDefaults = map[string]string{
	"ingress-class": konghq.DefaultIngressClass, "controller-class": konghq.DefaultControllerClass, "election-id": "5b374a9e.konghq.com",
}

// header gives the headers that do not change.
func (f *kongFlags) header() (http.Header, error) {
	header := http.Header{}
	for _, h := range f.headers {
		name, value, found := strings.Cut(h, ":")
		if name = textproto.TrimString(name); !found || name == "" || strings.ContainsAny(name, " \t\r\n") || strings.ContainsAny(value, "\r\n") {
			return nil, errors.New("--kong-admin-header must be of the form name:value")
		}
		header.Add(name, textproto.TrimString(value))
	}
	return header, nil
}
