// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package value

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
)

// variables are the nginx variables that a tenant may name, beside those of the families below. What is Fairway's own, what
// names files, and what only makes sense inside the proxy is left out. Five are not nginx' own but the predecessor's: best_http_host,
// escaped_request_uri, pass_access_scheme, pass_port and pass_server_port.
var variables = []string{
	"ancient_browser", "args", "binary_remote_addr", "body_bytes_sent", "bytes_sent", "connection", "connection_requests", "content_length", "content_type",
	"best_http_host", "date_gmt", "date_local", "escaped_request_uri", "host", "hostname", "http2", "https", "is_args", "msec", "pass_access_scheme", "pass_port",
	"pass_server_port", "pid", "pipe",
	"proxy_add_x_forwarded_for", "proxy_host", "proxy_port", "proxy_upstream_name", "query_string", "remote_addr", "remote_port", "remote_user", "req_id", "request", "request_id",
	"request_length", "request_method", "request_time", "request_uri", "scheme", "server_addr", "server_name", "server_port", "server_protocol",
	"ssl_cipher", "ssl_client_escaped_cert", "ssl_client_fingerprint", "ssl_client_i_dn", "ssl_client_s_dn",
	"ssl_client_serial", "ssl_client_verify", "ssl_curves", "ssl_protocol", "ssl_server_name", "ssl_session_id", "ssl_session_reused", "status", "time_iso8601", "time_local", "uri",
}

// families are beginnings of names that nginx makes of a request.
var families = []string{"arg_", "cookie_", "http_"}

// ofRoute are the variables that say whose the route is. They have the same value for all its requests.
var ofRoute = []string{"namespace", "ingress_name", "service_name", "service_port"}

// Template reads text with nginx variables, $name or ${name}, and writes them all as ${name}.
func Template(text string) (model.Template, error) { return templateWith(text) }

// templateWith is Template where further variables count too.
func templateWith(text string, further ...string) (model.Template, error) {
	const most = 2048
	if len(text) > most {
		return "", fmt.Errorf("is longer than %d bytes", most)
	}
	var out strings.Builder
	for text != "" {
		before, after, found := strings.Cut(text, "$")
		if strings.ContainsFunc(before, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return "", errors.New("contains control characters")
		}
		if strings.Contains(before, "${") {
			return "", errors.New("is no text with variables")
		}
		out.WriteString(before)
		if !found {
			break
		}
		name, rest, err := cutVariable(after, further)
		if err != nil {
			return "", err
		}
		out.WriteString("${" + name + "}")
		text = rest
	}
	return model.Template(out.String()), nil
}

// cutVariable takes the name of a variable, what stands after "$", from the beginning of text. Some may be further than the usual ones.
func cutVariable(text string, further []string) (name, rest string, err error) {
	inner, braced := strings.CutPrefix(text, "{")
	end := 0
	for end < len(inner) && (IsLetterOrDigit(inner[end]) || inner[end] == '_') {
		end++
	}
	name, rest = strings.ToLower(inner[:end]), inner[end:]
	if braced {
		var closed bool
		if rest, closed = strings.CutPrefix(rest, "}"); !closed {
			return "", "", errors.New("has a ${ without }")
		}
	}
	if !isVariable(name) && !slices.Contains(further, name) {
		return "", "", fmt.Errorf("names the variable %q, which there is none of here", "$"+name)
	}
	return name, rest, nil
}

func isVariable(name string) bool {
	for _, family := range families {
		if len(name) > len(family) && strings.HasPrefix(name, family) {
			return true
		}
	}
	return slices.Contains(variables, name)
}

// TemplateOf is Template for text whose characters, beside letters, digits and variables, are among others. Blanks are dropped.
func TemplateOf(others string) func(text string) (model.Template, error) {
	return func(text string) (model.Template, error) { return templateOf(text, others) }
}

func templateOf(text, others string, further ...string) (model.Template, error) {
	text = strings.ReplaceAll(text, " ", "")
	if !Only(text, IsLetterOrDigit, others+"${}_") {
		return "", fmt.Errorf("has other characters than letters, digits, variables and %s", others)
	}
	return templateWith(text, further...)
}

// urlCharacters are those that the predecessor takes in URLs, beside letters and digits.
const urlCharacters = "-._~/:,?&=%+@#"

// URL reads an absolute http or https URL. Its host is a name or an address, with an optional port, or the variable $host or $http_host, which stands for this proxy itself; the path and
// the query may have variables.
func URL(text string) (model.URL, error) {
	var u model.URL
	template, err := TemplateOf(urlCharacters)(text)
	if err != nil {
		return u, err
	}
	scheme, rest, found := strings.Cut(string(template), "://")
	switch {
	case !found || scheme != "http" && scheme != "https":
		return u, errors.New("is no URL that begins with http:// or https://")
	case strings.Contains(rest, "#"):
		return u, errors.New("has a fragment")
	}
	u.HTTPS = scheme == "https"
	end := strings.IndexAny(rest, "/?")
	host, path := rest, "/"
	if end >= 0 {
		host, path = rest[:end], rest[end:]
		if path[0] == '?' {
			path = "/" + path
		}
	}
	if i := strings.Index(host, "${request_uri}"); i > 0 && end < 0 { // "http://mirror.example$request_uri": the variable begins with "/"
		host, path = host[:i], host[i:]
	} else if i > 0 {
		return u, errors.New("has $request_uri within the host")
	}
	u.Host, u.Path = model.Template(host), model.Template(path)
	if host == "${host}" || host == "${http_host}" {
		return u, nil
	}
	u.Backend, err = urlHost(host, u.HTTPS)
	return u, err
}

// urlHost reads "name:port" of a URL as a backend without namespace.
func urlHost(host string, https bool) (model.BackendID, error) {
	if strings.Contains(host, "$") {
		return model.BackendID{}, errors.New("has a variable in the host other than $host alone")
	}
	name, port := host, "80"
	if https {
		port = "443"
	}
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		name, port = host[:i], host[i+1:]
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return model.BackendID{}, errors.New("has no valid port")
	}
	if a, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil && a.Zone() == "" {
		return model.BackendID{Service: a.String(), Port: port}, nil
	}
	if !IsHostName(name) {
		return model.BackendID{}, errors.New("has no valid host")
	}
	return model.BackendID{Service: strings.ToLower(name), Port: port}, nil
}

// Reference reads "name" or "namespace/name" of an object; home is the namespace of a bare name.
func Reference(kind, home, text string) (model.Ref, error) {
	namespace, name, found := strings.Cut(strings.TrimSpace(text), "/")
	if !found {
		namespace, name = home, namespace
	}
	if !isObjectName(namespace) || !isObjectName(name) {
		return model.Ref{}, fmt.Errorf("is no name of a %s, such as %s/name", kind, home)
	}
	return model.Ref{Kind: kind, Namespace: namespace, Name: name}, nil
}

// isObjectName tells whether an object may have the name (RFC 1123 subdomain).
func isObjectName(name string) bool { return IsHostName(name) && name == strings.ToLower(name) }
