// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package streamlog writes the access log of TCP and UDP services: a line for each [Session] that is over, by the settings log-format-stream,
// stream-access-log-path and their kin.
//
// A line is made once, when its session ends, into a buffer; one goroutine writes the buffer to the file a moment later. Sessions never wait for the file:
// when it takes nothing for so long that the buffer is full, lines are left out, and counted in the controller's log. A file is opened anew for each write,
// so it may be moved away at any time; lines are never torn, also not in a pipe that nginx writes to as well.
//
// Start with log.go; format.go makes lines, file.go is where they go.
package streamlog
