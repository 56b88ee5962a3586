// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"strconv"
	"strings"
)

// maxPattern bounds the regular expressions of tenants, in bytes.
const maxPattern = 512

func parseBool(text string) (bool, error) {
	v, err := strconv.ParseBool(text)
	if err != nil {
		return false, errors.New("is neither true nor false")
	}
	return v, nil
}

func parseInt(text string, least int) (int, error) {
	v, err := strconv.Atoi(text)
	if err != nil {
		return 0, errors.New("is not a whole number")
	}
	if v < least {
		return 0, fmt.Errorf("is less than %d", least)
	}
	return v, nil
}

// isHostName tells whether name consists of DNS labels; "_" is let through because clients and servers do.
func isHostName(name string) bool {
	if len(name) > 253 {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' || !only(label, isLetterOrDigit, "-_") {
			return false
		}
	}
	return true
}

// parseToken reads the name of a header or a cookie: an RFC 9110 token.
func parseToken(text string) (string, error) {
	text = strings.TrimSpace(text)
	if text == "" || len(text) > 256 || !only(text, isLetterOrDigit, "!#$%&'*+-.^_`|~") {
		return "", errors.New("is not a name made of letters, digits, - and _")
	}
	return text, nil
}

// parseHeaderValue reads visible ASCII.
func parseHeaderValue(text string) (string, error) {
	text = strings.TrimSpace(text)
	visible := func(c byte) bool { return c >= ' ' && c <= '~' }
	if text == "" || len(text) > 1024 || !only(text, visible, "") {
		return "", errors.New("is not a header value of visible ASCII characters")
	}
	return text, nil
}

// ParsePattern reads a regular expression: what Go's regexp/syntax takes with Perl's flags, at most 512 bytes, no control characters. It
// thereby refuses look-around and back references, which have no bound on their time.
func ParsePattern(text string) (string, error) {
	if len(text) > maxPattern {
		return "", fmt.Errorf("is longer than %d bytes", maxPattern)
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

// parseRewriteTarget reads a path in which $1 to $9 stand for groups.
func parseRewriteTarget(text string) (string, error) {
	if len(text) > maxPattern {
		return "", fmt.Errorf("is longer than %d bytes", maxPattern)
	}
	if !only(text, isLetterOrDigit, "-._~/:$") {
		return "", errors.New("has other characters than letters, digits and - . _ ~ / : $")
	}
	for i := range len(text) {
		if text[i] == '$' && (i+1 == len(text) || text[i+1] < '1' || text[i+1] > '9') {
			return "", closing{errors.New("has a $ that is not followed by the number of a group, 1 to 9")}
		}
	}
	return text, nil
}

// only tells whether every byte of text is in the class or among others.
func only(text string, class func(byte) bool, others string) bool {
	for i := range len(text) {
		if !class(text[i]) && strings.IndexByte(others, text[i]) < 0 {
			return false
		}
	}
	return true
}

func isLetterOrDigit(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
