// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package testlog keeps what programs log, for tests that read it while more comes.
package testlog

import (
	"bytes"
	"sync"
)

// Log collects what is written to it. The zero value is empty, and its methods may be called from any goroutine.
type Log struct {
	mu   sync.Mutex // guards below
	text bytes.Buffer
}

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String is all that was written until now.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
