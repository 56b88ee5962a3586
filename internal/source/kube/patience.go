// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"
)

// retryEvery is how long an unreachable API server is left alone between two tries.
const retryEvery = 500 * time.Millisecond

// Patience gives a wrapper for rest.Config.Wrap that lets reads wait while the API server cannot be reached, instead of failing. Left to
// themselves, client-go's watches back off for up to a minute after an outage; with it they go on within half a second.
func Patience(log *slog.Logger) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper { return &patient{next: next, log: log} }
}

type patient struct {
	next http.RoundTripper
	log  *slog.Logger
	away atomic.Bool
}

// RoundTrip repeats a read until the server answers anything at all or the request's context ends.
func (p *patient) RoundTrip(request *http.Request) (*http.Response, error) {
	for {
		response, err := p.next.RoundTrip(request)
		if err == nil {
			if p.away.CompareAndSwap(true, false) {
				p.log.Info("the API server answers again")
			}
			return response, nil
		}
		if request.Method != http.MethodGet || request.Context().Err() != nil {
			return nil, err
		}
		if p.away.CompareAndSwap(false, true) {
			p.log.Warn("the API server does not answer; the last known state stays in force", "err", err)
		}
		select {
		case <-request.Context().Done():
			return nil, err
		case <-time.After(retryEvery):
		}
	}
}
