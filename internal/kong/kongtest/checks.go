// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kongtest

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

var (
	uuidPattern   = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)
	labelPattern  = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?$`)
	headerPattern = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
	methodPattern = regexp.MustCompile(`^[A-Z]+$`)
	// plainPath is what a path of Kong 2 is made of; everything else is an expression there.
	plainPath = regexp.MustCompile(`^[A-Za-z0-9._~/%-]*$`)
)

func isUUID(s string) bool { return uuidPattern.MatchString(s) }

func checkUUID(s string) string {
	if !isUUID(s) {
		return "expected a valid UUID"
	}
	return ""
}

// checkName allows letters, digits, four signs, and all that is not ASCII.
func checkName(s string) string {
	for _, r := range s {
		if r < utf8.RuneSelf && !strings.ContainsRune("._~-", r) && !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			return fmt.Sprintf("invalid value '%s': the only accepted ascii characters are alphanumerics or ., -, _, and ~", s)
		}
	}
	return ""
}

func isHostname(s string) bool {
	if s == "" || len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(strings.TrimSuffix(s, "."), ".") {
		if len(label) > 63 || !labelPattern.MatchString(label) {
			return false
		}
	}
	return true
}

func checkHost(s string) string {
	if _, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil || isHostname(s) {
		return ""
	}
	if strings.Contains(s, ":") {
		return "must not have a port"
	}
	return "invalid value: " + s
}

func checkUpstreamName(s string) string {
	if _, err := netip.ParseAddr(s); err == nil {
		return "Invalid name ('" + s + "'); no ip addresses allowed"
	}
	if strings.Contains(s, ":") {
		return "Invalid name ('" + s + "'); no port allowed"
	}
	if !isHostname(s) {
		return "Invalid name ('" + s + "'); must be a valid hostname"
	}
	return ""
}

func checkHostPort(s string) string {
	host, port, found := strings.Cut(s, ":")
	if _, err := strconv.ParseUint(port, 10, 16); found && err != nil || !isHostname(host) {
		return "invalid value: " + s
	}
	return ""
}

// checkRouteHost allows one wildcard as the first or the last label, and a port.
func checkRouteHost(s string) string {
	name, port, found := strings.Cut(s, ":")
	if _, err := strconv.ParseUint(port, 10, 16); found && err != nil {
		return "invalid value: " + s
	}
	return checkWildcard(name)
}

func checkWildcard(name string) string {
	if strings.Count(name, "*") > 1 {
		return "invalid wildcard: only one wildcard must be specified"
	}
	plain := name
	if rest, ok := strings.CutPrefix(name, "*."); ok {
		plain = rest
	} else if rest, ok := strings.CutSuffix(name, ".*"); ok {
		plain = rest
	}
	if strings.Contains(plain, "*") {
		return "invalid wildcard: must be placed at leftmost or rightmost label"
	}
	if _, err := netip.ParseAddr(plain); err != nil && !isHostname(plain) {
		return "invalid value: " + name
	}
	return ""
}

func checkSNI(s string) string {
	if s == "*" {
		return ""
	}
	if _, err := netip.ParseAddr(s); err == nil {
		return "must not be an IP"
	}
	if strings.Contains(s, ":") {
		return "must not have a port"
	}
	return checkWildcard(s)
}

func checkHeaderName(s string) string {
	if !headerPattern.MatchString(s) {
		return "bad header name '" + s + "', allowed characters are A-Z, a-z, 0-9, '_', and '-'"
	}
	return ""
}

func checkRouteHeader(s string) string {
	if strings.EqualFold(s, "host") {
		return "cannot contain 'host' header, which must be specified in the 'hosts' attribute"
	}
	return checkHeaderName(s)
}

func checkMethod(s string) string {
	if !methodPattern.MatchString(s) {
		return "invalid value: " + s
	}
	return ""
}

func checkTag(s string) string {
	if strings.ContainsAny(s, ",/") || !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "invalid tag '" + s + "': expected printable ascii (except `,` and `/`) or valid utf-8 sequences"
	}
	return ""
}

func checkServicePath(s string) string {
	switch {
	case !strings.HasPrefix(s, "/"):
		return "should start with: /"
	case strings.Contains(s, "//"):
		return "must not have empty segments"
	}
	return checkURLCharacters(s)
}

func checkURLCharacters(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune("\"<>\\^`{|}#?", r) }) {
		return "invalid path: '" + s + "' (characters outside of the reserved list of RFC 3986 found)"
	}
	return ""
}

// checkRoutePath knows prefixes, and expressions by the mark of Kong 3 or the characters of Kong 2.
func checkRoutePath(v version, flavor string) func(string) string {
	return func(s string) string {
		expression, isExpression := strings.CutPrefix(s, "~")
		if !v.atLeast(version{3, 0}) {
			expression, isExpression = s, !plainPath.MatchString(s)
		}
		if !strings.HasPrefix(expression, "/") {
			return "should start with: /"
		}
		if strings.Contains(s, "//") {
			return "must not have empty segments"
		}
		if isExpression {
			if _, err := regexp.Compile(expression); err != nil && flavor != "traditional" && v.atLeast(version{3, 0}) {
				return fmt.Sprintf("invalid regex: '%s' (%v)", expression, err)
			}
			return ""
		}
		if !v.atLeast(version{3, 0}) {
			return ""
		}
		if normal := normalPath(s); normal != s {
			return "schema violation (non-normalized path, consider use '" + normal + "' instead)"
		}
		return checkURLCharacters(s)
	}
}

// normalPath decodes what needs no percent sign, spells the rest in upper case, and resolves dots.
func normalPath(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' || i+2 >= len(s) {
			out.WriteByte(s[i])
			continue
		}
		decoded, err := url.PathUnescape(s[i : i+3])
		switch c := decoded; {
		case err != nil:
			out.WriteByte(s[i])
			continue
		case labelPattern.MatchString(c) || c == "-" || c == "." || c == "~":
			out.WriteString(c)
		default:
			out.WriteString(strings.ToUpper(s[i : i+3]))
		}
		i += 2
	}
	var segments []string
	for segment := range strings.SplitSeq(out.String(), "/") {
		switch {
		case segment == ".":
		case segment == ".." && len(segments) > 1:
			segments = segments[:len(segments)-1]
		case segment == "..":
		default:
			segments = append(segments, segment)
		}
	}
	return strings.Join(segments, "/")
}

func checkIP(s string) string {
	if _, err := netip.ParseAddr(s); err == nil {
		return ""
	}
	if _, err := netip.ParsePrefix(s); err == nil {
		return ""
	}
	return "invalid ip or cidr range: '" + s + "'"
}

func checkCertificate(s string) string {
	if block, _ := pem.Decode([]byte(s)); block != nil && block.Type == "CERTIFICATE" {
		if _, err := x509.ParseCertificate(block.Bytes); err == nil {
			return ""
		}
	}
	return "invalid certificate: not a PEM of a certificate"
}

func checkKey(s string) string {
	if block, _ := pem.Decode([]byte(s)); block != nil && strings.HasSuffix(block.Type, "PRIVATE KEY") {
		return ""
	}
	return "invalid key: not a PEM of a private key"
}

func checkPublicKey(s string) string {
	if block, _ := pem.Decode([]byte(s)); block != nil {
		return ""
	}
	return "invalid key"
}

func checkPair(cert, key any) string {
	c, _ := cert.(string)
	k, _ := key.(string)
	if _, err := tls.X509KeyPair([]byte(c), []byte(k)); err != nil {
		return "certificate does not match key"
	}
	return ""
}

func checkCA(s string) string {
	block, rest := pem.Decode([]byte(s))
	if block == nil {
		return checkCertificate(s)
	}
	if next, _ := pem.Decode(rest); next != nil {
		return "please submit only one certificate at a time"
	}
	c, err := x509.ParseCertificate(block.Bytes)
	switch {
	case err != nil:
		return "invalid certificate: " + err.Error()
	case !c.IsCA:
		return "certificate does not appear to be a CA because it is missing the \"CA\" basic constraint"
	case c.NotAfter.Before(time.Now()):
		return "certificate expired, \"Not After\" time is in the past"
	}
	return ""
}

func checkURL(s string) string {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Scheme == "" || u.Host == "":
		return "cannot parse '" + s + "'"
	case u.Fragment != "":
		return "fragment not allowed in '" + s + "'"
	}
	return ""
}
