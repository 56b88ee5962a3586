// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

// notYet are the predecessor's keys without an implementation. Controls among them close the routes of their Ingress; all others
// are reported and have no effect. A key that gets its implementation moves to the file of its group.
var notYet = []Group{
	{Name: "auth-tls", Doc: "Client certificates. Not supported yet.", Keys: []Key{
		closed("auth-tls-error-page", Host, High),
		closed("auth-tls-match-cn", Host, High),
		closed("auth-tls-pass-certificate-to-upstream", Host, Low, "false"),
		closed("auth-tls-secret", Host, Medium),
		closed("auth-tls-verify-client", Host, Medium, "off"),
		closed("auth-tls-verify-depth", Host, Low),
	}},
	{Name: "proxy-tls", Doc: "Certificates towards backends. Not supported yet.", Keys: []Key{
		ignored("proxy-ssl-ciphers", Route, Medium),
		ignored("proxy-ssl-name", Route, High),
		ignored("proxy-ssl-protocols", Route, Low),
		closed("proxy-ssl-secret", Route, Medium),
		ignored("proxy-ssl-server-name", Route, Low, "off"),
		closed("proxy-ssl-verify", Route, Low, "off"),
		ignored("proxy-ssl-verify-depth", Route, Low),
	}},
	{Name: "tls", Doc: "TLS towards clients. Not supported yet.", Keys: []Key{
		ignored("ssl-ciphers", Host, Low),
		ignored("ssl-prefer-server-ciphers", Host, Low),
	}},
	{Name: "mirror", Doc: "Copies of requests. Not supported yet.", Keys: []Key{
		ignored("mirror-host", Route, High),
		ignored("mirror-request-body", Route, Low),
		ignored("mirror-target", Route, High),
	}},
	{Name: "removed", Doc: "Keys that the predecessor dropped long ago. They have no effect there either.", Keys: []Key{
		ignored("add-base-url", Ingress, Low),
		ignored("base-url-scheme", Ingress, Low),
		ignored("enable-influxdb", Ingress, Low),
		ignored("grpc-backend", Ingress, Low),
		ignored("influxdb-host", Ingress, Low),
		ignored("influxdb-measurement", Ingress, Low),
		ignored("influxdb-port", Ingress, Low),
		ignored("influxdb-server-name", Ingress, Low),
		ignored("mirror-uri", Ingress, Low),
		ignored("secure-backends", Ingress, Low),
		ignored("secure-verify-ca-secret", Ingress, Low),
		ignored("session-cookie-hash", Ingress, Low),
	}},
}

// closed is a key whose loss would open something: it closes the routes. Harmless values ask for nothing.
func closed(name string, scope Scope, risk Risk, harmless ...string) Key {
	return Key{Name: name, Spec: Spec{Scope: scope, Risk: risk, NotYet: true, Closes: true, Harmless: harmless}}
}

// ignored is a key whose loss opens nothing.
func ignored(name string, scope Scope, risk Risk, harmless ...string) Key {
	return Key{Name: name, Spec: Spec{Scope: scope, Risk: risk, NotYet: true, Harmless: harmless}}
}

func aliased(key Key, alias string) Key {
	key.Alias = alias
	return key
}
