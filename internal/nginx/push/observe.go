// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package push

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// Traffic takes what the workers have counted, in the form of package nginx/traffic; empty when there is nothing more.
func (c *Client) Traffic(ctx context.Context) ([]byte, error) {
	return c.text(ctx, http.MethodPost, "/traffic")
}

// Zones gives the size and the free bytes of each shared memory by its name.
func (c *Client) Zones(ctx context.Context) (map[string][2]int64, error) {
	text, err := c.text(ctx, http.MethodGet, "/zones")
	if err != nil {
		return nil, err
	}
	var answer struct {
		Zones map[string][2]int64 `json:"zones"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, fmt.Errorf("answer of nginx: %w", err)
	}
	return answer.Zones, nil
}

// Ejections are the endpoints that get no requests for a while.
type Ejections struct {
	// Total counts ejections since nginx started.
	Total uint64     `json:"total"`
	List  []Ejection `json:"list"`
}

// Ejection is one of them, by the key of its backend and its name; times are Unix seconds.
type Ejection struct {
	Backend  string  `json:"backend"`
	Endpoint string  `json:"endpoint"`
	Since    float64 `json:"since"`
	Until    float64 `json:"until"`
}

// Ejections asks which endpoints are ejected now.
func (c *Client) Ejections(ctx context.Context) (Ejections, error) {
	var answer Ejections
	text, err := c.text(ctx, http.MethodGet, "/ejected")
	if err != nil {
		return answer, err
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return answer, fmt.Errorf("answer of nginx: %w", err)
	}
	return answer, nil
}

// Connections are those of clients, and all requests, since nginx started.
type Connections struct {
	Active, Reading, Writing, Waiting int64
	Accepted, Handled, Requests       uint64
}

// Connections gives the numbers of nginx' stub_status.
func (c *Client) Connections(ctx context.Context) (Connections, error) {
	var n Connections
	text, err := c.text(ctx, http.MethodGet, "/connections")
	if err != nil {
		return n, err
	}
	_, err = fmt.Sscanf(string(text), "Active connections: %d \nserver accepts handled requests\n %d %d %d \nReading: %d Writing: %d Waiting: %d",
		&n.Active, &n.Accepted, &n.Handled, &n.Requests, &n.Reading, &n.Writing, &n.Waiting)
	if err != nil {
		return n, fmt.Errorf("status of nginx: %w", err)
	}
	return n, nil
}

func (c *Client) text(ctx context.Context, method, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, "http://nginx"+path, nil)
	if err != nil {
		return nil, err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("nginx answers %s with %d", path, response.StatusCode)
	}
	return io.ReadAll(response.Body)
}
