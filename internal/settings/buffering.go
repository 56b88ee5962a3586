// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"fmt"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

var buffering = Group{
	Name: "buffering",
	Doc:  "How much of requests and responses the proxy holds; annotations of the same names override these for their routes. A value that does not go with the others leaves its default in force.",
	Keys: []Key{
		Parsed("client-body-buffer-size", "size", Spec{
			Default: "8k", Example: "16k", Reload: true,
			Doc: "Memory for a request body, 1k to 1g; what does not fit goes to a temporary file.",
		}, value.BodyBufferSize, func(d *draft, v int64) { d.Route.Buffers.RequestBody = v }),

		Parsed("proxy-buffer-size", "size", Spec{
			Default: "4k", Example: "16k", Reload: true,
			Doc: "Size of the buffer for the header of a response, and of each further buffer, 1k to 64m.",
		}, value.BufferSize, func(d *draft, v int64) { d.Route.Buffers.Size = v }),

		Parsed("proxy-buffering", "on or off", Spec{
			Default: "off", Example: "on", Reload: true,
			Doc: "Reads a response ahead of the client.",
		}, value.OnOff, func(d *draft, v bool) { d.Route.Buffers.Response = v }),

		Parsed("proxy-buffers-number", "number", Spec{
			Default: "4", Example: "8", Reload: true,
			Doc: "How many buffers a response has, 2 to 1024.",
		}, value.BufferNumber, func(d *draft, v int) { d.Route.Buffers.Number = v }),

		Parsed("proxy-busy-buffers-size", "size", Spec{
			Default: none, Example: "12k", Reload: true,
			Doc: "How much of a response may be on its way to the client while the rest is still read; without it two buffers, or one where there are two.",
		}, value.BusySize, func(d *draft, v int64) { d.Route.Buffers.Busy = v }),

		Parsed("proxy-max-temp-file-size", "size", Spec{
			Default: "1024m", Example: "0", Reload: true,
			Doc: "The largest temporary file for a response that is read ahead, at most 1024g; 0 is for none.",
		}, value.FileSize, func(d *draft, v int64) { d.Route.Buffers.MaxTempFile = v }),

		Parsed("proxy-request-buffering", "on or off", Spec{
			Default: "on", Example: "off", Reload: true,
			Doc: "Reads the whole body of a request before the backend is asked.",
		}, value.OnOff, func(d *draft, v bool) { d.Route.Buffers.Request = v }),
	},
}

// finishBuffers sees to it that nginx takes what the keys of data say together.
func (d *draft) finishBuffers(problem func(name, message string), data map[string]string) {
	d.Route.Buffers = d.Route.Buffers.Settle(model.DefaultSettings().Route.Buffers, func(key, why string) {
		problem(key, fmt.Sprintf("the value %.60q %s; the default is in force: %s", data[key], why, index[key].Default))
	})
}
