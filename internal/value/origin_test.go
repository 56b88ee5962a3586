// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package value

import (
	"regexp"
	"strings"
	"testing"
)

func TestOrigins(t *testing.T) {
	for text, want := range map[string]string{
		"*":                             "*",
		"null":                          "null",
		"https://a.example":             "https://a.example",
		"https://A.Example:8443":        "https://a.example:8443",
		"https://*.a.example, null,,":   "https://*.a.example null",
		"https://a.example,*":           "*",
		"chrome-extension://abcdef":     "chrome-extension://abcdef",
		"http://10.0.0.1:3000":          "http://10.0.0.1:3000",
		"https://b,https://a,https://b": "https://a https://b",
		"a.example":                     "! ",
		"https://a.example/":            "! ",
		"https://a.example/path":        "! ",
		"https://":                      "! ",
		"https://*":                     "! ",
		"https://*a.example":            "! ",
		"https://a.*.example":           "! ",
		"https://a.example:":            "! ",
		"https://a.example:080":         "! ",
		"https://a.example:99999":       "! ",
		"https://a.example;evil":        "! ",
		"https://.*":                    "! ",
		"HTTPS://a.example":             "! ",
		"https://a.example\r\nX: y":     "! ",
		"https://user@a.example":        "! ",
		"(https://a.example|.*)":        "! ",
		"** , https://a.example":        "! https://a.example",
	} {
		origins, errs := Origins(text)
		got := strings.Join(origins, " ")
		if len(errs) > 0 {
			got = "! " + got
		}
		if got != want {
			t.Errorf("%q: %q, want %q (%v)", text, got, want, errs)
		}
	}
}

// FuzzOrigins checks that whatever is accepted is one of the closed forms, and that "*" is only accepted where somebody wrote it.
func FuzzOrigins(f *testing.F) {
	f.Add("https://*.a.example:8443, null, https://b")
	f.Add("https://a.example.*,*")
	form := regexp.MustCompile(`^(\*|null|[a-z][a-z0-9+.-]*://(\*\.)?[a-z0-9_.-]+(:[1-9][0-9]*)?)$`)
	f.Fuzz(func(t *testing.T, text string) {
		origins, errs := Origins(text)
		for _, o := range origins {
			if !form.MatchString(o) {
				t.Errorf("%q gives %q", text, o)
			}
			if o == "*" && (len(origins) > 1 || !regexp.MustCompile(`(^|,)\s*\*\s*(,|$)`).MatchString(text)) {
				t.Errorf("%q gives %q", text, origins)
			}
		}
		for _, err := range errs {
			if strings.ContainsAny(err.Error(), "\r\n\x00") {
				t.Errorf("%q: the error %q has control characters", text, err)
			}
		}
	})
}
