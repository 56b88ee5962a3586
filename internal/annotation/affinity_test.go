// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"net/http"
	"strings"
	"testing"

	"github.com/fairway-ingress/fairway/internal/value"
)

// FuzzCookie puts texts into the parts of the affinity cookie: what is accepted must come out of the cookie again, each part as itself.
func FuzzCookie(f *testing.F) {
	f.Add("INGRESSCOOKIE", "/", "example.com", "3600")
	f.Add("a;b", "/;Domain=evil.example", ".example", "-1")
	f.Add("a=b", "/\r\nX: y", "a b.example; Secure", "99999999999999999999")
	f.Add("!#$%&'*+-.^_`|~", "/a?b=c&d=%20,e:~", "..", "0x10")
	f.Fuzz(func(t *testing.T, name, path, domain, age string) {
		line := "value"
		if v, err := value.Token(name); err == nil {
			line = v + "=" + line
		} else {
			line = "x=" + line
		}
		var wantPath, wantDomain string
		if v, err := parseCookiePath(path); err == nil {
			wantPath = v
			line += "; Path=" + v
		}
		if v, err := parseCookieDomain(domain); err == nil {
			wantDomain = strings.TrimPrefix(v, ".")
			line += "; Domain=" + v
		}
		if n, err := parseLifetime(age); err == nil && (n > 100*365*24*3600 || n < -100*365*24*3600) {
			t.Errorf("%q is taken as %d seconds", age, n)
		}
		cookies := (&http.Response{Header: http.Header{"Set-Cookie": {line}}}).Cookies()
		if len(cookies) != 1 {
			t.Fatalf("%q is no cookie", line)
		}
		c := cookies[0]
		if c.Value != "value" || c.Path != wantPath || strings.TrimPrefix(c.Domain, ".") != wantDomain || c.Secure || len(c.Unparsed) > 0 {
			t.Errorf("%q reads as %+v", line, c)
		}
	})
}
