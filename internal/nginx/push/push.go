// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package push speaks to a running nginx over its admin socket. It decides nothing; what a push says is made in package nginx/state,
// what an answer leads to is up to package nginx. The other end is fairway/admin.lua.
package push

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/fairway-ingress/fairway/internal/nginx/state"
)

// Client is safe for concurrent use.
type Client struct{ http *http.Client }

// NewClient gives a client for the socket at that path.
func NewClient(socket string) *Client {
	var dialer net.Dialer
	return &Client{&http.Client{
		Timeout: 10 * time.Second,
		Transport: &http.Transport{
			// A new connection each time: a kept one could end at a worker that is about to leave.
			DisableKeepAlives: true,
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return dialer.DialContext(ctx, "unix", socket)
			},
		},
	}}
}

// Status is what nginx says of itself.
type Status struct {
	// Configuration is the hash of the nginx.conf that the answering worker runs.
	Configuration string `json:"configuration"`
	// Generation is that of the state in shared memory.
	Generation uint64 `json:"generation"`
	// PID is the worker that answered.
	PID   int    `json:"pid"`
	Error string `json:"error"`
}

// Errors that the caller decides by.
var (
	// ErrFull says that the shared memory zone is too small for the push.
	ErrFull = errors.New("shared memory zone is full")
	// ErrGeneration says that the state in shared memory is not the one that the push starts from.
	ErrGeneration = errors.New("state is of another generation")
)

// Status asks a worker.
func (c *Client) Status(ctx context.Context) (Status, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://nginx/status", nil)
	if err != nil {
		return Status{}, err
	}
	return c.do(request)
}

// Send applies a push. Sending one again that was applied already is harmless.
func (c *Client) Send(ctx context.Context, p state.Push) (Status, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://nginx/push", bytes.NewReader(p.Text))
	if err != nil {
		return Status{}, err
	}
	request.Header.Set("Fairway-Base", strconv.FormatUint(p.Generation-1, 10))
	status, err := c.do(request)
	if err != nil {
		return status, fmt.Errorf("push generation %d: %w", p.Generation, err)
	}
	return status, nil
}

func (c *Client) do(request *http.Request) (Status, error) {
	response, err := c.http.Do(request)
	if err != nil {
		return Status{}, err
	}
	defer response.Body.Close()
	var status Status
	if err := json.NewDecoder(response.Body).Decode(&status); err != nil {
		return status, fmt.Errorf("answer of nginx (status %d): %w", response.StatusCode, err)
	}
	switch response.StatusCode {
	case http.StatusOK:
		return status, nil
	case http.StatusInsufficientStorage:
		return status, ErrFull
	case http.StatusConflict:
		return status, fmt.Errorf("%w: %d", ErrGeneration, status.Generation)
	default:
		return status, fmt.Errorf("nginx answers %d: %s", response.StatusCode, status.Error)
	}
}
