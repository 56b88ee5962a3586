// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package nginx

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/fairway-ingress/fairway/internal/model"
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

// Fallback is the certificate for names that have none: self-signed, made at the start.
func (d *Driver) Fallback() *model.Certificate { return d.fallback }
