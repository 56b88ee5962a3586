// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

// dropped are keys that mean nothing here: most meant nothing any more in the predecessor's last version.
var dropped = Group{
	Name: "dropped", Doc: "Keys that are known but have no effect. Setting one is a Problem that says what to do instead.",
	Keys: append([]Key{
		drop("Resolver", "it was never meant to be set; names are looked up by the controller"),
		drop("app-root", "only the annotation app-root has an effect"),
		drop("global-external-auth", "it was never meant to be set; use global-auth-url and its kin"),
		drop("http2-max-field-size", "nginx bounds headers of HTTP/2 by large-client-header-buffers"),
		drop("http2-max-header-size", "nginx bounds headers of HTTP/2 by large-client-header-buffers"),
		drop("http2-max-requests", "nginx bounds requests of a connection by keep-alive-requests", "0"),
	}, append(jaeger(),
		drop("upstream-hash-by", "only the annotation upstream-hash-by has an effect"),
		drop("upstream-hash-by-subset", "only the annotation upstream-hash-by-subset has an effect", "false"),
		drop("upstream-hash-by-subset-size", "only the annotation upstream-hash-by-subset-size has an effect", "0"),
		drop("use-geoip", "databases of that format are no longer made; set use-geoip2", "false"),
	)...),
}

// jaeger are the keys of a tracing module that is gone.
func jaeger() []Key {
	var keys []Key
	for _, name := range []string{
		"baggage-header", "collector-host", "collector-port", "debug-header", "endpoint", "propagation-format", "sampler-host", "sampler-param", "sampler-port",
		"sampler-type", "service-name", "trace-baggage-header-prefix", "trace-context-header-name", "tracer-baggage-header-prefix",
	} {
		keys = append(keys, drop("jaeger-"+name, "spans go out by OpenTelemetry; set enable-opentelemetry and otlp-collector-host, which Jaeger understands"))
	}
	return keys
}

// drop is a key without effect. Harmless values ask for nothing.
func drop(name, instead string, harmless ...string) Key {
	return Key{Name: name, Spec: Spec{Instead: instead, Harmless: harmless}}
}
