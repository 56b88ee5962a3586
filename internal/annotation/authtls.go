// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"errors"
	"strconv"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

// clientDraft is what the keys say about client certificates.
type clientDraft struct{ model.HostTLS }

const leaderOfClient = "auth-tls-secret"

var authTLS = Group{
	Name: "auth-tls", finish: finishClientTLS,
	Doc: "Demands certificates of clients, for whole hosts. All keys need auth-tls-secret; those of the oldest Ingress of a host that has it count for the host. A younger one that " +
		"demands what the host does not is closed. On each request the TLS server name and the Host header must be under the same demands, else the answer is 421. Backends of such hosts get " +
		"the headers ssl-client-verify, ssl-client-subject-dn and ssl-client-issuer-dn; what clients send under these names never passes, on no host.",
	Keys: []Key{
		Parsed("auth-tls-error-page", "http(s) URL, or a path", Spec{
			Scope: Host, Risk: High, Refused: true, Default: "the answer is 400", Example: "https://login.example.com/certificates",
			Doc: "Where clients go whose certificate is missing or fails: they are redirected to a URL by 302, and get what a GET of a path of the host gives. Segments of the path have " +
				"letters, digits, - _ and . only.",
			Source:  "error_page of ngx_http_core_module, done in Lua",
			Differs: "The name of a location, @name, is refused: there are no such locations.",
		}, parseErrorPage, func(e *Effect, v string) { e.client.ErrorPage = v }),

		Parsed("auth-tls-match-cn", "CN= and a regular expression", Spec{
			Scope: Host, Risk: High, Refused: true, Default: "none", Example: "CN=(alice|bob)",
			Doc: "The whole value is searched, as a regular expression and with regard to case, in the subject of the certificate as RFC 2253 writes it; without a match the answer is 403, over " +
				"plain HTTP too. 512 bytes, no look-around or back reference; a value that does not parse closes the host (403).",
			Source: "PCRE",
		}, parseMatchCN, func(e *Effect, v string) { e.client.MatchCN = v }),

		Bool("auth-tls-pass-certificate-to-upstream", Spec{
			Scope: Host, Risk: Low, Refused: true, Default: "false", Example: "true",
			Doc:    "Sends the certificate to the backend, as URL-encoded PEM in the header ssl-client-cert.",
			Source: "$ssl_client_escaped_cert of ngx_http_ssl_module",
		}, func(e *Effect, v bool) { e.client.PassCertificate = v }),

		Parsed(leaderOfClient, "namespace/name of a Secret", Spec{
			Scope: Host, Risk: Medium, Default: "none", Example: "default/client-ca",
			Doc: "The Secret whose ca.crt signs the certificates of clients, and whose ca.crl, if there is one, revokes them. If it is missing or holds anything else the host is closed (403) when " +
				"the Ingress is the oldest with this key, else the Ingress (503). Another namespace needs the setting allow-cross-namespace-resources. Plain HTTP is not checked.",
			Source:  "ngx_http_ssl_module, done in Lua",
			Differs: "A Secret without ca.crt closes the host; there nothing was demanded. A change of the Secret counts for open connections too.",
		}, present, func(*Effect, string) {}),

		Enum("auth-tls-verify-client", Spec{
			Scope: Host, Risk: Medium, Default: "on", Example: "optional",
			Doc: "on demands a certificate and verifies it. optional verifies one if it is sent. optional_no_ca lets certificates of unknown authorities pass too, and ssl-client-verify " +
				"says so. off asks for none. What does not pass is answered with 400, or by auth-tls-error-page.",
			Source: "ssl_verify_client of ngx_http_ssl_module, done in Lua",
		}, []Option[model.Verify]{
			{Text: "on", Value: model.VerifyOn}, {Text: "off", Value: model.VerifyOff},
			{Text: "optional", Value: model.VerifyOptional}, {Text: "optional_no_ca", Value: model.VerifyOptionalNoCA},
		}, func(e *Effect, v model.Verify) { e.client.Verify = v }),

		Int("auth-tls-verify-depth", Spec{
			Scope: Host, Risk: Low, Default: "1", Example: "2",
			Doc:    "How many authorities may stand between the client's certificate and one in ca.crt. 0 counts as 1.",
			Source: "ssl_verify_depth of ngx_http_ssl_module, done in Lua",
		}, func(e *Effect, v int) { e.client.Depth = min(v, mostDepth) }),
	},
}

// finishClientTLS makes what is asked for the hosts of what the keys say.
func finishClientTLS(p *parser) {
	if p.effect.Canary {
		return
	}
	if !p.has(leaderOfClient) {
		p.without(leaderOfClient, "auth-tls-error-page", "auth-tls-match-cn", "auth-tls-pass-certificate-to-upstream", "auth-tls-verify-client", "auth-tls-verify-depth")
		return
	}
	p.effect.client.Depth = max(p.effect.client.Depth, 1)
	p.lookupSecret(leaderOfClient, true, useClientSecret)
}

// useClientSecret completes what is asked for the hosts with what the Secret holds.
func useClientSecret(e *Effect, data map[string][]byte) error {
	t := e.client.HostTLS
	var err error
	if t.ClientCA, err = readAuthorities(data); err != nil {
		return err
	}
	if t.ClientCRL, err = readRevocations(data); err != nil {
		return err
	}
	if t.ClientCA == "" {
		return errors.New("names a Secret without ca.crt")
	}
	if asked := e.Host.TLS; asked != nil {
		t.Ciphers, t.PreferServer = asked.Ciphers, asked.PreferServer
	}
	e.Host.TLS = &t
	return nil
}

// parseMatchCN reads an expression that begins with "CN=". What does not parse closes the host.
func parseMatchCN(text string) (string, error) {
	if !strings.HasPrefix(text, "CN=") || text == "CN=" {
		return "", closingHost{errors.New("is not CN= and a regular expression"), leaderOfClient}
	}
	pattern, err := value.Pattern(text)
	if err != nil {
		return "", closingHost{err, leaderOfClient}
	}
	return pattern, nil
}

// parseErrorPage reads an http or https URL, or a path; of plain segments, without query.
func parseErrorPage(text string) (string, error) {
	if strings.HasPrefix(text, "@") {
		return "", errors.New("names a location of nginx, of which there is none")
	}
	path := text
	for _, scheme := range []string{"http://", "https://"} {
		rest, found := strings.CutPrefix(text, scheme)
		if !found {
			continue
		}
		host, inside, _ := strings.Cut(rest, "/")
		if !isHostAndPort(host) {
			return "", errors.New("has no valid host")
		}
		path = "/" + inside
	}
	if !strings.HasPrefix(path, "/") || len(text) > 1024 {
		return "", errors.New("is neither an http(s) URL nor a path")
	}
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "." || segment == ".." || !value.Only(segment, value.IsLetterOrDigit, "-_.") {
			return "", errors.New("has other characters in its path than letters, digits and . - _")
		}
	}
	return text, nil
}

// isHostAndPort tells whether text is a host name, or an IPv4 address, with an optional port.
func isHostAndPort(text string) bool {
	name, port, found := strings.Cut(text, ":")
	if found {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return false
		}
	}
	return value.IsHostName(name)
}
