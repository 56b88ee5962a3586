// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kongtest

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Rules that span several fields. Each gives errors in the form of validate.

func conditional(errs object, given string) object {
	errs["@entity"] = append(list0(errs["@entity"]), "failed conditional validation given value of field '"+given+"'")
	return errs
}

func list0(value any) []any {
	l, _ := value.([]any)
	return l
}

func checkService(o object, v version) object {
	errs := object{}
	protocol, _ := o["protocol"].(string)
	if slices.Contains([]string{"tcp", "tls", "udp", "tls_passthrough", "grpc", "grpcs"}, protocol) && o["path"] != nil {
		errs["path"] = "value must be null"
		conditional(errs, "protocol")
	}
	secure := []string{"https"}
	if v.atLeast(version{3, 2}) {
		secure = append(secure, "tls")
	}
	for _, name := range []string{"client_certificate", "tls_verify", "tls_verify_depth", "ca_certificates"} {
		if o[name] != nil && !slices.Contains(secure, protocol) {
			errs[name] = "value must be null"
			conditional(errs, "protocol")
		}
	}
	return errs
}

// matchers are the fields of which a route needs one, by protocol.
var matchers = map[string][]string{
	"http": {"methods", "hosts", "headers", "paths"}, "https": {"methods", "hosts", "headers", "paths", "snis"},
	"grpc": {"hosts", "headers", "paths"}, "grpcs": {"hosts", "headers", "paths", "snis"},
	"tcp": {"sources", "destinations"}, "udp": {"sources", "destinations"}, "tls": {"sources", "destinations", "snis"},
	"tls_passthrough": {"snis"},
}

var protocolGroups = [][]string{{"http", "https"}, {"grpc", "grpcs"}, {"tcp", "tls", "udp"}, {"tls_passthrough"}}

func checkRoute(o object, _ version) object {
	errs := object{}
	protocols := texts(o["protocols"])
	if len(protocols) == 0 {
		return errs
	}
	group := slices.IndexFunc(protocolGroups, func(g []string) bool { return slices.Contains(g, protocols[0]) })
	for _, p := range protocols {
		if group < 0 || !slices.Contains(protocolGroups[group], p) {
			errs["protocols"] = "these sets are mutually exclusive: ('http', 'https'), ('grpc', 'grpcs'), ('tcp', 'tls', 'udp'), ('tls_passthrough')"
			return errs
		}
	}
	if strings.HasPrefix(protocols[0], "grpc") && o["strip_path"] == true {
		errs["strip_path"] = "cannot set 'strip_path' when 'protocols' is 'grpc' or 'grpcs'"
	}
	checkMatchers(o, group, protocols, errs)
	return errs
}

func checkMatchers(o object, group int, protocols []string, errs object) {
	allowed := map[string]bool{}
	for _, p := range protocols {
		for _, m := range matchers[p] {
			allowed[m] = true
		}
	}
	expression, isExpression := o["expression"].(string)
	if _, err := parseExpression(expression); isExpression && err != nil {
		errs["expression"] = "invalid expression: " + err.Error()
	}
	some := isExpression
	for _, m := range []string{"methods", "hosts", "headers", "paths", "snis", "sources", "destinations"} {
		if isUnset(o[m]) {
			continue
		}
		if !allowed[m] {
			errs[m] = "cannot set '" + m + "' when 'protocols' is '" + strings.Join(protocols, "' or '") + "'"
		}
		if isExpression {
			errs["@entity"] = []any{"cannot set '" + m + "' together with 'expression'"}
		}
		some = true
	}
	if !some {
		errs["@entity"] = []any{"must set one of '" + strings.Join(matchers[protocolGroups[group][0]], "', '") + "' when 'protocols' is '" +
			strings.Join(protocols, "' or '") + "'"}
	}
}

func isUnset(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case []any:
		return len(v) == 0
	case object:
		return len(v) == 0
	}
	return false
}

func texts(value any) []string {
	var out []string
	for _, v := range list0(value) {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// hashFields are what hash_on and hash_fallback need besides; the names follow the prefix.
var hashFields = []string{"header", "query_arg", "uri_capture"}

func checkUpstream(o object, _ version) object {
	errs := object{}
	on, fallback := o["hash_on"], o["hash_fallback"]
	for _, name := range hashFields {
		for prefix, value := range map[string]any{"hash_on_": on, "hash_fallback_": fallback} {
			if value == name && o[prefix+name] == nil {
				errs[prefix+name] = "required field missing"
				conditional(errs, strings.TrimSuffix(prefix, "_"))
			}
		}
		if on == name && fallback == name && o["hash_on_"+name] != nil && o["hash_on_"+name] == o["hash_fallback_"+name] {
			errs["@entity"] = append(list0(errs["@entity"]), "values of these fields must be distinct: 'hash_on_"+name+"', 'hash_fallback_"+name+"'")
		}
	}
	if (on == "cookie" || fallback == "cookie") && o["hash_on_cookie"] == nil {
		errs["hash_on_cookie"] = "required field missing"
		conditional(errs, "hash_on")
	}
	if (on == "none" || on == "cookie") && fallback != "none" || fallback != "none" && on == fallback && !slices.Contains(hashFields, on.(string)) {
		errs["hash_fallback"] = "expected one of: none"
		conditional(errs, "hash_on")
	}
	return errs
}

// settleHashing makes algorithm and hash_on agree the way Kong does; sent is the body of the request.
func settleHashing(o, sent object) {
	switch algorithm := o["algorithm"]; {
	case algorithm == "least-connections" || algorithm == "latency":
		o["hash_on"] = "none"
	case sent["hash_on"] == "none":
		o["algorithm"] = "round-robin"
	case o["hash_on"] != nil && o["hash_on"] != "none":
		o["algorithm"] = "consistent-hashing"
	case algorithm == "consistent-hashing":
		o["algorithm"] = "round-robin"
	}
}

func checkPairs(o object, _ version) object {
	errs := object{}
	if complaint := checkPair(o["cert"], o["key"]); complaint != "" {
		errs["@entity"] = []any{complaint}
	}
	switch hasCert, hasKey := o["cert_alt"] != nil, o["key_alt"] != nil; {
	case hasCert != hasKey:
		errs["@entity"] = append(list0(errs["@entity"]), "all or none of these fields must be set: 'cert_alt', 'key_alt'")
	case hasCert:
		if complaint := checkPair(o["cert_alt"], o["key_alt"]); complaint != "" {
			errs["@entity"] = append(list0(errs["@entity"]), "alternative "+complaint)
		}
	}
	return errs
}

func checkConsumer(o object, _ version) object {
	if o["username"] == nil && o["custom_id"] == nil {
		const message = "at least one of these fields must be non-empty: 'custom_id', 'username'"
		return object{"@entity": []any{message}}
	}
	return object{}
}

func checkJWT(o object, _ version) object {
	algorithm, _ := o["algorithm"].(string)
	if (strings.HasPrefix(algorithm, "RS") || strings.HasPrefix(algorithm, "PS") || algorithm == "EdDSA") && o["rsa_public_key"] == nil {
		return conditional(object{"rsa_public_key": "required field missing"}, "algorithm")
	}
	return object{}
}

func checkTarget(s string) string {
	if _, err := normalTarget(s); err != "" {
		return err
	}
	return ""
}

// normalTarget adds the port 8000 where there is none and spells IPv6 in full.
func normalTarget(s string) (string, string) {
	const wrong = "Invalid target; not a valid hostname or ip address"
	host, port := s, "8000"
	if address, err := netip.ParseAddrPort(s); err == nil {
		host, port = address.Addr().String(), strconv.Itoa(int(address.Port()))
	} else if address, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil {
		host = address.String()
	} else if before, after, found := strings.Cut(s, ":"); found {
		host, port = before, after
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return "", wrong
	}
	if address, err := netip.ParseAddr(host); err == nil {
		if address.Is6() {
			host = "[" + address.StringExpanded() + "]"
		}
	} else if !isHostname(host) {
		return "", wrong
	}
	return host + ":" + port, ""
}
