// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package value

import (
	"strings"
	"testing"
	"unicode"

	"github.com/fairway-ingress/fairway/internal/model"
)

// clean tells whether text could stand in a request line or a header.
func clean(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) })
}

func FuzzTemplate(f *testing.F) {
	for _, seed := range []string{"", "plain", "$host$request_uri", "a${arg_x}b", "${", "$", "$$", "${host", "$HOST", "$fairway_policy", "x\r\ny", "${${host}}", "$1", "${http_}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := Template(text)
		if err != nil {
			return
		}
		if !clean(string(v)) {
			t.Errorf("%q gives %q", text, v)
		}
		checkVariables(t, v)
		if again, err := Template(string(v)); err != nil || again != v {
			t.Errorf("%q read again is %q, %v", v, again, err)
		}
	})
}

// checkVariables demands that each $ begins a variable that tenants may name.
func checkVariables(t *testing.T, v model.Template) {
	t.Helper()
	for _, part := range strings.Split(string(v), "$")[1:] {
		name, _, found := strings.Cut(strings.TrimPrefix(part, "{"), "}")
		if !found || part[0] != '{' || !isVariable(name) || strings.HasPrefix(name, "fairway") {
			t.Errorf("%q has the variable %q", v, part)
		}
	}
}

func FuzzURL(f *testing.F) {
	for _, seed := range []string{"http://a.example/x?y=$arg_z", "https://$host/auth", "http://[::1]:80/", "http://a$request_uri", "http://a:0/", "http://a b", "ftp://x", "http://", "http://a#b", "http://a\n/", "HTTP://A", "http://a//b/../c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := URL(text)
		if err != nil {
			return
		}
		path := string(u.Path)
		if !clean(path) || !clean(string(u.Host)) || path[0] != '/' && !strings.HasPrefix(path, "${request_uri}") || strings.ContainsAny(path, " \"'\\<>") {
			t.Errorf("%q gives %+v", text, u)
		}
		checkVariables(t, u.Path)
		if own := u.Host == "${host}" || u.Host == "${http_host}"; own != u.Backend.IsZero() || !own && strings.Contains(string(u.Host), "$") {
			t.Errorf("%q gives the host %q and the backend %v", text, u.Host, u.Backend)
		}
	})
}

func FuzzLists(f *testing.F) {
	for _, seed := range []string{"X-A, x-b", "200 202 401 5m", "any 1h, 500 1s", "5m 200", "X-A: b", ",,", "1M", "99999999999999999999y", "rd", "/a?b", "https://$host/x", "//evil"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if names, err := HeaderNames(text); err == nil && !Only(strings.Join(names, ""), IsLetterOrDigit, "-_") {
			t.Errorf("%q gives the names %q", text, names)
		}
		if times, err := CacheTimes(text); err == nil {
			for _, c := range times {
				if c.For < 1 || c.Status != 0 && (c.Status < 100 || c.Status > 599) {
					t.Errorf("%q gives %v", text, c)
				}
			}
		}
		if v, err := SignIn(text); err == nil && (!clean(string(v)) || strings.HasPrefix(string(v), "//") || strings.HasPrefix(string(v), "javascript")) {
			t.Errorf("%q gives the login %q", text, v)
		}
		if v, err := PlainURI(text); err == nil && (!clean(v) || strings.ContainsAny(v, "$ ")) {
			t.Errorf("%q gives the URI %q", text, v)
		}
		if v, err := HeaderValue(text); err == nil && !clean(v) {
			t.Errorf("%q gives the value %q", text, v)
		}
		if ref, err := Reference("Secret", "home", text); err == nil && (strings.Contains(ref.Namespace, "/") || strings.Contains(ref.Name, "..") || !clean(ref.Name)) {
			t.Errorf("%q gives %v", text, ref)
		}
	})
}

// FuzzSnippet checks that what passes stays in its block: put between two blocks, braces outside of quotes and comments never close one of ours.
func FuzzSnippet(f *testing.F) {
	for _, seed := range []string{"a b;", "a { b; }", "}", "a { b;", "a \"}\";", "a '};", "# }\na;", "a # b", "a ${b};", "a \\;", "if ($x = \"a;b\") { c; }", "a \\\"};", "a{b;}c;", "x {;}", "a\"b;", "rewrite ^/(.{2})$ /x;"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := Snippet(text)
		if err != nil {
			return
		}
		depth, words, ok := replay(string(v))
		if depth != 0 || words || !ok {
			t.Errorf("%q passes, but ends at depth %d, within a directive: %v, or leaves its block", text, depth, words)
		}
	})
}

// replay reads configuration by the rules of nginx' own reader, written down anew: a token begins after white space; a quote counts only at its beginning; "{" ends a
// token, "}" only begins one.
func replay(text string) (depth int, words, ok bool) {
	begin := true
	for i := 0; i < len(text); i++ {
		c := text[i]
		space := c == ' ' || c == '\t' || c == '\r' || c == '\n'
		switch {
		case space:
			begin = true
		case begin && c == '#':
			for i < len(text) && text[i] != '\n' {
				i++
			}
		case begin && (c == '"' || c == '\''):
			for i++; i < len(text) && text[i] != c; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			words = true
			if i+1 < len(text) && strings.IndexByte(" \t\r\n;{)", text[i+1]) < 0 {
				return depth, words, true // nginx refuses
			}
		case c == ';':
			words, begin = false, true
		case c == '{' && (i == 0 || text[i-1] != '$'):
			depth++
			words, begin = false, true
		case begin && c == '}':
			depth--
			if depth < 0 {
				return depth, words, false
			}
		case c == '\\':
			i++
			words, begin = true, false
		default:
			words, begin = true, false
		}
	}
	return depth, words, true
}
