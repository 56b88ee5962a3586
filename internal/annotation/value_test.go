// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"regexp"
	"strings"
	"testing"

	"github.com/fairway-ingress/fairway/internal/model"
)

func TestSize(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "1": 1, "10b": 10, "8k": 8192, "1M": 1 << 20, " 2 g ": 2 << 30} {
		if got, err := parseSize(text); err != nil || got != want {
			t.Errorf("%q gives %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "m", "-1", "+1", "1.5m", "1mb", "1t", "9223372036854775807g", "1m;", "0x10"} {
		if got, err := parseSize(text); err == nil {
			t.Errorf("%q gives %d", text, got)
		}
	}
}

func TestHostPort(t *testing.T) {
	for _, text := range []string{"a", "a.example", "a_b.example:8080", "10.0.0.1", "10.0.0.1:80", "[fd00::1]:80", "A.Example"} {
		if _, err := parseHostPort(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"$host", "a b", "a;", "a\nb", "a:0", "a:70000", "a:b", "-a", "a..b", "a/b", "{}", "fd00::1", "*.example", strings.Repeat("a", 300)} {
		if got, err := parseHostPort(text); err == nil {
			t.Errorf("%q gives %q", text, got)
		}
	}
}

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
		if got := nearest(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func FuzzPattern(f *testing.F) {
	f.Add("^a(b|c)*$")
	f.Add("(?!x)")
	f.Add("\\1")
	f.Fuzz(func(t *testing.T, text string) {
		v, err := ParsePattern(text)
		if err != nil {
			return
		}
		if len(v) > maxPattern || strings.ContainsAny(v, "\x00\r\n") {
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
		for _, text := range []string{e.CanaryRule.Header, e.CanaryRule.Cookie, e.CanaryRule.HeaderValue, string(f.Policy.Host), f.RewriteTarget} {
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
