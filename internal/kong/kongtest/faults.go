// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kongtest

import (
	"io"
	"net/http"
	"time"
)

// Fault is something that goes wrong with one request.
type Fault struct {
	// Status and Body are answered in place of the gateway, with the header Retry-After unless RetryAfter is empty.
	Status     int
	Body       string
	RetryAfter string
	// Applied has the request carried out all the same.
	Applied bool
	// Cut breaks the connection in place of an answer, Half in the middle of one.
	Cut, Half bool
	// Delay comes before anything else.
	Delay time.Duration
}

// Inject has f asked about each request before it is served; nil, or a nil answer, lets it pass. One request is asked about at a time.
func (s *Simulator) Inject(f func(Call) *Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

func (s *Simulator) faultFor(c Call) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fault == nil {
		return nil
	}
	return s.fault(c)
}

func (f *Fault) status() int {
	if f == nil || f.Cut || f.Half {
		return 0
	}
	return f.Status
}

// before carries the fault out where the request is not to be, and tells whether it is over.
func (f *Fault) before(w http.ResponseWriter, r *http.Request) bool {
	if f == nil {
		return false
	}
	select {
	case <-time.After(f.Delay):
	case <-r.Context().Done():
	}
	if f.Applied || f.Half {
		return false
	}
	return f.afterwards(w)
}

// afterwards spoils the answer and tells whether that was done.
func (f *Fault) afterwards(w http.ResponseWriter) bool {
	switch {
	case f == nil:
		return false
	case f.Cut:
		panic(http.ErrAbortHandler)
	case f.Half:
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"data":[{"id":"`) // the connection is cut anyway
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case f.Status == 0:
		return false
	}
	if f.RetryAfter != "" {
		w.Header().Set("Retry-After", f.RetryAfter)
	}
	w.WriteHeader(f.Status)
	_, _ = io.WriteString(w, f.Body) // as above
	return true
}
