// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package value

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Origin reads what the Origin header of a request may be (RFC 6454): "*", "null", or scheme://host with an optional port, whose host
// may begin with "*." for one label. It gives lower case. A default port is not left out, as origins are compared as text.
func Origin(text string) (string, error) {
	if text == "*" || text == "null" {
		return text, nil
	}
	scheme, rest, found := strings.Cut(text, "://")
	if !found || !isScheme(scheme) {
		return "", errors.New("does not begin with a scheme in lower case, such as https://")
	}
	host, port, hasPort := strings.Cut(rest, ":")
	if n, err := strconv.ParseUint(port, 10, 16); hasPort && (err != nil || n == 0 || port[0] == '0') {
		return "", errors.New("has no valid port")
	}
	if !IsHostName(strings.TrimPrefix(host, "*.")) {
		return "", errors.New("has no valid host")
	}
	return strings.ToLower(text), nil
}

// isScheme tells whether text is the scheme of a URL (RFC 3986 section 3.1) in lower case.
func isScheme(text string) bool {
	isLower := func(c byte) bool { return c >= 'a' && c <= 'z' }
	return text != "" && isLower(text[0]) && Only(text, isLower, "0123456789+-.")
}

// Origins reads a list of origins with commas between. What is wrong with items is in errs, and the others stand: nothing is accepted for want of a better. "*" anywhere
// is all that is left of the list, which is sorted and unique.
func Origins(text string) (origins []string, errs []error) {
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		origin, err := Origin(item)
		if err != nil {
			errs = append(errs, fmt.Errorf("the origin %.60q %w", item, err))
			continue
		}
		origins = append(origins, origin)
	}
	if slices.Contains(origins, "*") {
		return []string{"*"}, errs
	}
	slices.Sort(origins)
	return slices.Compact(origins), errs
}
