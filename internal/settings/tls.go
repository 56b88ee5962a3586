// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

var tls = Group{
	Name: "tls", Doc: "TLS and HTTP/2 towards clients.",
	Keys: []Key{
		Bool("enable-ocsp", Spec{
			Default: "false", Example: "true",
			Doc: "Staples what the certificate's authority says of it (OCSP). The controller asks in the background and again before an " +
				"answer ends, so no handshake waits; until there is an " +
				"answer, and for names with certificates of several key algorithms, there is none. Responders with addresses of this host, " +
				"its link or the cloud's metadata are not asked.",
		}, func(d *draft, v bool) { d.TLS.OCSP = v }),

		Bool("hsts", Spec{
			Default: "true", Example: "false", Reload: true,
			Doc: "Adds the Strict-Transport-Security header to responses over TLS, in place of the backend's.",
		}, func(d *draft, v bool) { d.hsts.on = v }),

		Bool("hsts-include-subdomains", Spec{
			Default: "true", Example: "false", Reload: true,
			Doc: "Adds includeSubDomains to that header.",
		}, func(d *draft, v bool) { d.hsts.subdomains = v }),

		Int("hsts-max-age", Spec{
			Default: "31536000", Example: "86400", Reload: true,
			Doc: "The max-age of that header, in seconds.",
		}, func(d *draft, v int) { d.hsts.maxAge = v }),

		Bool("hsts-preload", Spec{
			Default: "false", Example: "true", Reload: true,
			Doc: "Adds preload to that header.",
		}, func(d *draft, v bool) { d.hsts.preload = v }),

		Parsed("ssl-buffer-size", "size", Spec{
			Default: "4k", Example: "16k", Reload: true,
			Doc: "The largest TLS record that is sent, 1k to 16m. Small ones bring the first byte earlier.",
		}, sizeWithin(1<<10, 16<<20, "1k to 16m"), func(d *draft, v int64) { d.TLS.BufferSize = v }),

		Parsed("ssl-ciphers", "OpenSSL cipher list", Spec{
			Default: "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:" +
				"ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:DHE-RSA-AES256-GCM-SHA384:DHE-RSA-AES128-GCM-SHA256",
			Example: "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256", Reload: true,
			Doc: "The ciphers of TLS 1.2 for all hosts.",
		}, parseCiphers, func(d *draft, v string) { d.TLSCiphers = v }),

		Parsed("ssl-dh-param", "namespace/name of a Secret", Spec{
			Default: none, Example: "ingress-nginx/dh-param", Reload: true,
			Doc: "The Secret whose key dhparam.pem holds Diffie-Hellman parameters of 2048 to 8192 bits, which the ciphers DHE-* need. What it holds is watched. Without one there are no such ciphers.",
		}, parseSecretRef, func(d *draft, v model.Ref) { d.TLS.DHParamsFrom = v }),

		Bool("ssl-early-data", Spec{
			Default: "false", Example: "true", Reload: true,
			Doc: "Takes requests in the first flight of TLS 1.3. They can be replayed by others, so backends get those that are passed on before " +
				"the handshake is complete with the header Early-Data: 1 (RFC 8470).",
		}, func(d *draft, v bool) { d.TLS.EarlyData = v }),

		Parsed("ssl-ecdh-curve", "auto, or groups with colons between", Spec{
			Default: "auto", Example: "X25519:P-256", Reload: true,
			Doc: "The groups of the key exchange, the preferred one first: " + strings.Join(curves, ", ") + ".",
		}, parseCurves, func(d *draft, v string) { d.TLS.Curves = v }),

		Parsed("ssl-protocols", "TLSv1.2, TLSv1.3, … separated by blanks", Spec{
			Default: "TLSv1.2 TLSv1.3", Example: "TLSv1.3", Reload: true,
			Doc: "The TLS versions that are accepted.",
		}, parseProtocols, func(d *draft, v string) { d.TLSProtocols = v }),

		Bool("ssl-reject-handshake", Spec{
			Default: "false", Example: "true",
			Doc: "Refuses handshakes for server names that no Ingress has, and those without a name, instead of showing them the default " +
				"certificate.",
		}, func(d *draft, v bool) { d.TLS.RejectUnknown = v }),

		Bool("ssl-session-cache", Spec{
			Default: "true", Example: "false", Reload: true,
			Doc: "Keeps TLS sessions in memory that all workers share, so that clients can resume them.",
		}, func(d *draft, v bool) { d.noSessionCache = !v }),

		Parsed("ssl-session-cache-size", "size", Spec{
			Default: "10m", Example: "32m", Reload: true,
			Doc: "The size of that memory, 64k to 1g; a megabyte holds some 4000 sessions.",
		}, sizeWithin(64<<10, 1<<30, "64k to 1g"), func(d *draft, v int64) { d.TLS.SessionCache = v }),

		Parsed("ssl-session-ticket-key", "base64 of 48 or 80 bytes", Spec{
			Default: none, Example: "ZXhhbXBsZTogdGFrZSB5b3VyIG93biwgb3BlbnNzbCByYW5kIC1iYXNlNjQgODAh", Confidential: true,
			Doc: "What encrypts the tickets of ssl-session-tickets, so that all replicas take them; make one with: openssl rand -base64 80. " +
				"It is never written to disk, and another key is in " +
				"force from the next handshake on. Without one nginx makes one at each start and reload; a change between none and one is a " +
				"reload.",
		}, parseTicketKey, func(d *draft, v model.Secret) { d.TLS.TicketKey = v }),

		Bool("ssl-session-tickets", Spec{
			Default: "false", Example: "true", Reload: true,
			Doc: "Gives clients their sessions to keep, so that they can resume them at any replica with the same ssl-session-ticket-key.",
		}, func(d *draft, v bool) { d.TLS.Tickets = v }),

		Parsed("ssl-session-timeout", "time with unit", Spec{
			Default: "10m", Example: "1h", Reload: true,
			Doc: "How long a session can be resumed.",
		}, parseDuration, func(d *draft, v time.Duration) { d.TLS.SessionTimeout = v }),

		Bool("use-http2", Spec{
			Default: "true", Example: "false", Reload: true,
			Doc: "Offers HTTP/2 to clients.",
		}, func(d *draft, v bool) { d.HTTP2 = v }),
	},
}

// curves are the groups that OpenSSL 3.0 knows, in the words that people use.
var curves = []string{
	"X25519", "X448", "P-256", "P-384", "P-521", "prime256v1", "secp256r1", "secp384r1", "secp521r1", "ffdhe2048", "ffdhe3072",
	"ffdhe4096", "ffdhe6144", "ffdhe8192",
}

// sameCurve are the other names of some, which a list must not have besides the first.
var sameCurve = map[string]string{"prime256v1": "P-256", "secp256r1": "P-256", "secp384r1": "P-384", "secp521r1": "P-521"}

func parseCurves(text string) (string, error) {
	if text == "auto" {
		return text, nil
	}
	var list []string
	for name := range strings.SplitSeq(text, ":") {
		if !slices.Contains(curves, name) {
			return "", fmt.Errorf("names a group %.30q that is none of %s", name, strings.Join(curves, ", "))
		}
		name = cmp.Or(sameCurve[name], name)
		if slices.Contains(list, name) {
			return "", fmt.Errorf("names the group %s twice", name)
		}
		list = append(list, name)
	}
	return strings.Join(list, ":"), nil
}

// parseTicketKey gives the base64 of 80 bytes, in nginx' order: name, HMAC, AES. A short key has 16 bytes each of name, AES and HMAC; the latter
// two are stretched, equally on all replicas.
func parseTicketKey(text string) (model.Secret, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil || len(key) != 48 && len(key) != 80 {
		return model.Secret{}, errors.New("is not base64 of 48 or 80 bytes; make one with: openssl rand -base64 80")
	}
	if len(key) == 48 {
		hmac, aes := sha256.Sum256(key[32:]), sha256.Sum256(key[16:32])
		key = slices.Concat(key[:16], hmac[:], aes[:])
	}
	return model.NewSecret(base64.StdEncoding.EncodeToString(key)), nil
}

// parseSecretRef reads namespace/name.
func parseSecretRef(text string) (model.Ref, error) {
	if !strings.Contains(text, "/") {
		return model.Ref{}, errors.New("is not namespace/name of a Secret")
	}
	return value.Reference("Secret", "", text)
}

// sizeWithin reads a size in bounds.
func sizeWithin(least, most int64, words string) func(string) (int64, error) {
	return func(text string) (int64, error) {
		v, err := value.Size(text)
		if err == nil && (v < least || v > most) {
			err = errors.New("is not from " + words)
		}
		return v, err
	}
}

// finishSessions leaves no cache where there is none to be.
func (d *draft) finishSessions() {
	if d.noSessionCache {
		d.TLS.SessionCache = 0
	}
}
