// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import "sync"

// budget is a number of bytes that many share. It is safe for concurrent use.
type budget struct {
	mu   sync.Mutex // guards left
	left int64
}

// take takes n, or nothing if there is not so much.
func (b *budget) take(n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n > b.left {
		return false
	}
	b.left -= n
	return true
}

// give puts n back.
func (b *budget) give(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left += n
}
