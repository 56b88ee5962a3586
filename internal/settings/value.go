// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairway-ingress/fairway/internal/value"
)

func parseBool(text string) (bool, error) {
	if text == "" {
		return false, nil
	}
	v, err := strconv.ParseBool(text)
	if err != nil {
		return false, errors.New("is neither true nor false")
	}
	return v, nil
}

// parseInt takes Go's prefixed bases too, as the predecessor does.
func parseInt(text string, least int) (int, error) {
	if text == "" {
		text = "0"
	}
	v, err := strconv.ParseInt(text, 0, 32)
	if err != nil {
		return 0, errors.New("is not a whole number")
	}
	if int(v) < least {
		return 0, fmt.Errorf("is less than %d", least)
	}
	return int(v), nil
}

func parseSeconds(text string) (time.Duration, error) {
	v, err := parseInt(text, 1)
	return time.Duration(min(v, value.MostSeconds)) * time.Second, err
}

// parseDuration reads nginx' times as far as they are one number with one unit: "240s", "10m", "1h", "1d", or seconds without unit.
func parseDuration(text string) (time.Duration, error) {
	units := []struct {
		suffix string
		unit   time.Duration
	}{{"ms", time.Millisecond}, {"s", time.Second}, {"m", time.Minute}, {"h", time.Hour}, {"d", 24 * time.Hour}, {"w", 7 * 24 * time.Hour}, {"", time.Second}}
	for _, u := range units {
		digits, found := strings.CutSuffix(text, u.suffix)
		if !found {
			continue
		}
		v, err := strconv.ParseUint(digits, 10, 32)
		if err != nil || v == 0 || v > uint64(value.MostSeconds*int64(time.Second)/int64(u.unit)) {
			break
		}
		return time.Duration(v) * u.unit, nil
	}
	return 0, errors.New(`is not a time such as "240s"`)
}

// parseList splits at commas, trims blanks and drops empty parts.
func parseList(text string) []string {
	var list []string
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}

// parsePaths reads a list of beginnings of paths.
func parsePaths(text string) ([]string, error) {
	if hasControl(text) {
		return nil, errors.New("contains control characters")
	}
	return parseList(text), nil
}

// parseProtocols reads TLS versions in nginx' words and puts them in order.
func parseProtocols(text string) (string, error) {
	known := []string{"SSLv2", "SSLv3", "TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"}
	given := strings.Fields(text)
	for _, word := range given {
		if !slices.Contains(known, word) {
			return "", fmt.Errorf("names a protocol that is none of %s", strings.Join(known, ", "))
		}
	}
	if len(given) == 0 {
		return "", errors.New("names no protocol")
	}
	return strings.Join(given, " "), nil
}

// parseCiphers reads an OpenSSL cipher list by its letters; OpenSSL judges the names.
func parseCiphers(text string) (string, error) {
	if text == "" || len(text) > 4096 {
		return "", errors.New("is not a cipher list")
	}
	for _, c := range []byte(text) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && !strings.ContainsRune(":+-!@=._", rune(c)) {
			return "", fmt.Errorf("has the character %q, which no cipher list has", c)
		}
	}
	return text, nil
}

// parseLogFormat reads a line in nginx' words. The driver quotes it.
func parseLogFormat(text string) (string, error) {
	if hasControl(text) {
		return "", errors.New("contains control characters")
	}
	if text == "" || len(text) > 8192 {
		return "", errors.New("is empty or longer than 8192 bytes")
	}
	return text, nil
}

func hasControl(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f })
}
