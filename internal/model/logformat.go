// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package model

import "strings"

// LogPart is a piece of a log format: a variable, without its $, or text.
type LogPart struct{ Variable, Text string }

// SplitLogFormat reads a log format in nginx' words, with $name and ${name}. A $ without a name is text.
func SplitLogFormat(format string) (parts []LogPart) {
	text := ""
	for format != "" {
		before, after, found := strings.Cut(format, "$")
		text, format = text+before, after
		if !found {
			break
		}
		name, rest := cutName(after)
		if name == "" {
			text += "$"
			continue
		}
		if text != "" {
			parts = append(parts, LogPart{Text: text})
		}
		parts = append(parts, LogPart{Variable: name})
		text, format = "", rest
	}
	if text != "" {
		parts = append(parts, LogPart{Text: text})
	}
	return parts
}

// cutName gives the name of a variable that a text begins with, which may be in braces, and what is behind it.
func cutName(text string) (name, rest string) {
	inner, braced := strings.CutPrefix(text, "{")
	end := strings.IndexFunc(inner, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	if end < 0 {
		end = len(inner)
	}
	name, rest = inner[:end], inner[end:]
	if !braced {
		return name, rest
	}
	rest, closed := strings.CutPrefix(rest, "}")
	if !closed {
		return "", text
	}
	return name, rest
}

// StreamVariables are the variables of log-format-stream that mean something for TCP and UDP services.
var StreamVariables = []string{
	"binary_remote_addr", "bytes_received", "bytes_sent", "connection", "hostname", "msec", "pid", "protocol",
	"proxy_protocol_addr", "proxy_protocol_port", "proxy_protocol_server_addr", "proxy_protocol_server_port", "proxy_upstream_name",
	"realip_remote_addr", "realip_remote_port", "remote_addr", "remote_port", "server_addr", "server_port", "session_time", "status",
	"time_iso8601", "time_local", "upstream_addr", "upstream_bytes_received", "upstream_bytes_sent", "upstream_connect_time",
	"upstream_first_byte_time", "upstream_session_time",
}

// IsForeignStreamVariable tells whether nginx knows a variable in its streams that means nothing for TCP and UDP services.
func IsForeignStreamVariable(name string) bool {
	for _, prefix := range []string{"ssl_", "geoip_", "geoip2_", "proxy_protocol_tlv_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return name == "nginx_version"
}
