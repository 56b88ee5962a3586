// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fairway-ingress/fairway/internal/value"
)

var connections = Group{
	Name: "connections", Doc: "How long clients may take, how much they may send as header, and how much of it is believed.",
	Keys: []Key{
		Seconds("client-body-timeout", Spec{
			Default: "60", Example: "10", Reload: true,
			Doc: "The longest pause between two reads of a request body, in seconds; then the answer is 408.",
		}, func(d *draft, v time.Duration) { d.Connections.BodyTimeout = v }),

		Parsed("client-header-buffer-size", "size", Spec{
			Default: "1k", Example: "4k", Reload: true,
			Doc: "The first buffer for the header of a request, 1k to 64k.",
		}, parseHeaderSize, func(d *draft, v int64) { d.Connections.HeaderBuffer = v }),

		Seconds("client-header-timeout", Spec{
			Default: "60", Example: "10", Reload: true,
			Doc: "How long a client may take to send the header of a request, in seconds; then the answer is 408.",
		}, func(d *draft, v time.Duration) { d.Connections.HeaderTimeout = v }),

		Parsed("default-type", "MIME type", Spec{
			Default: "text/html", Example: "text/plain", Reload: true,
			Doc: "The Content-Type of the proxy's own responses when nothing says otherwise.",
		}, parseType, func(d *draft, v string) { d.Connections.DefaultType = v }),

		Bool("enable-underscores-in-headers", Spec{
			Default: "false", Example: "true", Reload: true,
			Doc: "Takes request headers with _ in their name; otherwise they are left out as invalid.",
		}, func(d *draft, v bool) { d.Connections.Underscores = v }),

		Parsed("http2-max-concurrent-streams", "number from 1", Spec{
			Default: "128", Example: "32", Reload: true,
			Doc: "How many requests an HTTP/2 connection may have at once.",
		}, within(1, 1<<20), func(d *draft, v int) { d.Connections.Streams = v }),

		Bool("ignore-invalid-headers", Spec{
			Default: "true", Example: "false", Reload: true,
			Doc: "Leaves out request headers with an invalid name; false passes them on.",
		}, func(d *draft, v bool) { d.Connections.KeepInvalid = !v }),

		Int("keep-alive", Spec{
			Default: "75", Example: "10", Reload: true,
			Doc: "How long an idle connection of a client is kept, in seconds; 0 closes it after each response.",
		}, func(d *draft, v int) {
			d.Connections.KeepAlive = time.Duration(min(v, value.MostSeconds)) * time.Second
		}),

		Int("keep-alive-requests", Spec{
			Default: "1000", Example: "100", Reload: true,
			Doc: "How many requests a connection of a client may carry.",
		}, func(d *draft, v int) { d.Connections.KeepAliveRequests = v }),

		Parsed("large-client-header-buffers", "number and size", Spec{
			Default: "4 8k", Example: "8 16k", Reload: true,
			Doc: "Further buffers for the header of a request, 1 to 1024 of 1k to 1m: a longer request line is answered with 414, a longer header with 400.",
		}, parseLargeBuffers, func(d *draft, v buffers) {
			d.Connections.LargeHeaders, d.Connections.LargeHeaderSize = v.number, v.size
		}),
	},
}

func parseHeaderSize(text string) (int64, error) {
	v, err := value.Size(text)
	if err == nil && (v < 1<<10 || v > 64<<10) {
		err = errors.New("is not from 1k to 64k")
	}
	return v, err
}

type buffers struct {
	number int
	size   int64
}

func parseLargeBuffers(text string) (buffers, error) {
	words := strings.Fields(text)
	if len(words) != 2 {
		return buffers{}, fmt.Errorf("is not a number and a size such as %q", "4 8k")
	}
	number, err := within(1, 1024)(words[0])
	if err != nil {
		return buffers{}, err
	}
	size, err := value.Size(words[1])
	if err == nil && (size < 1<<10 || size > 1<<20) {
		err = errors.New("has a size that is not from 1k to 1m")
	}
	return buffers{number, size}, err
}
