// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"errors"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

// addressKey is what limits are counted by unless the admin says otherwise; package model has nothing for it.
const addressKey = "$binary_remote_addr"

// mostKilobytes keeps bytes within what Lua's numbers hold exactly.
const mostKilobytes = 1 << 26

var limit = Group{
	Name: "rate-limit", Doc: "What the limits that annotations set count by, and how they answer.",
	Keys: []Key{
		Parsed("limit-conn-status-code", "status from 400 to 599", Spec{
			Default: "503", Example: "429", Reload: true,
			Doc: "The answer to requests beyond limit-connections.",
		}, parseRefusal, func(d *draft, v int) { d.ConnectionLimitStatus = v }),

		Parsed("limit-conn-zone-variable", "text with variables", Spec{
			Default: addressKey, Example: "$http_x_api_key",
			Doc: "What tells clients apart for limit-connections, limit-rps and limit-rpm. Requests for which it is empty are not limited. Clients with one of the " +
				"addresses of limit-allowlist are exempt whatever it is.",
		}, parseLimitKey, func(d *draft, v model.Template) { d.LimitKey = v }),

		Int("limit-rate", Spec{
			Default: "0", Example: "512",
			Doc: "Default of the annotation: kilobytes per second of a response; 0 means no bound.",
		}, func(d *draft, v int) { d.Route.Bandwidth.Rate = int64(min(v, mostKilobytes)) << 10 }),

		Int("limit-rate-after", Spec{
			Default: "0", Example: "1024",
			Doc: "Default of the annotation: kilobytes of a response that are sent before limit-rate counts.",
		}, func(d *draft, v int) { d.Route.Bandwidth.After = int64(min(v, mostKilobytes)) << 10 }),

		Parsed("limit-req-status-code", "status from 400 to 599", Spec{
			Default: "503", Example: "429",
			Doc: "The answer to requests beyond limit-rps and limit-rpm.",
		}, parseRefusal, func(d *draft, v int) { d.LimitStatus = v }),
	},
}

// parseRefusal reads a status that says no.
func parseRefusal(text string) (int, error) {
	v, err := parseInt(text, 0)
	if err != nil || v < 400 || v > 599 {
		return 0, errors.New("is not a status from 400 to 599")
	}
	return v, nil
}

// parseLimitKey gives an empty template for the client's address.
func parseLimitKey(text string) (model.Template, error) {
	key, err := value.Template(text)
	switch {
	case err != nil:
		return "", err
	case key == "${binary_remote_addr}" || key == "":
		return "", nil
	case !strings.Contains(text, "$"):
		return "", errors.New("has no variable, so that all clients would be one")
	}
	return key, nil
}
