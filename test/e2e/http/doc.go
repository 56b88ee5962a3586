// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package http tests what a client sees: manifests are built by the production code and applied to a real nginx, which answers real
// requests. One nginx serves the whole package, so a case costs a push and its requests.
//
// Most cases are testdata/GROUP/CASE.txtar. A case has cluster.yaml, the manifests; optionally settings.yaml, the data of the settings
// ConfigMap, and further manifests that it applies on the way; and requests.txt, whose language is in script_test.go. Services
// web, blue, green, tls, grpc and grpcs are there for every case, with one real server each (backend_test.go) on port 80; a case may give Services of
// its own, to the same servers by the addresses ${web.ip} and ${web.port}. Ingresses need no class.
//
// What a text of requests can't say (WebSocket, gRPC, TLS details) is in Go beside them.
package http
