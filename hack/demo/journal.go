// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"time"
)

// follow shows on the screen what of a log a person wants to see while trying things, from the log's present end on, until ctx ends. The
// controller writes to the file and not to a pipe of ours, because a broken pipe would kill it before it has stopped nginx.
func follow(ctx context.Context, path string, screen io.Writer) {
	file, err := os.Open(path)
	if err != nil {
		return
	}
	defer file.Close()
	if _, err := file.Seek(0, io.SeekEnd); err != nil {
		return
	}
	reader := bufio.NewReader(file)
	var line []byte
	for {
		part, err := reader.ReadBytes('\n')
		line = append(line, part...)
		if err == nil {
			if interesting(line) {
				_, _ = screen.Write(append([]byte("  "), line...))
			}
			line = line[:0]
			continue
		}
		select { // at the end for now
		case <-ctx.Done():
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// interesting tells whether a line says that a change was applied or that something is wrong.
func interesting(line []byte) bool {
	return bytes.HasPrefix(line, []byte("time=")) &&
		(bytes.Contains(line, []byte("msg=applied")) || bytes.Contains(line, []byte("level=WARN")) || bytes.Contains(line, []byte("level=ERROR")))
}
