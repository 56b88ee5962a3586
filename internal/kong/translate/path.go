// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package translate

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
)

// plainPath is what Kong 2 takes for a prefix; everything else is an expression to it.
var plainPath = regexp.MustCompile("^[A-Za-z0-9._~/%-]*$")

// paths spells a path as the gateway wants it.
func (t *translation) paths(p model.KongPath) []string {
	switch p.Kind {
	case model.KongExact:
		return []string{t.expression(regexp.QuoteMeta(normalize(p.Path)) + "$")}
	case model.KongPrefix:
		text := normalize(p.Path)
		if text == "/" {
			return []string{"/"}
		}
		return []string{t.prefix(text + "/"), t.expression(regexp.QuoteMeta(text) + "$")}
	case model.KongText:
		return []string{t.prefix(normalize(p.Path))}
	}
	return []string{t.expression(p.Path)}
}

func (t *translation) prefix(text string) string {
	if !t.gateway.Version.AtLeast(3, 0) && !plainPath.MatchString(text) {
		return regexp.QuoteMeta(text)
	}
	return text
}

func (t *translation) expression(text string) string {
	if t.gateway.Version.AtLeast(3, 0) {
		return "~" + text
	}
	return text
}

// checkExpression refuses what the gateway would refuse, so that one path of a route does not take the others with it.
func (t *translation) checkExpression(text string) error {
	switch {
	case !strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "("):
		return errors.New("the expression does not begin with /")
	case !strings.HasPrefix(text, "/"):
		return errors.New("the expression does not begin with / but with a group, which Kong does not take")
	case strings.Contains(text, "//"):
		return errors.New("the expression has //, which Kong does not take")
	}
	if t.gateway.Flavor == "traditional" {
		return nil // PCRE, which nobody here can read
	}
	if _, err := syntax.Parse(text, syntax.Perl); err != nil {
		return errors.New("the expression cannot be read: " + err.Error())
	}
	return nil
}

// checkSegments refuses what no request has by the time that Kong compares it.
func checkSegments(path string) error {
	for segment := range strings.SplitSeq(normalize(path), "/") {
		if segment == "." || segment == ".." {
			return errors.New("the path has the segment " + segment + ", which no request has any more when it is compared")
		}
	}
	return nil
}

// normalize writes a path as Kong compares it: unreserved characters plain, all others that may not stand in a URI percent-encoded in upper case.
func normalize(path string) string {
	const hex = "0123456789ABCDEF"
	var out strings.Builder
	encode := func(c byte) {
		out.WriteByte('%')
		out.WriteByte(hex[c>>4])
		out.WriteByte(hex[c&15])
	}
	for i := 0; i < len(path); i++ {
		c := path[i]
		if c == '%' && i+2 < len(path) {
			if high, low := unhex(path[i+1]), unhex(path[i+2]); high >= 0 && low >= 0 {
				if c = byte(high<<4 | low); isUnreserved(c) {
					out.WriteByte(c)
				} else {
					encode(c)
				}
				i += 2
				continue
			}
		}
		if isUnreserved(c) || strings.IndexByte("/!$&'()*+,;=:@[]", c) >= 0 {
			out.WriteByte(c)
		} else {
			encode(c)
		}
	}
	return out.String()
}

// isPath tells whether a text can be a path of checks, or of cookies.
func isPath(text string) bool {
	return strings.HasPrefix(text, "/") && normalize(text) == text && !strings.Contains(text, "//")
}

func unhex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

func isUnreserved(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0
}
