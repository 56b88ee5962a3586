// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package translate

import (
	"regexp"
	"slices"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
)

// corsMethods are those that the plugin knows; it takes no others.
var corsMethods = strings.Fields("GET HEAD PUT PATCH POST DELETE OPTIONS TRACE CONNECT")

func (t *translation) corsConfig(r *route, c *model.CORS) map[string]any {
	config := map[string]any{"credentials": c.Credentials, "max_age": c.MaxAge, "preflight_continue": false}
	var origins []any
	for _, o := range c.Origins {
		if strings.Contains(o, "*.") { // to Kong what is no plain origin is an expression
			o = "^" + strings.ReplaceAll(regexp.QuoteMeta(o), "\\*\\.", "[^/.]+\\.") + "$"
		}
		origins = append(origins, o)
	}
	config["origins"] = origins
	var known []any
	for _, method := range items(c.Methods) {
		if slices.Contains(corsMethods, method.(string)) {
			known = append(known, method)
		} else {
			t.unsupported(r, "the method "+method.(string)+" in CORS", "it is left out")
		}
	}
	if len(known) == 0 { // without any the plugin allows all
		known = []any{"OPTIONS"}
	}
	for name, list := range map[string][]any{"methods": known, "headers": items(c.Headers), "exposed_headers": items(c.ExposeHeaders)} {
		if len(list) > 0 {
			config[name] = list
		}
	}
	return config
}

// items parts text at commas.
func items(text string) []any {
	var list []any
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			list = append(list, item)
		}
	}
	return list
}
