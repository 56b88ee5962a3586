// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kongtest

import (
	"slices"
	"strings"
)

// Bundled are the plugins of open-source Kong 3.9.
func Bundled() []string {
	return strings.Fields(`acl acme aws-lambda azure-functions basic-auth bot-detection correlation-id cors datadog file-log grpc-gateway grpc-web
		hmac-auth http-log ip-restriction jwt key-auth ldap-auth loggly oauth2 opentelemetry post-function pre-function prometheus proxy-cache
		rate-limiting redirect request-size-limiting request-termination request-transformer response-ratelimiting response-transformer session
		standard-webhooks statsd syslog tcp-log udp-log zipkin`)
}

// plugin is the schema of a plugin's configuration.
type plugin struct {
	fields []field
	// never are the scopes it refuses.
	never []string
	check func(config object) string
}

func flag(name string, fallback bool) field {
	return field{name: name, is: boolean, fallback: fallback}
}

func count(name string) field { return field{name: name, is: number, between: []float64{1, 1e15}} }

// plugins are those whose configuration is checked; that of others may be anything.
func plugins() map[string]plugin {
	noConsumer := []string{"consumer"}
	anonymous, hide := field{name: "anonymous"}, flag("hide_credentials", false)
	lists := func(name string) field {
		return field{name: name, is: record, required: true, fields: []field{
			list(array, "headers", nil), list(array, "querystring", nil), list(array, "body", nil),
		}}
	}
	replace := lists("replace")
	replace.fields = append(replace.fields, field{name: "uri"})
	rename := lists("rename")
	redis := field{name: "redis", is: record, required: true, fields: []field{
		{name: "host"}, {name: "port", is: integer, fallback: 6379.0, between: one16}, {name: "password"}, {name: "username"},
		{name: "database", is: integer, fallback: 0.0}, {name: "timeout", is: integer, fallback: 2000.0}, flag("ssl", false), flag("ssl_verify", false),
		{name: "server_name"},
	}}
	return map[string]plugin{
		"key-auth": {never: noConsumer, fields: []field{
			{name: "key_names", is: array, required: true, fallback: words("apikey"), of: &field{check: checkHeaderName}}, hide, anonymous,
			flag("key_in_header", true), flag("key_in_query", true), flag("key_in_body", false), flag("run_on_preflight", true), {name: "realm"},
		}},
		"basic-auth": {never: noConsumer, fields: []field{anonymous, hide, {name: "realm", fallback: "service"}}},
		"hmac-auth": {never: noConsumer, fields: []field{
			anonymous, hide, {name: "clock_skew", is: number, fallback: 300.0, between: []float64{0, 1e9}}, flag("validate_request_body", false),
			list(array, "enforce_headers", nil), {name: "algorithms", is: array, fallback: words("hmac-sha1", "hmac-sha256", "hmac-sha384", "hmac-sha512"),
				of: &field{among: words("hmac-sha1", "hmac-sha256", "hmac-sha384", "hmac-sha512", "hmac-sha224")}}, {name: "realm"},
		}},
		"jwt": {never: noConsumer, fields: []field{
			anonymous, {name: "uri_param_names", is: set, fallback: words("jwt"), of: &field{}},
			{name: "cookie_names", is: set, fallback: words(), of: &field{}},
			{name: "header_names", is: set, fallback: words("authorization"), of: &field{}}, {name: "key_claim_name", fallback: "iss"},
			flag("secret_is_base64", false), {name: "claims_to_verify", is: set, of: &field{among: words("exp", "nbf")}}, flag("run_on_preflight", true),
			{name: "maximum_expiration", is: number, fallback: 0.0, between: []float64{0, 31536000}}, {name: "realm"},
		}},
		"acl": {never: noConsumer, fields: []field{
			list(array, "allow", nil), list(array, "deny", nil), flag("hide_groups_header", false), flag("always_use_authenticated_groups", false),
		}, check: oneOf("allow", "deny")},
		"rate-limiting": {fields: []field{
			count("second"), count("minute"), count("hour"), count("day"), count("month"), count("year"),
			{name: "limit_by", fallback: "consumer", among: words("consumer", "credential", "ip", "service", "header", "path", "consumer-group")},
			{name: "header_name"}, {name: "path"}, {name: "policy", fallback: "local", among: words("local", "cluster", "redis")},
			flag("fault_tolerant", true), redis, flag("hide_client_headers", false), {name: "error_code", is: number, fallback: 429.0},
			{name: "error_message", fallback: "API rate limit exceeded"}, {name: "sync_rate", is: number, fallback: -1.0},
			{name: "redis_host"}, {name: "redis_port", is: integer}, {name: "redis_password"}, // shorthands of old
		}, check: oneOf("second", "minute", "hour", "day", "month", "year")},
		"request-termination": {fields: []field{
			{name: "status_code", is: integer, fallback: 503.0, between: []float64{100, 599}}, {name: "message"}, {name: "content_type"}, {name: "body"},
			flag("echo", false), {name: "trigger"},
		}},
		"request-transformer": {fields: []field{
			{name: "http_method", check: checkMethod}, lists("remove"), rename, replace, lists("add"), lists("append"),
		}},
		"response-transformer": {fields: []field{
			responseLists("remove"), responseLists("rename"), responseLists("replace"), responseLists("add"), responseLists("append"),
		}},
		"cors": {never: noConsumer, fields: []field{
			list(array, "origins", nil), list(array, "headers", nil), list(array, "exposed_headers", nil),
			{name: "methods", is: array, of: &field{among: words("GET", "HEAD", "PUT", "PATCH", "POST", "DELETE", "OPTIONS", "TRACE", "CONNECT")},
				fallback: words("GET", "HEAD", "PUT", "PATCH", "POST", "DELETE", "OPTIONS", "TRACE", "CONNECT")},
			{name: "max_age", is: number}, flag("credentials", false), flag("preflight_continue", false), flag("private_network", false),
			flag("allow_origin_absent", true),
		}},
		"ip-restriction": {fields: []field{
			list(array, "allow", checkIP), list(array, "deny", checkIP), {name: "status", is: number}, {name: "message"},
		}, check: oneOf("allow", "deny")},
		"request-size-limiting": {fields: []field{
			{name: "allowed_payload_size", is: integer, fallback: 128.0},
			{name: "size_unit", fallback: "megabytes", among: words("megabytes", "kilobytes", "bytes")},
			flag("require_content_length", false),
		}},
		"correlation-id": {fields: []field{
			{name: "header_name", fallback: "Kong-Request-ID"}, {name: "generator", fallback: "uuid#counter", among: words("uuid", "uuid#counter", "tracker")},
			flag("echo_downstream", false),
		}},
		"redirect": {fields: []field{
			{name: "status_code", is: integer, fallback: 301.0, between: []float64{100, 599}}, {name: "location", required: true, check: checkURL},
			flag("keep_incoming_path", false),
		}},
		"pre-function": {fields: functions()}, "post-function": {fields: functions()},
	}
}

func responseLists(name string) field {
	return field{name: name, is: record, required: true, fields: []field{
		list(array, "headers", nil), list(array, "json", nil), list(array, "json_types", nil), {name: "if_status", is: array, of: &field{}},
	}}
}

func functions() []field {
	var fields []field
	for _, phase := range []string{"certificate", "rewrite", "access", "header_filter", "body_filter", "log"} {
		fields = append(fields, list(array, phase, nil))
	}
	return fields
}

func oneOf(names ...string) func(object) string {
	return func(config object) string {
		if slices.ContainsFunc(names, func(name string) bool { return !isUnset(config[name]) }) {
			return ""
		}
		return "at least one of these fields must be non-empty: '" + strings.Join(names, "', '") + "'"
	}
}

// fillPlugin gives the configuration its defaults and carries shorthands over.
func (s *Simulator) fillPlugin(o object) {
	name, _ := o["name"].(string)
	p, known := s.pluginTable[name]
	config, isObject := o["config"].(object)
	if !known || !isObject {
		return
	}
	if name == "rate-limiting" {
		config = merge(config, nil)
		redis, _ := copied(orEmpty(config["redis"])).(object)
		for _, short := range []string{"host", "port", "password"} {
			if old := config["redis_"+short]; old != nil {
				redis[short] = old
			}
		}
		config["redis"] = redis
	}
	config = fill(p.fields, config, s.version)
	if name == "rate-limiting" {
		for _, short := range []string{"host", "port", "password"} {
			config["redis_"+short] = config["redis"].(object)[short]
		}
	}
	o["config"] = config
}

// checkPlugin adds what is wrong with a plugin to errs.
func (s *Simulator) checkPlugin(o, sent, errs object) {
	name, _ := o["name"].(string)
	if name == "" {
		return
	}
	if !slices.Contains(s.plugins, name) {
		errs["name"] = "plugin '" + name + "' not enabled; add it to the 'plugins' configuration property"
		return
	}
	p, known := s.pluginTable[name]
	if !known {
		return
	}
	for _, scope := range p.never {
		if o[scope] != nil {
			errs[scope] = "value must be null"
		}
	}
	if config, ok := o["config"].(object); ok {
		problems := validate(p.fields, config, s.version)
		if len(problems) == 0 && p.check != nil {
			if complaint := p.check(config); complaint != "" {
				problems["@entity"] = []any{complaint}
			}
		}
		if len(problems) > 0 {
			errs["config"] = problems
		}
	}
	if sent["protocols"] != nil && !s.overlaps(o) {
		errs["protocols"] = "must match the associated route's protocols"
	}
}

// overlaps tells whether the plugin and its route, or one of its service's, have a protocol in common.
func (s *Simulator) overlaps(o object) bool {
	var routes []object
	if id := idOf(o["route"]); id != "" {
		routes = append(routes, s.store.get("routes", id))
	} else if id := idOf(o["service"]); id != "" {
		for _, route := range s.store.childrenOf("routes", "services", id) {
			routes = append(routes, s.store.get("routes", route))
		}
	}
	if len(routes) == 0 {
		return true
	}
	return slices.ContainsFunc(routes, func(r object) bool {
		return r == nil || slices.ContainsFunc(texts(r["protocols"]), func(p string) bool { return slices.Contains(texts(o["protocols"]), p) })
	})
}
