// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package value

import (
	"errors"
	"strings"
)

// OperationName reads the name of spans: letters, digits, "_" and "-". Blanks are dropped.
func OperationName(text string) (string, error) {
	text = strings.ReplaceAll(text, " ", "")
	if text == "" || len(text) > 128 || !Only(text, IsLetterOrDigit, "_-") {
		return "", errors.New("is no name of letters, digits, _ and -")
	}
	return text, nil
}
