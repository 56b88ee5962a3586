// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

// removed are keys that the predecessor had before v1.15.1, with what to use instead; they have no effect there either.
var removed = map[string]string{
	"add-base-url":            "let the backend write its own base element",
	"base-url-scheme":         "let the backend write its own base element",
	"enable-influxdb":         "use the metrics",
	"grpc-backend":            "use backend-protocol: GRPC",
	"influxdb-host":           "use the metrics",
	"influxdb-measurement":    "use the metrics",
	"influxdb-port":           "use the metrics",
	"influxdb-server-name":    "use the metrics",
	"mirror-uri":              "use mirror-target",
	"secure-backends":         "use backend-protocol: HTTPS",
	"secure-verify-ca-secret": "use proxy-ssl-secret and proxy-ssl-verify",
	"session-cookie-hash":     "use affinity-mode",
}
