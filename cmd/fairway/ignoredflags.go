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
	{"ssl-passthrough-proxy-port", "behind TLS passthrough nginx listens on a unix socket in --runtime-dir", false},
	{"default-server-port", "what no route matches is answered with 404 on the ports for HTTP and HTTPS; there is no other port for it", false},
	{"status-port", "nginx is asked over a unix socket in --runtime-dir; health and metrics are on --healthz-port", false},
	{"stream-port", "nginx is told over a unix socket in --runtime-dir", false},
	{"internal-logger-address", "there is no chroot image; nginx logs to standard output and standard error without a relay", false},
	{"health-check-timeout", "it never had an effect", false},
	{"sync-rate-limit", "changes are applied at once and cost no reload, so there is nothing to save by waiting", false},
	{"dynamic-configuration-retries", "a change that could not be applied is tried again until it is in force", false},
	{"enable-ssl-chain-completion", "certificates are served as they are stored and nothing is fetched from elsewhere; put intermediate certificates into tls.crt", true},
	{"disable-full-test", "the admission webhook always looks just at the Ingress and at those it could be in conflict with", true},
	{"vmodule", "all parts have the verbosity of --v", false},
	{"logtostderr", "the log always goes to standard error", true},
	{"alsologtostderr", "the log always goes to standard error, and nowhere else", true},
	{"stderrthreshold", "the log goes to standard error whatever its severity", false},
	{"alsologtostderrthreshold", "the log goes to standard error whatever its severity", false},
	{"legacy_stderr_threshold_behavior", "the log goes to standard error whatever its severity", true},
	{"log_dir", "the log goes to standard error, not to files", false},
	{"log_file", "the log goes to standard error, not to a file", false},
	{"log_file_max_size", "the log goes to standard error, not to a file", false},
	{"log_backtrace_at", "log lines have no stack traces", false},
	{"add_dir_header", "log lines do not name source files", true},
	{"skip_headers", "log lines are key=value or, with --log-format=json, JSON; they have no headers", true},
	{"skip_log_headers", "the log goes to standard error, not to files with headers", true},
	{"one_output", "each log line is written once", true},
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

// alreadySo are values with which these flags ask for what is so anyway. Deployments often have them, and need no warning.
var alreadySo = map[string]string{
	"enable-ssl-chain-completion": "false",
	"logtostderr":                 "true", "alsologtostderr": "false", "legacy_stderr_threshold_behavior": "true", "one_output": "true",
	"add_dir_header": "false", "skip_headers": "true", "skip_log_headers": "true",
}

func warnOfIgnoredFlags(flags *pflag.FlagSet, log *slog.Logger) {
	for _, f := range ignoredFlags {
		given := flags.Lookup(f.name)
		if given != nil && given.Changed && (alreadySo[f.name] == "" || given.Value.String() != alreadySo[f.name]) {
			log.Warn("flag has no effect", "flag", "--"+f.name, "reason", f.why)
		}
	}
}
