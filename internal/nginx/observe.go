// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package nginx

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/nginx/state"
	"github.com/fairway-ingress/fairway/internal/nginx/traffic"
)

// configuration is what Usage says of nginx.conf. It is kept aside, as the driver's lock is held while nginx reloads.
type configuration struct {
	shapes int
	hash   string
}

// mostTraffic bounds one call of Traffic, so that workers which count faster than they are asked do not hold it up.
const mostTraffic = 16

// Traffic gives what requests were counted since the last call. What it gives nobody gives again, also with an error. Nil without
// Options.Traffic.
func (d *Driver) Traffic(ctx context.Context) ([]model.Traffic, error) {
	if d.options.Traffic == nil {
		return nil, nil
	}
	var all []model.Traffic
	for range mostTraffic {
		text, err := d.client.Traffic(ctx)
		if err != nil || len(text) == 0 {
			return all, err
		}
		sets, err := traffic.Parse(text, d.options.Traffic)
		all = append(all, sets...)
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// Usage asks nginx for what it uses of its shared memory, and for its connections.
func (d *Driver) Usage(ctx context.Context) (model.Usage, error) {
	var u model.Usage
	sizes, zonesErr := d.client.Zones(ctx)
	for _, name := range slices.Sorted(maps.Keys(sizes)) {
		u.Zones = append(u.Zones, model.Zone{Name: name, Bytes: sizes[name][0], Free: sizes[name][1]})
	}
	connections, connectionsErr := d.client.Connections(ctx)
	u.Connections = model.Connections(connections)
	if c := d.running.Load(); c != nil {
		u.Shapes, u.Configuration = c.shapes, c.hash
	}
	return u, errors.Join(zonesErr, connectionsErr)
}

// Ejected lists the endpoints that requests found to fail and that get none for a while, by backend and address, and how many ejections there were
// since nginx started.
func (d *Driver) Ejected(ctx context.Context) ([]model.EndpointHealth, uint64, error) {
	answer, err := d.client.Ejections(ctx)
	if err != nil {
		return nil, 0, err
	}
	moment := func(seconds float64) time.Time { return time.UnixMilli(int64(seconds * 1000)) }
	var list []model.EndpointHealth
	for _, e := range answer.List {
		id, address, err := state.ParseEndpoint(e.Backend, e.Endpoint)
		if err != nil {
			return nil, 0, fmt.Errorf("answer of nginx: %w", err)
		}
		list = append(list, model.EndpointHealth{Backend: id, Endpoint: address, State: model.Ejected, Since: moment(e.Since), Until: moment(e.Until)})
	}
	slices.SortFunc(list, func(a, b model.EndpointHealth) int {
		return cmp.Or(a.Backend.Compare(b.Backend), a.Endpoint.Compare(b.Endpoint))
	})
	return list, answer.Total, nil
}

// Fallback is the certificate for names that have none: self-signed, made at the start.
func (d *Driver) Fallback() *model.Certificate { return d.fallback }
