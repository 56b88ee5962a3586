// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

var http2 = Group{
	Name: "http2", Doc: "Server push, which clients and nginx have given up.",
	Keys: []Key{
		Bool("http2-push-preload", Spec{
			Scope: Route, Risk: Low, Refused: true, Default: "false", Example: "true",
			Doc:    "Has no effect, as in the predecessor: nothing is pushed. Link headers of the backend reach the client, which may preload by them.",
			Source: "http2_push_preload of ngx_http_v2_module, removed in nginx 1.25.1",
		}, func(*Effect, bool) {}),
	},
}
