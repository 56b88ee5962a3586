// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package explain

import "strings"

// normalize makes of a decoded path what nginx makes of it: slashes merged, dot segments resolved. It tells whether the path stays below the
// root; nginx answers a request that does not with 400, while a rewrite that does not goes on from the root.
func normalize(path string) (string, bool) {
	var segments []string
	directory, below := true, true
	for segment := range strings.SplitSeq(path, "/") {
		directory = segment == "" || segment == "." || segment == ".."
		switch segment {
		case "", ".":
		case "..":
			if len(segments) == 0 {
				below = false
				continue
			}
			segments = segments[:len(segments)-1]
		default:
			segments = append(segments, segment)
		}
	}
	clean := "/" + strings.Join(segments, "/")
	if directory && clean != "/" {
		clean += "/"
	}
	return clean, below
}
