// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"regexp"
	"strings"
	"testing"

	"github.com/fairway-ingress/fairway/internal/model"
)

// parsed gives the effect of annotations, by their keys without the prefix, with the settings' defaults.
func parsed(keys map[string]string) (*Effect, []model.Problem) {
	given := map[string]string{}
	for key, value := range keys {
		given[DefaultPrefix+"/"+key] = value
	}
	settings := model.DefaultSettings()
	return Parse("", model.Ref{Kind: "Ingress", Namespace: "default", Name: "one"}, given, &settings)
}

func TestRedirectParsers(t *testing.T) {
	for _, c := range []struct {
		name      string
		parse     func(string) (string, error)
		good, bad []string
	}{
		{"parseRedirect", parseRedirect, []string{"https://a.example/x?y=z&a=b,c", "/x", "a.example", "//a.example", "http://10.0.0.1:80"},
			[]string{"", "/a b", "/$uri", "/%0d", "/#x", "/\n", "/ü", "/\"", "/;", strings.Repeat("/", 2049)}},
		{"parseTemporal", parseTemporal, []string{"http://a.example", "HTTPS://a.example/x"},
			[]string{"", "/x", "a.example", "ftp://a.example", "httpx://a.example", "http:/a", "https://", "http://a.example/\r"}},
		{"parseAppRoot", parseAppRoot, []string{"/", "/app", "//a.example", "/a:b"}, []string{"", "app", "https://a.example", "/$host", "/a?b", "/\t"}},
	} {
		for _, text := range c.good {
			if v, err := c.parse(text); err != nil || v != text {
				t.Errorf("%s(%q): %q, %v", c.name, text, v, err)
			}
		}
		for _, text := range c.bad {
			if v, err := c.parse(text); err == nil {
				t.Errorf("%s(%q) gives %q", c.name, text, v)
			}
		}
	}
}

// FuzzRedirect checks that what goes into a Location header is a status that has one, and visible ASCII without blanks and variables.
func FuzzRedirect(f *testing.F) {
	f.Add("https://a.example/x", "308", "http://b.example", "307", "/app")
	f.Add("/x\r\nSet-Cookie: a=b", "304", "javascript:alert", "-1", "//x")
	f.Add("$request_uri", "", "http://$host", "99999999999999999999", "")
	location := regexp.MustCompile(`^[!#-~]+$`)
	f.Fuzz(func(t *testing.T, permanent, permanentCode, temporal, temporalCode, root string) {
		e, _ := parsed(map[string]string{
			"permanent-redirect": permanent, "permanent-redirect-code": permanentCode, "temporal-redirect": temporal, "temporal-redirect-code": temporalCode, "app-root": root,
		})
		if r := e.Policy.Redirect; r != nil {
			if r.Code < 301 || r.Code > 308 || r.Code > 303 && r.Code < 307 || !location.MatchString(r.URL) || strings.ContainsAny(r.URL, "$%") {
				t.Errorf("%+v", r)
			}
		}
		if a := e.Host.AppRoot; a != "" && (!location.MatchString(a) || a[0] != '/' || strings.Contains(a, "$")) {
			t.Errorf("app root %q", a)
		}
		if e.Closed != "" {
			t.Errorf("closed: %s", e.Closed)
		}
	})
}
