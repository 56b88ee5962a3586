// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package explain

import "strings"

// normalize makes of a decoded path what nginx makes of it: slashes merged, dot segments resolved. A path that climbs above the root is
// none; nginx answers it with 400.
func normalize(path string) (string, bool) {
	var segments []string
	directory := true
	for segment := range strings.SplitSeq(path, "/") {
		directory = segment == "" || segment == "." || segment == ".."
		switch segment {
		case "", ".":
		case "..":
			if len(segments) == 0 {
				return "", false
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
	return clean, true
}
