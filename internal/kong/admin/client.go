// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package admin

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Options say how a gateway is reached. URL is required.
type Options struct {
	URL string
	// Header is asked for with every request, so that a token that was renewed counts at once; nil for none.
	Header func() (http.Header, error)
	// TLS is for URLs with https; nil for the machine's defaults.
	TLS *tls.Config
	// Workspace is one of Kong Enterprise; empty for the default.
	Workspace string
	// Concurrency bounds the requests under way; 10 unless given.
	Concurrency int
	// Timeout is for one try of one request, 10 s unless given; DocumentTimeout for declarative documents, 30 s unless given.
	Timeout, DocumentTimeout time.Duration
	// Tries are how often a request is sent that fails for a reason that may pass, 4 unless given. Pause is before the second, and doubles; 1 s.
	Tries int
	Pause time.Duration
}

// Client is safe for concurrent use.
type Client struct {
	o    Options
	base string
	http *http.Client
	free chan struct{}
}

// New checks the URL. Nothing is sent.
func New(o Options) (*Client, error) {
	u, err := url.Parse(o.URL)
	if err != nil {
		return nil, fmt.Errorf("admin URL: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("admin URL %q is not of the form http://HOST:PORT or https://HOST:PORT", u.Redacted())
	}
	o.Concurrency, o.Tries = cmp.Or(o.Concurrency, 10), cmp.Or(o.Tries, 4)
	o.Timeout, o.DocumentTimeout, o.Pause = cmp.Or(o.Timeout, 10*time.Second), cmp.Or(o.DocumentTimeout, 30*time.Second), cmp.Or(o.Pause, time.Second)
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: o.TLS, MaxConnsPerHost: o.Concurrency, MaxIdleConnsPerHost: o.Concurrency,
		IdleConnTimeout: 50 * time.Second, // less than the 75 s after which nginx hangs up
	}
	return &Client{
		o: o, base: strings.TrimSuffix(o.URL, "/"), free: make(chan struct{}, o.Concurrency),
		http: &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}, nil
}

// URL names the gateway.
func (c *Client) URL() string { return c.base }

// Close ends idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// request is one that can be sent several times.
type request struct {
	method, path string
	kind         string // content type
	body         []byte
	timeout      time.Duration
	limit        int64 // of the answer
	once         bool
}

// response is an answer that is no failure.
type response struct {
	status int
	body   []byte
}

const (
	listLimit  = 64 << 20
	otherLimit = 1 << 20
)

// send sends a request until it succeeds, fails for good, or has failed often enough.
func (c *Client) send(ctx context.Context, r request) (*response, error) {
	r.timeout, r.limit = cmp.Or(r.timeout, c.o.Timeout), cmp.Or(r.limit, otherLimit)
	select {
	case c.free <- struct{}{}:
		defer func() { <-c.free }()
	case <-ctx.Done():
		return nil, c.fault(r, ctx.Err())
	}
	pause := c.o.Pause
	for try := 1; ; try++ {
		answer, err := c.try(ctx, r)
		failure := new(Error)
		if err == nil || !errors.As(err, &failure) || !failure.Class.Passing() || try == c.o.Tries || r.once {
			return answer, err
		}
		wait := max(pause+rand.N(pause/4+1), failure.RetryAfter)
		pause *= 2
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, err
		}
	}
}

// try sends a request once.
func (c *Client) try(ctx context.Context, r request) (*response, error) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, r.method, c.base+r.path, bytes.NewReader(r.body))
	if err != nil {
		return nil, c.fault(r, err)
	}
	if c.o.Header != nil {
		header, err := c.o.Header()
		if err != nil {
			return nil, &Error{Class: Auth, Method: r.method, Path: r.path, Message: err.Error()}
		}
		q.Header = header.Clone()
	}
	q.Header.Set("User-Agent", "fairway")
	if r.kind != "" {
		q.Header.Set("Content-Type", r.kind)
	}
	answer, err := c.http.Do(q)
	if err != nil {
		return nil, c.fault(r, err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, r.limit+1))
	if err != nil {
		return nil, c.fault(r, err)
	}
	if int64(len(body)) > r.limit {
		body = body[:r.limit] // the connection ends with the rest unread
		if answer.StatusCode >= 300 || r.limit == listLimit {
			return nil, c.fault(r, fmt.Errorf("answer is longer than %d bytes", r.limit))
		}
	}
	if answer.StatusCode >= 200 && answer.StatusCode < 300 || answer.StatusCode == http.StatusNotModified {
		return &response{answer.StatusCode, body}, nil
	}
	return nil, readError(r, answer, body)
}

// fault is a failure on the way. What the URL holds is not told twice, and the reason stays within reach of errors.Is.
func (c *Client) fault(r request, err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return &Error{Class: Transport, Method: r.method, Path: r.path, Message: err.Error(), cause: err}
}

// decode reads an answer into out.
func (c *Client) decode(r request, answer *response, out any) error {
	if err := json.Unmarshal(answer.body, out); err != nil {
		return c.fault(r, fmt.Errorf("answer is not the JSON that it should be: %w", err))
	}
	return nil
}
