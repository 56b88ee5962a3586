// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package model

import "time"

// Change is what a driver did to bring a model into force. The zero value says that nothing had to be done.
type Change struct {
	// Generation counts the states that the data plane was given since the driver started; requests that begin after
	// Apply returned see at least this one.
	Generation uint64
	// Set and Deleted count the entries sent to the data plane as data, Bytes their size.
	Set, Deleted, Bytes int
	// Reload tells whether the data plane read a new configuration, Reasons why (CamelCase words, sorted).
	Reload  bool
	Reasons []string
	// Took is how long it was from the call of Apply until the data plane answered.
	Took time.Duration
}
