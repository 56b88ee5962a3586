// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

var headers = Group{
	Name: "headers",
	Doc: "Headers of all requests and responses. ConfigMaps of headers have a header's name as key, and as value text with variables. A change of one " +
		"counts at once. A header that is not understood is left out, with a Problem, and so are those of requests that Fairway sets itself.",
	Keys: []Key{
		Parsed("add-headers", "namespace/name of a ConfigMap", Spec{
			Default: none, Example: "ingress-nginx/added-headers", Reload: true,
			Differs: "A changed ConfigMap counts at once, and values are headers' values, not nginx text.",
			Doc:     "Headers of every response, in place of the backend's. The first use and the end of it cost a reload, other headers do not.",
		}, parseConfigMap, func(d *draft, v model.Ref) { d.Headers.ResponseFrom = v }),

		Bool("allow-backend-server-header", Spec{
			Default: "false", Example: "true", Reload: true,
			Doc: "Shows the backend's Server header, where server-tokens shows one.",
		}, func(d *draft, v bool) { d.Headers.BackendServer = v }),

		Bool("generate-request-id", Spec{
			Default: "true", Example: "false", Reload: true,
			Doc: "Gives requests without the header X-Request-ID one. It goes to the backend, and into the log as $req_id.",
		}, func(d *draft, v bool) { d.Headers.NoRequestID = !v }),

		Parsed("hide-headers", "header names", Spec{
			Default: none, Example: "X-Powered-By,X-Runtime", Reload: true,
			Doc: "Headers of backends that clients do not get.",
		}, value.HeaderNames, func(d *draft, v []string) { d.Headers.Hide = v }),

		Bool("proxy-add-original-uri-header", Spec{
			Default: "false", Example: "true",
			Doc: "Tells backends the client's request target in the header X-Original-URI.",
		}, func(d *draft, v bool) { d.Headers.OriginalURI = v }),

		Parsed("proxy-set-headers", "namespace/name of a ConfigMap", Spec{
			Default: none, Example: "ingress-nginx/request-headers",
			Differs: "A changed ConfigMap counts at once; headers that Fairway sets itself are refused, there they were sent twice.",
			Doc:     "Headers of every request to a backend, in place of the client's.",
		}, parseConfigMap, func(d *draft, v model.Ref) { d.Headers.RequestFrom = v }),
	},
}

func parseConfigMap(text string) (model.Ref, error) { return value.Reference("ConfigMap", "", text) }
