// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/fairway-ingress/fairway/internal/kong/entity"
)

// ErrTooOld is what gateways older than [entity.Oldest] are refused with.
var ErrTooOld = errors.New("gateway is older than Kong " + entity.Oldest.String())

// Gateway reads what the gateway is.
func (c *Client) Gateway(ctx context.Context) (*entity.Gateway, error) {
	path := "/"
	if c.o.Workspace != "" {
		path = "/" + url.PathEscape(c.o.Workspace) + "/kong"
	}
	r := request{method: http.MethodGet, path: path, once: true}
	answer, err := c.send(ctx, r)
	if err != nil {
		return nil, err
	}
	var root struct {
		Version string `json:"version"`
		Edition string `json:"edition"`
		Plugins struct {
			Available map[string]any `json:"available_on_server"`
		} `json:"plugins"`
		Configuration struct {
			Database string          `json:"database"`
			Flavor   string          `json:"router_flavor"`
			Streams  json.RawMessage `json:"stream_listeners"`
		} `json:"configuration"`
	}
	if err := c.decode(r, answer, &root); err != nil {
		return nil, err
	}
	version, err := entity.ParseVersion(root.Version)
	if err != nil {
		return nil, c.fault(r, err)
	}
	if !version.AtLeast(entity.Oldest.Major, entity.Oldest.Minor) {
		return nil, fmt.Errorf("%w: it is %s", ErrTooOld, root.Version)
	}
	g := &entity.Gateway{
		Version: version, Enterprise: root.Edition == "enterprise" || strings.Count(root.Version, ".") > 2,
		Database: root.Configuration.Database != "off", Flavor: root.Configuration.Flavor,
		Plugins: slices.Sorted(maps.Keys(root.Plugins.Available)), StreamPorts: ports(root.Configuration.Streams),
	}
	if g.Flavor == "" {
		g.Flavor = "traditional"
	}
	return g, nil
}

// ports gives those of listeners, sorted, and not nil.
func ports(listeners json.RawMessage) []int {
	var list []struct {
		Port int `json:"port"`
	}
	_ = json.Unmarshal(listeners, &list) // an empty list may be {}
	found := []int{}
	for _, l := range list {
		found = append(found, l.Port)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// NoHash is the hash of a gateway that holds no configuration.
const NoHash = "00000000000000000000000000000000"

// Hash reads the hash of the configuration of a DB-less gateway; with a database it is empty. It is asked once, as others watch.
func (c *Client) Hash(ctx context.Context) (string, error) {
	r := request{method: http.MethodGet, path: "/status", once: true}
	answer, err := c.send(ctx, r)
	if err != nil {
		return "", err
	}
	var status struct {
		Hash string `json:"configuration_hash"`
	}
	return status.Hash, c.decode(r, answer, &status)
}

// Load gives a DB-less gateway a document. It tells whether that was news to the gateway.
func (c *Client) Load(ctx context.Context, document []byte) (bool, error) {
	r := request{
		method: http.MethodPost, path: "/config?check_hash=1&flatten_errors=1", kind: "text/yaml", body: document, timeout: c.o.DocumentTimeout, once: true,
	}
	answer, err := c.send(ctx, r)
	failure := new(Error)
	if errors.As(err, &failure) && failure.Status == http.StatusBadRequest && len(failure.Fields) == 0 && len(failure.Flattened) == 0 {
		// References to nothing lose all detail on the way into the flat form.
		r.path = "/config?check_hash=1"
		answer, err = c.send(ctx, r)
	}
	if err != nil {
		return false, err
	}
	return answer.status != http.StatusNotModified, nil
}

// Document reads what a DB-less gateway holds, as a declarative document in JSON.
func (c *Client) Document(ctx context.Context) ([]byte, error) {
	r := request{method: http.MethodGet, path: "/config", limit: listLimit, timeout: c.o.DocumentTimeout, once: true}
	answer, err := c.send(ctx, r)
	if err != nil {
		return nil, err
	}
	var body struct {
		Config string `json:"config"`
	}
	if err := c.decode(r, answer, &body); err != nil {
		return nil, err
	}
	if json.Valid([]byte(body.Config)) {
		return []byte(body.Config), nil
	}
	document, err := yaml.YAMLToJSON([]byte(body.Config))
	if err != nil {
		return nil, c.fault(r, fmt.Errorf("the configuration is not the YAML that it should be: %w", err))
	}
	return document, nil
}
