// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package value

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"strconv"
	"strings"
)

// MaxPattern bounds the regular expressions of tenants, in bytes.
const MaxPattern = 512

// Bool reads one of Go's boolean literals.
func Bool(text string) (bool, error) {
	v, err := strconv.ParseBool(text)
	if err != nil {
		return false, errors.New("is neither true nor false")
	}
	return v, nil
}

// Token reads the name of a header or a cookie: an RFC 9110 token.
func Token(text string) (string, error) {
	text = strings.TrimSpace(text)
	if text == "" || len(text) > 256 || !Only(text, IsLetterOrDigit, "!#$%&'*+-.^_`|~") {
		return "", errors.New("is not a name made of letters, digits, - and _")
	}
	return text, nil
}

// Pattern reads a regular expression: what Go's regexp/syntax takes with Perl's flags, at most MaxPattern bytes, no control characters. It
// thereby refuses look-around and back references, which have no bound on their time.
func Pattern(text string) (string, error) {
	if len(text) > MaxPattern {
		return "", fmt.Errorf("is longer than %d bytes", MaxPattern)
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "", errors.New("contains control characters")
	}
	if _, err := syntax.Parse("(?:"+text+")", syntax.Perl); err != nil { // in a group, as it will be used: \Q may not swallow what follows
		var detail *syntax.Error
		if errors.As(err, &detail) {
			return "", fmt.Errorf("is not a regular expression (%s)", detail.Code)
		}
		return "", errors.New("is not a regular expression")
	}
	return text, nil
}

// Only tells whether every byte of text is in the class or among others.
func Only(text string, class func(byte) bool, others string) bool {
	for i := range len(text) {
		if !class(text[i]) && strings.IndexByte(others, text[i]) < 0 {
			return false
		}
	}
	return true
}

// IsLetterOrDigit is the class of ASCII letters and digits.
func IsLetterOrDigit(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// IsHostName tells whether name consists of DNS labels; "_" is let through because clients and servers do.
func IsHostName(name string) bool {
	if len(name) > 253 {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' || !Only(label, IsLetterOrDigit, "-_") {
			return false
		}
	}
	return true
}
