// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fairway-ingress/fairway/internal/value"
)

var compression = Group{
	Name: "compression", Doc: "Compression of responses for clients that accept it. Responses that a backend has compressed itself pass as they are.",
	Keys: []Key{
		Parsed("brotli-level", "number from 0 to 11", Spec{
			Default: "4", Example: "6", Reload: true, With: "enable-brotli",
			Doc: "How hard Brotli tries.",
		}, within(0, 11), func(d *draft, v int) { d.Compression.BrotliLevel = v }),

		Int("brotli-min-length", Spec{
			Default: "20", Example: "1000", Reload: true, With: "enable-brotli",
			Doc: "Responses whose Content-Length is less, in bytes, are not compressed.",
		}, func(d *draft, v int) { d.Compression.BrotliMinLength = v }),

		Parsed("brotli-types", "MIME types", Spec{
			Default: "application/xml+rss application/atom+xml application/javascript application/x-javascript application/json application/rss+xml " +
				"application/vnd.ms-fontobject application/x-font-ttf application/x-web-app-manifest+json application/xhtml+xml application/xml " +
				"font/opentype image/svg+xml image/x-icon text/css text/javascript text/plain text/x-component",
			Example: "application/json text/css", Reload: true, With: "enable-brotli",
			Doc: "The Content-Types that are compressed besides text/html; * is for all.",
		}, parseTypes, func(d *draft, v []string) { d.Compression.BrotliTypes = v }),

		Bool("enable-brotli", Spec{
			Default: "false", Example: "true", Reload: true,
			Doc: "Compresses with Brotli. It takes nginx' Brotli module; where that is missing a Problem says so, and responses pass as they are.",
		}, func(d *draft, v bool) { d.Compression.Brotli = v }),

		Parsed("gzip-disable", "regular expression", Spec{
			Default: none, Example: "MSIE [1-6]\\.", Reload: true, With: "use-gzip",
			Doc: "Clients whose User-Agent it finds get no gzip.",
		}, value.Pattern, func(d *draft, v string) { d.Compression.GzipDisable = v }),

		Parsed("gzip-level", "number from 1 to 9", Spec{
			Default: "1", Example: "5", Reload: true, With: "use-gzip",
			Doc: "How hard gzip tries.",
		}, within(1, 9), func(d *draft, v int) { d.Compression.GzipLevel = v }),

		Int("gzip-min-length", Spec{
			Default: "256", Example: "1000", Reload: true, With: "use-gzip",
			Doc: "Responses whose Content-Length is less, in bytes, are not compressed.",
		}, func(d *draft, v int) { d.Compression.GzipMinLength = v }),

		Parsed("gzip-types", "MIME types", Spec{
			Default: "application/atom+xml application/javascript application/x-javascript application/json application/rss+xml " +
				"application/vnd.ms-fontobject application/x-font-ttf application/x-web-app-manifest+json application/xhtml+xml application/xml " +
				"font/opentype image/svg+xml image/x-icon text/css text/javascript text/plain text/x-component",
			Example: "application/json text/css", Reload: true, With: "use-gzip",
			Doc: "The Content-Types that are compressed besides text/html; * is for all.",
		}, parseTypes, func(d *draft, v []string) { d.Compression.GzipTypes = v }),

		Bool("use-gzip", Spec{
			Default: "false", Example: "true", Reload: true,
			Doc: "Compresses with gzip for HTTP/1.1 and later, and adds Vary: Accept-Encoding.",
		}, func(d *draft, v bool) { d.Compression.Gzip = v }),
	},
}

// within reads a whole number with bounds.
func within(least, most int) func(text string) (int, error) {
	return func(text string) (int, error) {
		v, err := parseInt(text, least)
		if err == nil && v > most {
			err = fmt.Errorf("is more than %d", most)
		}
		return v, err
	}
}

// parseTypes reads MIME types with blanks between. Text/html is left out, as nginx has it always.
func parseTypes(text string) ([]string, error) {
	var types []string
	for _, word := range strings.Fields(text) {
		if _, err := parseType(word); err != nil && word != "*" {
			return nil, err
		}
		if word != "text/html" && !slices.Contains(types, word) {
			types = append(types, word)
		}
	}
	if len(types) == 0 && !strings.Contains(text, "text/html") {
		return nil, errors.New("names no type")
	}
	return types, nil
}

// parseType reads a MIME type without parameters.
func parseType(text string) (string, error) {
	main, sub, _ := strings.Cut(text, "/")
	if main == "" || sub == "" || len(text) > 128 || !value.Only(main+sub, value.IsLetterOrDigit, "+-._") {
		return "", fmt.Errorf("has %.60q, which is no MIME type such as text/css", text)
	}
	return text, nil
}
