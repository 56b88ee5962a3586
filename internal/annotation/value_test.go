// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"maps"
	"regexp"
	"strings"
	"testing"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

func TestRewriteTarget(t *testing.T) {
	for _, text := range []string{"/", "/$1", "/a/$2$3", "$1", "/x-y.z_~:"} {
		if _, err := parseRewriteTarget(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"/$0", "/$", "/$uri", "/a b", "/?x", "/%20", "/{}", "/;", "/\n", strings.Repeat("/", 600)} {
		if got, err := parseRewriteTarget(text); err == nil {
			t.Errorf("%q gives %q", text, got)
		}
	}
}

func TestNearest(t *testing.T) {
	for name, want := range map[string]string{"canary-wieght": "canary-weight", "ssl-redirct": "ssl-redirect", "use_regex": "use-regex", "foo": "", "x": ""} {
		if got := value.Nearest(name, maps.Keys(index)); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func FuzzPattern(f *testing.F) {
	f.Add("^a(b|c)*$")
	f.Add("(?!x)")
	f.Add("\\1")
	f.Fuzz(func(t *testing.T, text string) {
		v, err := value.Pattern(text)
		if err != nil {
			return
		}
		if len(v) > value.MaxPattern || strings.ContainsAny(v, "\x00\r\n") {
			t.Errorf("%q was let through", v)
		}
		if _, err := regexp.Compile("(?i)^(?:" + v + ")"); err != nil && !strings.Contains(err.Error(), "too large") {
			t.Errorf("%q parses but does not compile: %v", v, err)
		}
	})
}

// FuzzParse checks that whatever an annotation says, the effect holds nothing but values of their types.
func FuzzParse(f *testing.F) {
	for _, group := range Groups() {
		for _, key := range group.Keys {
			f.Add(key.Name, key.Example)
		}
	}
	f.Add("upstream-vhost", "a;\nroot /;")
	settings := model.DefaultSettings()
	f.Fuzz(func(t *testing.T, key, value string) {
		e, problems := Parse("", model.Ref{Kind: "Ingress", Namespace: "a", Name: "b"}, map[string]string{
			DefaultPrefix + "/canary": "true", DefaultPrefix + "/" + key: value,
		}, &settings)
		f, more := Parse("", model.Ref{Kind: "Ingress", Namespace: "a", Name: "b"}, map[string]string{DefaultPrefix + "/" + key: value}, &settings)
		for _, p := range append(problems, more...) {
			if p.Field == "" || p.Reason == "" || p.Message == "" {
				t.Errorf("a problem lacks a part: %+v", p)
			}
		}
		host := strings.NewReplacer("${", "", "}", "").Replace(string(f.Policy.Host))
		for _, text := range []string{e.CanaryRule.Header, e.CanaryRule.Cookie, e.CanaryRule.HeaderValue, host, f.RewriteTarget} {
			if strings.ContainsAny(text, "\x00\r\n;{}") && text != e.CanaryRule.HeaderValue || strings.ContainsAny(text, "\x00\r\n") {
				t.Errorf("%q was let through", text)
			}
		}
		p := f.Policy
		if p.BodyLimit < 0 || p.Timeouts.Connect <= 0 || p.Timeouts.Read <= 0 || p.Timeouts.Send <= 0 || e.CanaryRule.Weight < 0 || e.CanaryRule.WeightTotal < 100 {
			t.Errorf("a number is out of bounds: %+v %+v", p, e.CanaryRule)
		}
	})
}
