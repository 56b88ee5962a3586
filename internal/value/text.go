// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package value

import "strings"

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
