// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package model

import "slices"

// Usable gives the endpoints that new connections are to be spread over, by what checks say, and those for a connection that all of the first have
// refused. See Choose.
func (b *Backend) Usable() (first, next []Endpoint) {
	first, next, _ = b.Choose(func(e Endpoint) bool {
		_, found := slices.BinarySearchFunc(b.Unhealthy, e, Endpoint.Compare)
		return found
	})
	return first, next
}

// Choose gives the endpoints that are used when some are out. The near ones are first as long as enough of them are left, and far ones are next; else
// all that are left are used, wherever they are; and when these are too few as well, simply all, which is a panic.
func (b *Backend) Choose(out func(Endpoint) bool) (first, next []Endpoint, panics bool) {
	var near int // with those that are out
	var left, leftNear, leftFar []Endpoint
	for _, e := range b.Endpoints {
		if !e.Far {
			near++
		}
		switch {
		case out(e):
			continue
		case e.Far:
			leftFar = append(leftFar, e)
		default:
			leftNear = append(leftNear, e)
		}
		left = append(left, e)
	}
	switch {
	case b.areEnough(len(leftNear), near):
		return leftNear, leftFar, false
	case b.areEnough(len(left), len(b.Endpoints)):
		return left, nil, false
	}
	return b.Endpoints, nil, true
}

func (b *Backend) areEnough(left, all int) bool {
	var judged Health
	if b.Health != nil {
		judged = *b.Health
	}
	return !judged.Panics(left, all)
}
