// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package value

import (
	"regexp"
	"strings"
	"testing"

	"github.com/fairway-ingress/fairway/internal/model"
)

func TestSize(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "1": 1, "10b": 10, "8k": 8192, "1M": 1 << 20, " 2 g ": 2 << 30} {
		if got, err := Size(text); err != nil || got != want {
			t.Errorf("%q gives %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "m", "-1", "+1", "1.5m", "1mb", "1t", "9223372036854775807g", "1m;", "0x10"} {
		if got, err := Size(text); err == nil {
			t.Errorf("%q gives %d", text, got)
		}
	}
}

func TestBounds(t *testing.T) {
	for _, test := range []struct {
		parse     func(string) (int64, error)
		good, bad []string
	}{
		{BufferSize, []string{"1k", "64m"}, []string{"0", "1023", "65m"}},
		{BusySize, []string{"1k", "64g"}, []string{"0", "65g"}},
		{BodyBufferSize, []string{"1k", "1g"}, []string{"0", "2g"}},
		{FileSize, []string{"0", "1", "1024g"}, []string{"1025g", "-1"}},
		{func(s string) (int64, error) { n, err := BufferNumber(s); return int64(n), err }, []string{"2", "1024", "+4"}, []string{"1", "1025", "", "4 ", "x"}},
	} {
		for _, text := range test.good {
			if _, err := test.parse(text); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		}
		for _, text := range test.bad {
			if v, err := test.parse(text); err == nil {
				t.Errorf("%q gives %d", text, v)
			}
		}
	}
}

func TestReplacements(t *testing.T) {
	for _, test := range []struct {
		parse    func(string) (*model.Replacement, error)
		text     string
		from, to string // empty when there is no replacement
		bad      bool
	}{
		{CookieDomain, "off", "", "", false},
		{CookieDomain, " .a.example  b.example ", "a.example", "b.example", false},
		{CookieDomain, "a.example", "", "", true},
		{CookieDomain, "a b c", "", "", true},
		{CookieDomain, ". b", "", "", true},
		{CookieDomain, "~a b", "", "", true},
		{CookieDomain, "a b;c", "", "", true},
		{CookieDomain, "a\nb c", "", "", true},
		{CookiePath, "/a /b?c=d&e,f", "/a", "/b?c=d&e,f", false},
		{CookiePath, `/ "/;secure"`, "", "", true},
		{CookiePath, "/ $uri", "", "", true},
	} {
		got, err := test.parse(test.text)
		if (err != nil) != test.bad || (got != nil) != (test.from != "") || got != nil && *got != (model.Replacement{From: test.from, To: test.to}) {
			t.Errorf("%q gives %v, %v", test.text, got, err)
		}
	}
}

func TestHostHeader(t *testing.T) {
	for _, text := range []string{"a", "a.example", "a_b.example:8080", "10.0.0.1", "10.0.0.1:80", "[fd00::1]:80", "A.Example", "$host", "${arg_x}.example:80"} {
		if _, err := HostHeader(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{
		"", "a b", "a;", "a\nb", "a:0", "a:70000", "a:b", "-a", "a..b", "a/b", "{}", "fd00::1", "*.example", "$fairway_host", "$host/x", "$host\r\nX: y", "${host", strings.Repeat("a", 300),
	} {
		if got, err := HostHeader(text); err == nil {
			t.Errorf("%q gives %q", text, got)
		}
	}
}

// FuzzProxy checks of all values that end in headers that no line can be broken, and of what enters the configuration that it is a word.
func FuzzProxy(f *testing.F) {
	for _, text := range []string{"off", "a.example b.example", "/a /b", "error http_503 off", "8k", "$host", "SCRIPT_NAME", "a;\r\nb", "~x y", "${arg_a}}"} {
		f.Add(text)
	}
	word := regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)
	plainText := regexp.MustCompile(`^[A-Za-z0-9._~/:,?&=-]+$`)
	f.Fuzz(func(t *testing.T, text string) {
		domain, _ := CookieDomain(text)
		path, _ := CookiePath(text)
		part, err := LocationPart(text)
		if err != nil {
			part = ""
		}
		for _, r := range []*model.Replacement{domain, path, model.NewReplacement(part, part)} {
			if r != nil && !(plainText.MatchString(r.From) && plainText.MatchString(r.To) && r.From[0] != '~') {
				t.Errorf("%q gives %+v", text, r)
			}
		}
		if host, err := HostHeader(text); err == nil && strings.ContainsAny(string(host), "\x00\r\n \"';") {
			t.Errorf("%q gives the host %q", text, host)
		}
		if name, err := FileName(text); err == nil && strings.ContainsAny(name, "/\x00\r\n") {
			t.Errorf("%q gives the file %q", text, name)
		}
		params, err := FastCGIParams(map[string][]byte{text: []byte("x"), "A": []byte(text)})
		for _, p := range params {
			if err == nil && (!word.MatchString(p.Name) || strings.ContainsAny(string(p.Value), "\x00\r\n")) {
				t.Errorf("%q gives the parameter %+v", text, p)
			}
		}
		if on, err := RetryConditions(text); err == nil && on >= 1<<len(model.RetryConditions()) {
			t.Errorf("%q gives %b", text, on)
		}
	})
}

func TestAdminSnippet(t *testing.T) {
	for _, good := range []string{
		"gzip on;",
		"content_by_lua_block { ngx.say(\"}\") -- }\n }",
		"content_by_lua_block { local t = { [[ } ]], '}', \"\\\"}\" } --[[ } ]] }\nadd_header X 1;",
		"location /x { access_by_lua_block { if a then return { b = {} } end } }",
	} {
		if _, err := AdminSnippet(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{"content_by_lua_block { ngx.say(1)", "} http {", "gzip on", "content_by_lua_block { } }"} {
		if _, err := AdminSnippet(bad); err == nil {
			t.Errorf("%s passes", bad)
		}
	}
	if _, err := Snippet("content_by_lua_block { }"); err == nil {
		t.Error("tenants may write Lua")
	}
}
