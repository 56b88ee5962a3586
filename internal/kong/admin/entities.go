// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/fairway-ingress/fairway/internal/kong/entity"
)

// Record is an entity as a gateway shows it.
type Record map[string]any

// ID gives the id.
func (r Record) ID() string { return r.Text("id") }

// Text gives a field as text: a string, or the id of a reference; empty when it is unset or something else.
func (r Record) Text(name string) string {
	switch v := r[name].(type) {
	case string:
		return v
	case map[string]any:
		id, _ := v["id"].(string)
		return id
	}
	return ""
}

// Tags gives the tags.
func (r Record) Tags() []string {
	var tags []string
	list, _ := r["tags"].([]any)
	for _, t := range list {
		if s, ok := t.(string); ok {
			tags = append(tags, s)
		}
	}
	return tags
}

// Address is where an entity is in the Admin API. Parent is the id of what it is found below, for kinds that have no other path; the ID of a membership
// is then that of the consumer.
type Address struct {
	Kind   *entity.Kind
	ID     string
	Parent string
}

// collection gives the path of the kind; CA certificates belong to no workspace.
func (c *Client) collection(kind *entity.Kind, parent string) string {
	prefix := ""
	if c.o.Workspace != "" && kind != entity.CACertificates {
		prefix = "/" + url.PathEscape(c.o.Workspace)
	}
	if kind.Path == "" {
		return prefix + entity.KindNamed(kind.To(kind.Within).Kind).Path + "/" + url.PathEscape(parent) + "/" + kind.Below
	}
	return prefix + kind.Path
}

func (c *Client) path(a Address) string {
	return c.collection(a.Kind, a.Parent) + "/" + url.PathEscape(a.ID)
}

// Get reads an entity; that it is not there is an Error of class Gone.
func (c *Client) Get(ctx context.Context, a Address) (Record, error) {
	return c.entity(ctx, request{method: http.MethodGet, path: c.path(a)})
}

// Put creates or replaces an entity.
func (c *Client) Put(ctx context.Context, a Address, body []byte) (Record, error) {
	return c.entity(ctx, request{method: http.MethodPut, path: c.path(a), kind: "application/json", body: body})
}

// Post creates an entity; the id is in the body.
func (c *Client) Post(ctx context.Context, a Address, body []byte) (Record, error) {
	return c.entity(ctx, request{method: http.MethodPost, path: c.collection(a.Kind, a.Parent), kind: "application/json", body: body})
}

// Patch changes fields of an entity.
func (c *Client) Patch(ctx context.Context, a Address, body []byte) (Record, error) {
	return c.entity(ctx, request{method: http.MethodPatch, path: c.path(a), kind: "application/json", body: body})
}

// Delete removes an entity; one that is not there is gone already.
func (c *Client) Delete(ctx context.Context, a Address) error {
	_, err := c.send(ctx, request{method: http.MethodDelete, path: c.path(a)})
	var failure *Error
	if errors.As(err, &failure) && failure.Class == Gone {
		return nil
	}
	return err
}

func (c *Client) entity(ctx context.Context, r request) (Record, error) {
	answer, err := c.send(ctx, r)
	if err != nil {
		return nil, err
	}
	var record Record
	return record, c.decode(r, answer, &record)
}

// pageSize is the largest that Kong gives.
const pageSize = "1000"

// List reads all entities of a kind that have a tag; an empty tag stands for all. Targets are those of one upstream, whatever their tags, and
// memberships are the consumers of one group.
func (c *Client) List(ctx context.Context, kind *entity.Kind, parent, tag string) ([]Record, error) {
	var all []Record
	seen := map[string]bool{}
	query := url.Values{"size": {pageSize}}
	if tag != "" && kind.Path != "" {
		query.Set("tags", tag)
	}
	for {
		r := request{method: http.MethodGet, path: c.collection(kind, parent) + "?" + query.Encode(), limit: listLimit}
		answer, err := c.send(ctx, r)
		if err != nil {
			return nil, err
		}
		page, offset, err := readPage(answer.body)
		if err != nil {
			return nil, c.fault(r, err)
		}
		for _, record := range page {
			// Pages are not of one moment: what is written meanwhile may come twice.
			if !seen[record.ID()] {
				seen[record.ID()] = true
				all = append(all, record)
			}
		}
		if offset == "" {
			return all, nil
		}
		query.Set("offset", offset)
	}
}

func readPage(body []byte) (records []Record, offset string, err error) {
	var page struct {
		Data      json.RawMessage `json:"data"`
		Consumers json.RawMessage `json:"consumers"` // of a group, before 3.5
		Offset    any             `json:"offset"`
	}
	if err := json.Unmarshal(body, &page); err != nil {
		return nil, "", fmt.Errorf("list is no JSON: %w", err)
	}
	if page.Data == nil {
		page.Data = page.Consumers
	}
	if len(page.Data) > 0 && page.Data[0] == '[' { // an empty list may be {}
		if err := json.Unmarshal(page.Data, &records); err != nil {
			return nil, "", fmt.Errorf("list: %w", err)
		}
	}
	switch v := page.Offset.(type) {
	case string:
		offset = v
	case float64:
		offset = fmt.Sprint(int64(v))
	}
	return records, offset, nil
}

// Validate asks whether an entity would be taken, as far as the schema goes; nil says that it would.
func (c *Client) Validate(ctx context.Context, kind *entity.Kind, body []byte) error {
	_, err := c.send(ctx, request{method: http.MethodPost, path: "/schemas/" + kind.Name + "/validate", kind: "application/json", body: body})
	return err
}
