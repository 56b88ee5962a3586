// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package value

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairway-ingress/fairway/internal/model"
)

// CheckPath reads the path of a request that Fairway makes itself: it begins with "/", may have a query, and is written as on the wire.
func CheckPath(text string) (string, error) {
	const most = 1024
	if len(text) > most || !strings.HasPrefix(text, "/") || !Only(text, IsLetterOrDigit, "-._~/:@!$&'()*+,;=?%") {
		return "", fmt.Errorf("is no path that begins with / and has at most %d letters, digits, and what RFC 3986 allows besides", most)
	}
	if _, err := url.ParseRequestURI(text); err != nil {
		return "", errors.New("has a % that no two hexadecimal digits follow")
	}
	return text, nil
}

// CheckHost reads a host name, which may have a port.
func CheckHost(text string) (string, error) {
	name, port, hasPort := strings.Cut(text, ":")
	if !IsHostName(name) {
		return "", errors.New("is no host name, with or without a port")
	}
	if hasPort {
		if _, err := Port(port); err != nil {
			return "", err
		}
	}
	return strings.ToLower(name) + text[len(name):], nil
}

// Port reads the number of a port.
func Port(text string) (uint16, error) {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n == 0 || text[0] == '+' {
		return 0, errors.New("is no port, 1 to 65535")
	}
	return uint16(n), nil
}

// StatusRanges reads HTTP statuses and ranges of them, separated by commas. They are sorted and do not overlap.
func StatusRanges(text string) ([]model.StatusRange, error) {
	var list []model.StatusRange
	for word := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(strings.TrimSpace(word), "-")
		if !isRange {
			last = first
		}
		r := model.StatusRange{First: status(first), Last: status(last)}
		if r.First == 0 || r.Last < r.First {
			return nil, fmt.Errorf("has %q, which is neither a status from 100 to 599 nor a range of such", word)
		}
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b model.StatusRange) int { return a.First - b.First })
	merged := list[:1]
	for _, r := range list[1:] {
		if last := &merged[len(merged)-1]; r.First <= last.Last+1 {
			last.Last = max(last.Last, r.Last)
		} else {
			merged = append(merged, r)
		}
	}
	return merged, nil
}

// status gives a status of three digits, 0 for what is none.
func status(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || len(text) != 3 || n < 100 || n > 599 {
		return 0
	}
	return n
}

// DurationWithin reads a time such as 500ms, 10s or 1m30s, or a whole number of seconds.
func DurationWithin(least, most time.Duration) func(text string) (time.Duration, error) {
	return func(text string) (time.Duration, error) {
		d, err := time.ParseDuration(text)
		if n, numberErr := strconv.ParseUint(text, 10, 31); numberErr == nil {
			d, err = time.Duration(n)*time.Second, nil
		}
		if err != nil {
			return 0, errors.New("is no time such as 500ms, 10s or 1m")
		}
		if d < least || d > most {
			return 0, fmt.Errorf("is not within %s and %s", least, most)
		}
		return d, nil
	}
}

// NumberWithin reads a whole number.
func NumberWithin(least, most int) func(text string) (int, error) {
	return func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err != nil {
			return 0, errors.New("is not a whole number")
		}
		if n < least || n > most {
			return 0, fmt.Errorf("is not within %d and %d", least, most)
		}
		return n, nil
	}
}

// GRPCService reads the name of a gRPC service: words of letters, digits and _, separated by dots, or by / and - where servers are given other names.
func GRPCService(text string) (string, error) {
	const most = 256
	if text == "" || len(text) > most || !Only(text, IsLetterOrDigit, "_./-") {
		return "", fmt.Errorf("is no name of at most %d letters, digits and _ . / -", most)
	}
	return text, nil
}
