// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package streamlog

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairway-ingress/fairway/internal/model"
)

const (
	// mostPending is how many bytes may wait for the file.
	mostPending = 1 << 20
	// enough bytes are written at once; fewer after at most writeAfter.
	enough     = 32 << 10
	writeAfter = 200 * time.Millisecond
	// complainEvery is how often the controller's log tells of trouble at most.
	complainEvery = time.Minute
)

// Log writes lines. All methods may be called from any goroutine.
type Log struct {
	standard io.Writer
	log      *slog.Logger
	use      atomic.Pointer[use]
	some     chan struct{} // there are lines
	many     chan struct{} // there are enough of them

	mu      sync.Mutex // guards below
	pending []byte
	lost    int
}

// use is what the settings say.
type use struct {
	logs   model.Logs
	format format
	file   file
}

// New gives one that writes nothing until Use. What has no other place to go is written to standard.
func New(standard io.Writer, log *slog.Logger) *Log {
	return &Log{standard: standard, log: log, some: make(chan struct{}, 1), many: make(chan struct{}, 1)}
}

// Use makes settings count for the sessions that end from now on.
func (l *Log) Use(logs *model.Logs) {
	if logs.NoStream {
		l.use.Store(nil)
		return
	}
	next := &use{logs: *logs, file: newFile(logs)}
	if last := l.use.Load(); last != nil && last.logs.StreamFormat == logs.StreamFormat {
		if last.logs.Stream == logs.Stream && slices.Equal(last.logs.Params, logs.Params) {
			return
		}
		next.format = last.format
	} else {
		next.format = newFormat(logs.StreamFormat)
	}
	l.use.Store(next)
}

// On tells whether sessions are logged, so that nobody collects in vain what Write wants to know.
func (l *Log) On() bool { return l.use.Load() != nil }

// Write notes that a session is over.
func (l *Log) Write(s *Session) {
	u := l.use.Load()
	if u == nil {
		return
	}
	l.mu.Lock()
	before := len(l.pending)
	if before >= mostPending {
		l.lost++
		l.mu.Unlock()
		return
	}
	l.pending = u.format.line(l.pending, s)
	after := len(l.pending)
	l.mu.Unlock()
	if before == 0 {
		notify(l.some)
	}
	if before < enough && after >= enough {
		notify(l.many)
	}
}

// Run writes lines until ctx ends, and then those that there are.
func (l *Log) Run(ctx context.Context) {
	var spare []byte
	var complained time.Time
	for ended := false; !ended; {
		select {
		case <-ctx.Done():
			ended = true
		case <-l.some:
			select {
			case <-ctx.Done():
			case <-l.many:
			case <-time.After(writeAfter):
			}
		}
		l.mu.Lock()
		lines, lost := l.pending, l.lost
		l.pending, l.lost = spare[:0], 0
		l.mu.Unlock()
		err := l.write(lines)
		if (err != nil || lost > 0) && time.Since(complained) > complainEvery {
			complained = time.Now()
			l.log.Warn("sessions of TCP and UDP services are not logged", "lines", lost, "err", err)
		}
		spare = lines
	}
}

func (l *Log) write(lines []byte) error {
	u := l.use.Load()
	if u == nil || len(lines) == 0 {
		return nil // turned off meanwhile
	}
	return u.file.write(lines, l.standard)
}

func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
