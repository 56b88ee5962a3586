// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"strconv"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
)

// Traffic says what Lua counts of requests. Layout names it, so that what another configuration counted is recognized.
type Traffic struct {
	Options model.TrafficOptions
	Layout  string
}

// Measures is the variable from which fairway/traffic.lua reads all that nginx only tells by variables.
const Measures = "$upstream_connect_time$upstream_header_time$upstream_response_time$request_length|$bytes_sent"

// Lua gives the table that fairway/traffic.lua takes. Times are in milliseconds there.
func (t Traffic) Lua() string {
	o := t.Options
	var bounds, excluded []string
	for _, m := range model.Measures() {
		var list []string
		for _, b := range o.Bounds[m] {
			if m.IsTime() {
				b *= 1000
			}
			list = append(list, strconv.FormatFloat(b, 'g', 15, 64))
		}
		bounds = append(bounds, "{"+strings.Join(list, ", ")+"}")
		excluded = append(excluded, strconv.FormatBool(o.Excluded[m]))
	}
	table := func(items []string) string { return "{ " + strings.Join(items, ", ") + " }" }
	return table([]string{
		"layout = " + luaQuote(t.Layout), "bounds = " + table(bounds), "excluded = " + table(excluded),
		"per_host = " + strconv.FormatBool(o.PerHost), "undefined = " + strconv.FormatBool(o.Undefined),
		"classes = " + strconv.FormatBool(o.StatusClasses), "native = " + strconv.FormatBool(o.Values), "most = " + strconv.Itoa(o.MostSets),
	})
}
