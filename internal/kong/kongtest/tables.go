// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kongtest

// schema is what Kong knows of a kind of entity.
type schema struct {
	name, singular string
	path           string // of the collection; empty where it is found below a parent alone
	below          string // in paths below a parent
	key            string // the field that stands for the id in paths
	fields         []field
	together       []string                         // fields that are unique together
	plugin         string                           // without which the collection is not there
	bare           bool                             // rows show neither id nor tags
	check          func(o object, v version) object // what spans several fields
}

const maxMilliseconds = 1<<31 - 2

var (
	one16   = []float64{0, 65535}
	byteMax = []float64{0, 255}
)

func list(is shape, name string, check func(string) string) field {
	return field{name: name, is: is, of: &field{is: text, check: check}}
}

func words(values ...any) []any { return values }

func numbers(values ...float64) []any {
	list := make([]any, len(values))
	for i, v := range values {
		list[i] = v
	}
	return list
}

func toOne(name, collection string, required, cascade bool) field {
	return field{name: name, is: reference, to: collection, required: required, cascade: cascade}
}

// meta are the fields of all kinds, before the given ones.
func meta(fields ...field) []field {
	return append([]field{
		{name: "id", is: text, required: true, check: checkUUID},
		{name: "created_at", is: number}, {name: "updated_at", is: number},
		list(set, "tags", checkTag),
	}, fields...)
}

func schemas(v version, flavor string) []*schema {
	all := []*schema{
		{
			name: "services", singular: "service", path: "services", below: "services", key: "name", check: checkService,
			fields: meta(
				field{name: "name", unique: true, check: checkName},
				field{
					name: "protocol", required: true, fallback: "http",
					among: words("grpc", "grpcs", "http", "https", "tcp", "tls", "tls_passthrough", "udp"),
				},
				field{name: "host", required: true, check: checkHost},
				field{name: "port", is: integer, required: true, fallback: 80.0, between: one16},
				field{name: "path", check: checkServicePath},
				field{name: "retries", is: integer, fallback: 5.0, between: []float64{0, 32767}},
				milliseconds("connect_timeout"), milliseconds("read_timeout"), milliseconds("write_timeout"),
				toOne("client_certificate", "certificates", false, false),
				field{name: "tls_verify", is: boolean},
				field{name: "tls_verify_depth", is: integer, between: []float64{0, 64}},
				list(array, "ca_certificates", checkUUID),
				field{name: "enabled", is: boolean, required: true, fallback: true},
			),
		},
		{
			name: "routes", singular: "route", path: "routes", below: "routes", key: "name", check: checkRoute,
			fields: meta(append(routeFields(v, flavor), toOne("service", "services", false, false))...),
		},
		{name: "upstreams", singular: "upstream", path: "upstreams", key: "name", check: checkUpstream, fields: upstreamFields()},
		{
			name: "targets", singular: "target", below: "targets", key: "target", together: []string{"upstream", "target"},
			fields: meta(
				field{name: "target", required: true, check: checkTarget},
				field{name: "weight", is: integer, fallback: 100.0, between: one16},
				toOne("upstream", "upstreams", true, true),
			),
		},
		{
			name: "certificates", singular: "certificate", path: "certificates", check: checkPairs,
			fields: meta(
				field{name: "cert", required: true, check: checkCertificate}, field{name: "key", required: true, check: checkKey},
				field{name: "cert_alt", check: checkCertificate}, field{name: "key_alt", check: checkKey},
			),
		},
		{
			name: "snis", singular: "sni", path: "snis", below: "snis", key: "name",
			fields: meta(field{name: "name", required: true, unique: true, check: checkSNI}, toOne("certificate", "certificates", true, true)),
		},
		{
			name: "ca_certificates", singular: "ca_certificate", path: "ca_certificates",
			fields: meta(field{name: "cert", required: true, check: checkCA}, field{name: "cert_digest", unique: true}),
		},
		{
			name: "plugins", singular: "plugin", path: "plugins", below: "plugins", key: "instance_name",
			together: []string{"name", "route", "service", "consumer"},
			fields: meta(
				field{name: "name", required: true},
				field{name: "instance_name", unique: true, check: checkName, since: version{3, 2}},
				toOne("service", "services", false, true), toOne("route", "routes", false, true), toOne("consumer", "consumers", false, true),
				field{name: "config", is: free, required: true, fallback: object{}},
				field{
					name: "protocols", is: set, required: true, fallback: words("grpc", "grpcs", "http", "https"),
					of: &field{among: words("grpc", "grpcs", "http", "https", "tcp", "tls", "tls_passthrough", "udp")},
				},
				field{name: "enabled", is: boolean, required: true, fallback: true},
			),
		},
		{
			name: "consumers", singular: "consumer", path: "consumers", key: "username", check: checkConsumer,
			fields: meta(field{name: "username", unique: true}, field{name: "custom_id", unique: true}),
		},
	}
	return append(all, credentials()...)
}

func milliseconds(name string) field {
	return field{name: name, is: integer, fallback: 60000.0, between: []float64{1, maxMilliseconds}}
}

func routeFields(v version, flavor string) []field {
	peer := &field{is: record, fields: []field{{name: "ip", check: checkIP}, {name: "port", is: integer, between: one16}}}
	fields := []field{
		{name: "name", unique: true, check: checkName},
		{
			name: "protocols", is: set, required: true, fallback: words("http", "https"),
			of: &field{among: words("grpc", "grpcs", "http", "https", "tcp", "tls", "tls_passthrough", "udp")},
		},
		list(set, "methods", checkMethod),
		list(array, "hosts", checkRouteHost),
		list(array, "paths", checkRoutePath(v, flavor)),
		{name: "headers", is: mapping, keys: checkRouteHeader, of: &field{is: array, of: &field{is: text}}},
		list(set, "snis", checkSNI),
		{name: "sources", is: set, of: peer}, {name: "destinations", is: set, of: peer},
		{name: "https_redirect_status_code", is: integer, required: true, fallback: 426.0, among: numbers(426, 301, 302, 307, 308)},
		{name: "regex_priority", is: integer, fallback: 0.0},
		{name: "strip_path", is: boolean, required: true, fallback: true},
		{name: "preserve_host", is: boolean, required: true, fallback: false},
		{name: "path_handling", fallback: "v0", among: words("v0", "v1")},
		{name: "request_buffering", is: boolean, required: true, fallback: true},
		{name: "response_buffering", is: boolean, required: true, fallback: true},
	}
	if flavor == "expressions" {
		fields = append(fields, field{name: "expression"}, field{name: "priority", is: integer, fallback: 0.0, between: []float64{0, 1<<46 - 1}})
	}
	return fields
}

func upstreamFields() []field {
	hash := words("none", "consumer", "ip", "header", "cookie", "path", "query_arg", "uri_capture")
	return meta(
		field{name: "name", required: true, unique: true, check: checkUpstreamName},
		field{name: "algorithm", fallback: "round-robin", among: words("consistent-hashing", "least-connections", "round-robin", "latency")},
		field{name: "hash_on", fallback: "none", among: hash}, field{name: "hash_fallback", fallback: "none", among: hash},
		field{name: "hash_on_header", check: checkHeaderName}, field{name: "hash_fallback_header", check: checkHeaderName},
		field{name: "hash_on_cookie"}, field{name: "hash_on_cookie_path", fallback: "/", check: checkServicePath},
		field{name: "hash_on_query_arg", since: version{3, 0}}, field{name: "hash_fallback_query_arg", since: version{3, 0}},
		field{name: "hash_on_uri_capture", since: version{3, 0}}, field{name: "hash_fallback_uri_capture", since: version{3, 0}},
		field{name: "slots", is: integer, fallback: 10000.0, between: []float64{10, 65536}},
		healthchecks(),
		field{name: "host_header", check: checkHostPort},
		toOne("client_certificate", "certificates", false, false),
		field{name: "use_srv_name", is: boolean, fallback: false, since: version{3, 1}},
	)
}

func healthchecks() field {
	kind := field{name: "type", fallback: "http", among: words("tcp", "http", "https", "grpc", "grpcs")}
	statuses := func(codes ...float64) field {
		return field{name: "http_statuses", is: set, fallback: numbers(codes...), of: &field{is: integer, between: []float64{100, 999}}}
	}
	count := func(name string) field { return field{name: name, is: integer, fallback: 0.0, between: byteMax} }
	seconds := func(name string, fallback float64) field {
		return field{name: name, is: number, fallback: fallback, between: one16}
	}
	part := func(name string, fields ...field) field {
		return field{name: name, is: record, required: true, fields: fields}
	}
	return part("healthchecks",
		part("active", kind, seconds("timeout", 1), field{name: "concurrency", is: integer, fallback: 10.0, between: []float64{1, 1 << 31}},
			field{name: "http_path", fallback: "/", check: checkServicePath},
			field{name: "https_verify_certificate", is: boolean, fallback: true}, field{name: "https_sni", check: checkSNI},
			field{name: "headers", is: mapping, keys: checkHeaderName, of: &field{is: array, of: &field{is: text}}},
			part("healthy", seconds("interval", 0), count("successes"), statuses(200, 302)),
			part("unhealthy", seconds("interval", 0), count("tcp_failures"), count("timeouts"), count("http_failures"),
				statuses(429, 404, 500, 501, 502, 503, 504, 505)),
		),
		part("passive", kind,
			part("healthy", count("successes"), statuses(200, 201, 202, 203, 204, 205, 206, 207, 208, 226, 300, 301, 302, 303, 304, 305, 306, 307, 308)),
			part("unhealthy", count("tcp_failures"), count("timeouts"), count("http_failures"), statuses(429, 500, 503)),
		),
		field{name: "threshold", is: number, fallback: 0.0, between: []float64{0, 100}},
	)
}

func credentials() []*schema {
	of := func(name, path, below, plugin, key string, fields ...field) *schema {
		return &schema{
			name: name, singular: name[:len(name)-1], path: path, below: below, plugin: plugin, key: key,
			fields: meta(append(fields, toOne("consumer", "consumers", true, true))...),
		}
	}
	jwt := of("jwt_secrets", "jwts", "jwt", "jwt", "key",
		field{name: "key", unique: true, random: true}, field{name: "secret", random: true},
		field{name: "algorithm", fallback: "HS256", among: words("HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "ES256", "ES384", "ES512",
			"PS256", "PS384", "PS512", "EdDSA")},
		field{name: "rsa_public_key", check: checkPublicKey})
	jwt.check = checkJWT
	acl := of("acls", "acls", "acls", "acl", "group", field{name: "group", required: true})
	acl.together = []string{"consumer", "group"}
	return []*schema{
		of("keyauth_credentials", "key-auths", "key-auth", "key-auth", "key",
			field{name: "key", unique: true, random: true}, field{name: "ttl", is: integer, between: []float64{0, 100000000}}),
		of("basicauth_credentials", "basic-auths", "basic-auth", "basic-auth", "username",
			field{name: "username", required: true, unique: true}, field{name: "password", required: true}),
		of("hmacauth_credentials", "hmac-auths", "hmac-auth", "hmac-auth", "username",
			field{name: "username", required: true, unique: true}, field{name: "secret", random: true}),
		jwt,
		of("oauth2_credentials", "oauth2", "oauth2", "oauth2", "client_id",
			field{name: "name", required: true}, field{name: "client_id", unique: true, random: true}, field{name: "client_secret", random: true},
			list(array, "redirect_uris", checkURL), field{name: "hash_secret", is: boolean, fallback: false},
			field{name: "client_type", fallback: "confidential", among: words("confidential", "public")}),
		acl,
	}
}
