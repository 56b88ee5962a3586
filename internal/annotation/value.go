// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/fairway-ingress/fairway/internal/value"
)

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

// parseRewriteTarget reads a path in which $1 to $9 stand for groups.
func parseRewriteTarget(text string) (string, error) {
	if len(text) > value.MaxPattern {
		return "", fmt.Errorf("is longer than %d bytes", value.MaxPattern)
	}
	if !value.Only(text, value.IsLetterOrDigit, "-._~/:$") {
		return "", errors.New("has other characters than letters, digits and - . _ ~ / : $")
	}
	for i := range len(text) {
		if text[i] == '$' && (i+1 == len(text) || text[i+1] < '1' || text[i+1] > '9') {
			return "", closing{errors.New("has a $ that is not followed by the number of a group, 1 to 9")}
		}
	}
	return text, nil
}
