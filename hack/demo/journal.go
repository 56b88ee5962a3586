// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"io"
	"os"
	"sync"
)

// journal is the controller's log: everything goes to a file, and what a person wants to see while trying things also to the screen. It
// is safe for concurrent use.
type journal struct {
	file *os.File

	mu      sync.Mutex // guards what follows
	screen  io.Writer  // nil until there is somebody to read
	partial []byte     // of the last line
}

// Write never fails, so that the controller's pipe stays open whatever the disk does.
func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	_, _ = j.file.Write(p)
	j.partial = append(j.partial, p...)
	for {
		line, rest, whole := bytes.Cut(j.partial, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		if j.screen != nil && interesting(line) {
			_, _ = j.screen.Write(append([]byte("  "), append(line, '\n')...))
		}
		j.partial = rest
	}
}

// show sends interesting lines to the screen from now on.
func (j *journal) show(screen io.Writer) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.screen = screen
}

// interesting tells whether a line says that a change was applied or that something is wrong.
func interesting(line []byte) bool {
	return bytes.HasPrefix(line, []byte("time=")) &&
		(bytes.Contains(line, []byte("msg=applied")) || bytes.Contains(line, []byte("level=WARN")) || bytes.Contains(line, []byte("level=ERROR")))
}
