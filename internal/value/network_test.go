// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package value

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
)

func TestNetworks(t *testing.T) {
	for text, want := range map[string]string{
		"10.0.0.0/8":                        "10.0.0.0/8",
		"10.1.2.3/8":                        "10.0.0.0/8",
		" 192.0.2.1 , 10.0.0.0/8 ":          "10.0.0.0/8 192.0.2.1/32",
		"10.0.0.0/8,10.0.0.1/8":             "10.0.0.0/8",
		"2001:DB8::1":                       "2001:db8::1/128",
		"::/0,0.0.0.0/0":                    "0.0.0.0/0 ::/0",
		"::ffff:10.0.0.1":                   "10.0.0.1/32",
		"::ffff:10.0.0.1/104":               "10.0.0.0/8",
		"::ffff:0:0/96":                     "0.0.0.0/0",
		"::fffe:0:0/95":                     "::fffe:0:0/95",
		"":                                  "",
		",":                                 "",
		"10.0.0.0/8,":                       "",
		"10.0.0.0/33":                       "",
		"10.0.0.0/-1":                       "",
		"10.0.0.0/08":                       "",
		"010.0.0.1":                         "",
		"10.0.0":                            "",
		"fe80::1%eth0":                      "",
		"fe80::%eth0/64":                    "",
		"all":                               "",
		"10.0.0.0 - 10.0.0.9":               "",
		"10.0.0.0/8\n0.0.0.0/0":             "",
		"example.com":                       "",
		"10.0.0.0/8;allow all":              "",
		"1.2.3.4/255.255.255.0":             "",
		"2001:db8::/129":                    "",
		strings.Repeat("10.0.0.0/8,", 1000): "",
	} {
		got, err := Networks(text)
		var words []string
		for _, n := range got {
			words = append(words, n.String())
		}
		if s := strings.Join(words, " "); s != want || (err != nil) != (want == "") {
			t.Errorf("%.40q: got %q, %v", text, s, err)
		}
	}
}

// FuzzNetworks checks that what comes out is in the form that Lua reads: masked, sorted, unique, IPv4 never in disguise.
func FuzzNetworks(f *testing.F) {
	for _, seed := range []string{"10.0.0.0/8, 192.0.2.1", "::ffff:10.0.0.1/104", "::/0", "fe80::1%0", "1.2.3.4/"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := Networks(text)
		if err != nil {
			if got != nil || strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' }) {
				t.Errorf("%v beside %q", got, err)
			}
			return
		}
		if len(got) == 0 || !slices.IsSortedFunc(got, netip.Prefix.Compare) || len(slices.Compact(slices.Clone(got))) != len(got) {
			t.Errorf("got %v", got)
		}
		for _, n := range got {
			again, err := netip.ParsePrefix(n.String())
			if err != nil || again != n || n != n.Masked() || n.Addr().Is4In6() && n.Bits() >= 96 {
				t.Errorf("got %v", n)
			}
		}
	})
}
