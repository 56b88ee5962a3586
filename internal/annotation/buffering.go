// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

const (
	ownBuffers   = "Each new combination of these keys is a shape of its own."
	proxyModule  = "ngx_http_proxy_module"
	bufferBounds = "Sizes have bounds, units b and g count, and a value that does not go with the others has no effect; there such values passed or blocked every reload."
)

var buffering = Group{
	Name:   "buffering",
	Doc:    "How much of requests and responses the proxy holds. None of these but client-body-buffer-size counts for GRPC, GRPCS and FCGI.",
	finish: (*parser).settleBuffers,
	Keys: []Key{
		Parsed("client-body-buffer-size", "size", Spec{
			Scope: Route, Risk: Low, Refused: true, Default: "8k", Setting: "client-body-buffer-size", Example: "1m",
			Doc:    "Memory for a request body, 1k to 1g; what does not fit goes to a temporary file.",
			Source: "client_body_buffer_size of ngx_http_core_module", Shape: ownBuffers, Differs: bufferBounds,
		}, value.BodyBufferSize, func(e *Effect, v int64) { e.Policy.Buffers.RequestBody = v }),

		Parsed("proxy-buffer-size", "size", Spec{
			Scope: Route, Risk: Low, Default: "4k", Setting: "proxy-buffer-size", Example: "16k",
			Doc:    "Size of the buffer for the header of a response, and of each further buffer, 1k to 64m. A longer header is answered with 502.",
			Source: "proxy_buffer_size and proxy_buffers of " + proxyModule, Shape: ownBuffers, Differs: bufferBounds,
		}, value.BufferSize, func(e *Effect, v int64) { e.Policy.Buffers.Size = v }),

		Parsed("proxy-buffering", "on or off", Spec{
			Scope: Route, Risk: Low, Default: "off", Setting: "proxy-buffering", Example: "on",
			Doc:    "on reads a response ahead of the client, into buffers and a temporary file; off passes it on as it arrives.",
			Source: "proxy_buffering of " + proxyModule, Shape: ownBuffers,
		}, value.OnOff, func(e *Effect, v bool) { e.Policy.Buffers.Response = v }),

		Parsed("proxy-buffers-number", "number", Spec{
			Scope: Route, Risk: Low, Default: "4", Setting: "proxy-buffers-number", Example: "8",
			Doc:    "How many buffers a response has, 2 to 1024.",
			Source: "proxy_buffers of " + proxyModule, Shape: ownBuffers, Differs: bufferBounds,
		}, value.BufferNumber, func(e *Effect, v int) { e.Policy.Buffers.Number = v }),

		Parsed("proxy-busy-buffers-size", "size", Spec{
			Scope: Route, Risk: Low, Default: "two buffers", Setting: "proxy-busy-buffers-size", Example: "8k",
			Doc:    "How much of a response may be on its way to the client while the rest is still read: at least one buffer and at most all but one.",
			Source: "proxy_busy_buffers_size of " + proxyModule, Shape: ownBuffers, Differs: bufferBounds,
		}, value.BusySize, func(e *Effect, v int64) { e.Policy.Buffers.Busy = v }),

		Parsed("proxy-max-temp-file-size", "size", Spec{
			Scope: Route, Risk: Low, Default: "1024m", Setting: "proxy-max-temp-file-size", Example: "0",
			Doc:    "The largest temporary file for a response that is read ahead, at most 1024g and at least one buffer; 0 is for none.",
			Source: "proxy_max_temp_file_size of " + proxyModule, Shape: ownBuffers, Differs: bufferBounds,
		}, value.FileSize, func(e *Effect, v int64) { e.Policy.Buffers.MaxTempFile = v }),

		Parsed("proxy-request-buffering", "on or off", Spec{
			Scope: Route, Risk: Low, Default: "on", Setting: "proxy-request-buffering", Example: "off",
			Doc:    "on reads the whole body of a request before the backend is asked; off passes it on as it arrives, and then no second endpoint can be tried.",
			Source: "proxy_request_buffering of " + proxyModule, Shape: ownBuffers,
		}, value.OnOff, func(e *Effect, v bool) { e.Policy.Buffers.Request = v }),
	},
}

// settleBuffers sees to it that nginx takes what the keys say together.
func (p *parser) settleBuffers() {
	buffers := &p.effect.Policy.Buffers
	*buffers = buffers.Settle(p.settings.Route.Buffers, func(key, why string) {
		p.problem(key, model.ReasonInvalidAnnotation, "the value "+quote(p.given[key])+" "+why+"; what the setting "+key+" says is in force")
	})
}
