// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package value

import "iter"

// Nearest gives the known name that differs least from name, or "" when none is near: more than two letters or a third of it differ.
func Nearest(name string, known iter.Seq[string]) string {
	if len(name) > 64 {
		return ""
	}
	best, least := "", min(3, len(name)/3+1)
	for candidate := range known {
		if d := distance(name, candidate); d < least {
			best, least = candidate, d
		}
	}
	return best
}

// distance counts the letters to insert, delete or change to turn a into b (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
