// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

// The files that stand for standard output and standard error: links to those in the predecessor's image.
const (
	standardOutput = "/var/log/nginx/access.log"
	standardError  = "/var/log/nginx/error.log"
)

// withSnippet is said of what counts for nginx' own sessions too.
const withSnippet = " With stream-snippet it counts for the sessions there as well, and a change costs a reload."

var log = Group{
	Name: "log", Doc: "The access logs of requests and of TCP and UDP sessions, and the error log.",
	Keys: []Key{
		Parsed("access-log-params", "buffer=SIZE, flush=TIME, gzip or gzip=LEVEL", Spec{
			Default: none, Example: "buffer=16k flush=5s", Reload: true,
			Doc: "How access logs are written. Not used with syslog.",
		}, parseLogParams, func(d *draft, v []string) { d.Logs.Params = v }),

		Parsed("access-log-path", "absolute path", Spec{
			Default: standardOutput, Example: "/dev/stderr", Reload: true,
			Doc: "Where access logs go. The default is what --access-log says, usually standard output.",
		}, parseLogPath, func(d *draft, v string) { d.log.both = v }),

		Bool("disable-access-log", Spec{
			Default: "false", Example: "true", Reload: true,
			Doc: "Writes no access log.",
		}, func(d *draft, v bool) { d.log.none = v }),

		Bool("disable-http-access-log", Spec{
			Default: "false", Example: "true", Reload: true,
			Doc: "Writes no access log of requests.",
		}, func(d *draft, v bool) { d.log.noHTTP = v }),

		Bool("disable-stream-access-log", Spec{
			Default: "false", Example: "true",
			Doc: "Writes no access log of TCP and UDP sessions." + withSnippet,
		}, func(d *draft, v bool) { d.log.noStream = v }),

		Bool("enable-access-log-for-default-backend", Spec{
			Default: "false", Example: "true",
			Doc: "Logs also requests for hosts that no rule names.",
		}, func(d *draft, v bool) { d.DefaultBackendLog = v }),

		Bool("enable-auth-access-log", Spec{
			Default: "false", Example: "true", Reload: true,
			Doc: "Logs also the questions to the servers of external auth.",
		}, func(d *draft, v bool) { d.Logs.AuthLog = v }),

		Bool("enable-syslog", Spec{
			Default: "false", Example: "true", Reload: true, With: "syslog-host",
			Doc: "Sends the access log and the error log of requests to syslog-host instead.",
		}, func(d *draft, v bool) { d.log.syslog = v }),

		Enum("error-log-level", Spec{
			Default: "notice", Example: "warn", Reload: true,
			Doc: "The least severity that is logged.",
		}, errorLevels, errorLevels, func(d *draft, v string) { d.Logs.ErrorLevel = v }),

		Parsed("error-log-path", "absolute path", Spec{
			Default: standardError, Example: "/dev/stdout", Reload: true,
			Differs: "Messages about processes stay on standard error too.",
			Doc:     "Where the error log goes. The default is standard error, where messages about the processes themselves go in any case.",
		}, parseLogPath, func(d *draft, v string) { d.Logs.ErrorPath = v }),

		Parsed("http-access-log-path", "absolute path", Spec{
			Default: none, Example: "/dev/stderr", Reload: true,
			Doc: "Where the access log of requests goes, when not to access-log-path.",
		}, parseLogPath, func(d *draft, v string) { d.log.http = v }),

		Bool("log-format-escape-json", Spec{
			Default: "false", Example: "true", Reload: true,
			Doc: "Escapes variables in the access log of requests as JSON wants it.",
		}, func(d *draft, v bool) { d.log.json = v }),

		Bool("log-format-escape-none", Spec{
			Default: "false", Example: "true", Reload: true,
			Doc: "Escapes nothing in the access log of requests; this has precedence over JSON.",
		}, func(d *draft, v bool) { d.log.plain = v }),

		Parsed("log-format-stream", "log line with nginx variables", Spec{
			Default: model.DefaultStreamLogFormat, Example: `$remote_addr $status $session_time`,
			Doc: "The access log line of TCP and UDP sessions, see [tcp-udp.md](tcp-udp.md#log). What means nothing for them is -." + withSnippet,
		}, parseStreamLogFormat, func(d *draft, v string) { d.Logs.StreamFormat = v }),

		Parsed("log-format-upstream", "log line with nginx variables", Spec{
			Default: model.DefaultLogFormat, Example: `$remote_addr "$request" $status $request_time`, Reload: true,
			Doc: "The access log line. Control characters are refused.",
		}, parseLogFormat, func(d *draft, v string) { d.LogFormat = v }),

		Parsed("skip-access-log-urls", "request targets, or ~ and a regular expression, with commas between", Spec{
			Default: none, Example: "/health,~^/static/",
			Doc: "Requests whose target, with its query, is one of these or is found by one of the expressions are not logged. ~* is for an expression whatever the case.",
		}, parseMatches, func(d *draft, v []model.TextMatch) { d.SkipLog = v }),

		Parsed("stream-access-log-path", "absolute path", Spec{
			Default: none, Example: "/dev/stderr",
			Doc: "Where the access log of TCP and UDP sessions goes, when not to access-log-path." + withSnippet,
		}, parseLogPath, func(d *draft, v string) { d.log.stream = v }),

		Parsed("syslog-host", "name or address", Spec{
			Default: none, Example: "127.0.0.1", Reload: true, With: "enable-syslog",
			Doc: "The syslog server.",
		}, parseSyslogHost, func(d *draft, v string) { d.log.host = v }),

		Parsed("syslog-port", "port", Spec{
			Default: "514", Example: "5140", Reload: true, With: "enable-syslog",
			Doc: "Its UDP port.",
		}, within(1, 65535), func(d *draft, v int) { d.log.port = v }),
	},
}

var errorLevels = []string{"debug", "info", "notice", "warn", "error", "crit", "alert", "emerg"}

// logDraft is what the keys for logs say together.
type logDraft struct {
	both, http, stream     string
	none, noHTTP, noStream bool
	json, plain            bool
	syslog                 bool
	host                   string
	port                   int
}

// finishLogs decides where logs go. Syslog without a server is reported.
func (d *draft) finishLogs(problem func(name, message string)) {
	l, to := d.log, &d.Logs
	d.AccessLog, to.NoStream = !l.none && !l.noHTTP, l.none || l.noStream
	switch {
	case l.plain:
		to.Escape = "none"
	case l.json:
		to.Escape = "json"
	}
	to.HTTP, to.Stream = l.both, l.both
	if l.http != "" {
		to.HTTP = l.http
	}
	if l.stream != "" {
		to.Stream = l.stream
	}
	if !l.syslog {
		return
	}
	if l.host == "" {
		problem("enable-syslog", "syslog-host is missing; logs go where they would without enable-syslog")
		return
	}
	server := "syslog:server=" + l.host + ":" + strconv.Itoa(l.port)
	to.HTTP, to.HTTPErrors, to.Params = server, server, nil
}

// parseStreamLogFormat passes over what is neither known here nor, elsewhere, to nginx.
func parseStreamLogFormat(text string) (string, error) {
	var unknown []string
	for _, part := range model.SplitLogFormat(text) {
		if v := part.Variable; v != "" && !slices.Contains(model.StreamVariables, v) && !model.IsForeignStreamVariable(v) && !slices.Contains(unknown, "$"+v) {
			unknown = append(unknown, "$"+v)
		}
	}
	text, err := parseLogFormat(text)
	if err == nil && len(unknown) > 0 {
		return text, remark("has " + strings.Join(unknown, ", ") + ", which TCP and UDP services don't know; there - is written instead")
	}
	return text, err
}

// parseLogPath gives "" for a standard stream.
func parseLogPath(text string) (string, error) {
	switch {
	case text == standardOutput || text == standardError || text == "":
		return "", nil
	case text[0] != '/' || len(text) > 4096 || hasControl(text) || strings.ContainsAny(text, "${}"):
		return "", errors.New("is not an absolute path without $, { and }")
	}
	return text, nil
}

func parseLogParams(text string) ([]string, error) {
	words := strings.Fields(text)
	for _, word := range words {
		name, arg, given := strings.Cut(word, "=")
		var err error
		switch {
		case name == "buffer" && given:
			_, err = value.BodyBufferSize(arg)
		case name == "flush" && given:
			_, err = parseDuration(arg)
		case name == "gzip" && given:
			_, err = within(1, 9)(arg)
		case word == "gzip":
		default:
			err = errors.New("is none of buffer=, flush= and gzip")
		}
		if err != nil {
			return nil, fmt.Errorf("has %.60q, which %w", word, err)
		}
	}
	if slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "flush=") }) &&
		!slices.ContainsFunc(words, func(w string) bool { return w[:3] != "flu" }) {
		return nil, errors.New("has flush= without buffer= or gzip")
	}
	return words, nil
}

func parseSyslogHost(text string) (string, error) {
	if a, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil && a.Zone() == "" {
		if a.Is6() {
			return "[" + a.String() + "]", nil
		}
		return a.String(), nil
	}
	if !value.IsHostName(text) {
		return "", errors.New("is neither a name nor an address")
	}
	return text, nil
}

// parseMatches reads texts, and expressions behind ~ or ~*.
func parseMatches(text string) ([]model.TextMatch, error) {
	var list []model.TextMatch
	for _, item := range parseList(text) {
		m := model.TextMatch{Text: strings.ToLower(item)}
		if expression, found := strings.CutPrefix(item, "~"); found {
			m.Pattern = true
			m.Text, m.IgnoreCase = strings.CutPrefix(expression, "*")
			m.Text = strings.TrimSpace(m.Text)
			if _, err := value.Pattern(m.Text); err != nil || m.Text == "" {
				return nil, fmt.Errorf("has %.60q, which is no regular expression", item)
			}
		}
		if hasControl(m.Text) {
			return nil, errors.New("contains control characters")
		}
		list = append(list, m)
	}
	return list, nil
}
