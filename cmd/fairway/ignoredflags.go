// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"log/slog"

	"github.com/spf13/pflag"
)

// ignoredFlags are flags of the predecessor that are taken, so that its arguments can stay as they are, but do nothing. Each says
// why, in the help and in a warning when it is given.
var ignoredFlags = []struct {
	name, why string
	bool      bool
}{
	{"tcp-services-configmap", "TCP services are not proxied yet", false},
	{"udp-services-configmap", "UDP services are not proxied yet", false},
	{"enable-ssl-passthrough", "TLS passthrough is not there yet", true},
	{"ssl-passthrough-proxy-port", "TLS passthrough is not there yet", false},
	{"default-server-port", "the built-in 404 page needs no port", false},
	{"status-port", "nginx is asked over a unix socket in the runtime directory", false},
	{"stream-port", "nginx is told over a unix socket in the runtime directory", false},
	{"internal-logger-address", "nginx logs to standard output and standard error", false},
	{"health-check-timeout", "it never had an effect", false},
	{"sync-rate-limit", "changes are cheap and applied at once", false},
	{"dynamic-configuration-retries", "a change is repeated until it is in force", false},
	{"enable-ssl-chain-completion", "certificates are served as they are stored", true},
	{"disable-full-test", "the admission webhook always looks just at the Ingress and at those it could be in conflict with", true},
	{"maxmind-edition-ids", "GeoIP is not there yet", false},
	{"maxmind-license-key", "GeoIP is not there yet", false},
	{"maxmind-mirror", "GeoIP is not there yet", false},
	{"maxmind-retries-count", "GeoIP is not there yet", false},
	{"maxmind-retries-timeout", "GeoIP is not there yet", false},
	{"vmodule", "see --v and --log-format", false},
	{"logtostderr", "the log always goes to standard error", true},
	{"alsologtostderr", "the log always goes to standard error", true},
	{"stderrthreshold", "the log always goes to standard error", false},
	{"alsologtostderrthreshold", "the log always goes to standard error", false},
	{"legacy_stderr_threshold_behavior", "the log always goes to standard error", true},
	{"log_dir", "the log always goes to standard error", false},
	{"log_file", "the log always goes to standard error", false},
	{"log_file_max_size", "the log always goes to standard error", false},
	{"log_backtrace_at", "see --v and --log-format", false},
	{"add_dir_header", "see --log-format", true},
	{"skip_headers", "see --log-format", true},
	{"skip_log_headers", "see --log-format", true},
	{"one_output", "the log always goes to standard error", true},
}

// newIgnoredFlags takes any value: what has no effect can't be wrong.
func newIgnoredFlags() *pflag.FlagSet {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, f := range ignoredFlags {
		flags.String(f.name, "", "has no effect: "+f.why)
		flag := flags.Lookup(f.name)
		flag.Hidden = true // from --help, not from docs/flags.md
		if f.bool {
			flag.NoOptDefVal = "true"
		}
	}
	return flags
}

func warnOfIgnoredFlags(flags *pflag.FlagSet, log *slog.Logger) {
	for _, f := range ignoredFlags {
		if flags.Changed(f.name) {
			log.Warn("flag has no effect", "flag", "--"+f.name, "reason", f.why)
		}
	}
}
