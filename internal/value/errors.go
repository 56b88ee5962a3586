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

// clientClosed is nginx' own mark of requests whose client went away, which nobody can be answered with.
const clientClosed = 499

// Statuses gives a function that reads statuses from least to 599 with commas between, and gives them sorted and unique.
func Statuses(least int) func(text string) ([]int, error) {
	return func(text string) ([]int, error) {
		var list []int
		for part := range strings.SplitSeq(text, ",") {
			part = strings.TrimSpace(part)
			if part == "" {
				continue
			}
			n, err := strconv.Atoi(part)
			if err != nil || len(part) != 3 || n < least || n > 599 || n == clientClosed {
				return nil, fmt.Errorf("has %.20q where a status from %d to 599 belongs", part, least)
			}
			list = append(list, n)
		}
		if len(list) == 0 {
			return nil, errors.New("names no status")
		}
		slices.Sort(list)
		return slices.Compact(list), nil
	}
}

// ServiceName reads the name of a Service (RFC 1035 label).
func ServiceName(text string) (string, error) {
	lower := func(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }
	text = strings.TrimSpace(text)
	if text == "" || len(text) > 63 || text[0] < 'a' || text[0] > 'z' || text[len(text)-1] == '-' || !Only(text, lower, "-") {
		return "", errors.New("is no name of a Service: a small letter, then small letters, digits and -")
	}
	return text, nil
}
