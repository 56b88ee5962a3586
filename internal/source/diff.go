// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package source

import netv1 "k8s.io/api/networking/v1"

// Diff compares two lists of Ingresses in the order of Older and calls changed for each Ingress that is new (old is nil), gone (new is nil)
// or another object than before. It compares pointers, so its cost is a pass over the lists without looking into them.
func Diff(before, after []*netv1.Ingress, changed func(old, new *netv1.Ingress)) {
	i, j := 0, 0
	for i < len(before) && j < len(after) {
		if before[i] == after[j] {
			i, j = i+1, j+1
			continue
		}
		switch order := Older(before[i], after[j]); {
		case order < 0:
			changed(before[i], nil)
			i++
		case order > 0:
			changed(nil, after[j])
			j++
		default:
			changed(before[i], after[j])
			i, j = i+1, j+1
		}
	}
	for ; i < len(before); i++ {
		changed(before[i], nil)
	}
	for ; j < len(after); j++ {
		changed(nil, after[j])
	}
}
