// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kong

import (
	"errors"
	"time"

	"github.com/fairway-ingress/fairway/internal/kong/admin"
)

// Push is an attempt to bring a state into force on one gateway; one without requests found it there already.
type Push struct {
	Gateway string // its URL
	// Database tells whether entities were written one by one.
	Database bool
	Took     time.Duration
	// Set and Deleted count entities, or documents; Bytes is the size of what was sent, Requests how many there were.
	Set, Deleted, Bytes, Requests int
	// Broken counts the entities that are not in force as written, Refused does so by their kinds.
	Broken  int
	Refused map[string]int
	// Fallback is set for a document without what the gateway refuses.
	Fallback bool
	// Hash names what the gateway holds now; empty with a database.
	Hash string
	Err  error
}

// Reason gives why the push failed in one word: "conflict", "network", "other", or "" when it did not. What is refused is a failure
// with a database alone: without one it is another push that leaves that out.
func (p Push) Reason() string {
	failure := new(admin.Error)
	switch {
	case p.Err == nil && (p.Broken == 0 || !p.Database):
		return ""
	case !errors.As(p.Err, &failure):
		return "other"
	case failure.Class == admin.Conflict:
		return "conflict"
	case failure.Class.Passing():
		return "network"
	}
	return "other"
}
