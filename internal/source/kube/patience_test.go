// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"testing"
	"time"
)

// failing answers with an error so many times.
type failing struct{ times int }

func (f *failing) RoundTrip(*http.Request) (*http.Response, error) {
	if f.times--; f.times >= 0 {
		return nil, errors.New("connection refused")
	}
	return &http.Response{StatusCode: http.StatusOK}, nil
}

func TestPatience(t *testing.T) {
	ask := func(method string, times int, limit time.Duration) error {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, method, "http://api/", nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := Patience(slog.New(slog.DiscardHandler))(&failing{times}).RoundTrip(request)
		if err == nil && response.StatusCode != http.StatusOK {
			t.Errorf("status %d", response.StatusCode)
		}
		return err
	}
	if err := ask(http.MethodGet, 1, 10*time.Second); err != nil {
		t.Errorf("a read did not wait: %v", err)
	}
	if err := ask(http.MethodPost, 1, 10*time.Second); err == nil {
		t.Error("a write was repeated")
	}
	if err := ask(http.MethodGet, 1000, 10*time.Millisecond); err == nil {
		t.Error("a read outlived its context")
	}
}
