// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"strconv"
	"testing"

	"github.com/fairway-ingress/fairway/internal/value"
)

// FuzzRateLimit checks that limits stay within what nginx and Lua take, and that one that cannot be read closes the routes.
func FuzzRateLimit(f *testing.F) {
	f.Add("5", "100", "10", "3", "10.0.0.0/8")
	f.Add("99999999999999", "-1", "70000", "99999999999999", "::ffff:1.2.3.4/127")
	f.Add("0x10", "1e3", "+5", " 5", ",")
	f.Fuzz(func(t *testing.T, perSecond, perMinute, connections, multiplier, list string) {
		e, problems := parsed(map[string]string{
			"limit-rps": perSecond, "limit-rpm": perMinute, "limit-connections": connections, "limit-burst-multiplier": multiplier, "limit-allowlist": list,
		})
		for _, text := range []string{perSecond, perMinute, connections} {
			if _, err := strconv.Atoi(text); text != "" && err != nil && (e.Closed == "" || len(problems) == 0) {
				t.Errorf("%q closes nothing", text)
			}
		}
		l := e.Policy.RateLimit
		if l == nil {
			return
		}
		const exact = 1 << 53 // beyond that Lua's numbers have gaps
		for _, n := range []int{l.PerSecond, l.PerMinute, l.SecondBurst, l.MinuteBurst} {
			if n < 0 || n > exact {
				t.Errorf("%+v", l)
			}
		}
		if l.Connections < 0 || l.Connections > 65535 || l.Name != "default/one" || l.PerSecond+l.PerMinute+l.Connections == 0 {
			t.Errorf("%+v", l)
		}
	})
}

// FuzzCORS checks that what goes into headers is visible ASCII, and that nobody is accepted who was not named.
func FuzzCORS(f *testing.F) {
	f.Add("https://a.example, null", "GET, POST", "X-One", "*")
	f.Add("*;", "GET\nX: y", "a:b", "\x00")
	f.Fuzz(func(t *testing.T, origins, methods, headers, expose string) {
		e, problems := parsed(map[string]string{
			"enable-cors": "true", "cors-allow-origin": origins, "cors-allow-methods": methods, "cors-allow-headers": headers, "cors-expose-headers": expose,
		})
		c := e.Policy.CORS
		if c == nil {
			if len(problems) == 0 {
				t.Error("gone without a word")
			}
			return
		}
		if len(c.Origins) == 0 {
			t.Error("CORS for no origin")
		}
		for _, text := range []string{c.Methods, c.Headers, c.ExposeHeaders} {
			if !value.Only(text, value.IsLetterOrDigit, "-_*, ") {
				t.Errorf("%q", text)
			}
		}
	})
}
