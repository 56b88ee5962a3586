// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kong

import (
	"errors"
	"fmt"
	"time"
)

// verdict gives the error of a round. Where some gateways hold what they should there is none: those that don't are tried again by and by, and
// neither keep what the others serve from counting as in force nor have the others asked again and again.
func (d *Driver) verdict(all []*pushing) error {
	var errs []error
	for _, p := range all {
		if p.err != nil {
			errs = append(errs, fmt.Errorf("gateway %s: %w", p.gateway.endpoint.URL, p.err))
		}
	}
	if len(errs) == len(all) {
		return errors.Join(errs...)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range all {
		for _, known := range d.gateways {
			if known.endpoint == p.gateway.endpoint {
				d.leave(known, p.err)
			}
		}
	}
	return nil
}

// leave notes how a gateway fared in a round in which others fared well. The lock is held.
func (d *Driver) leave(g *gateway, err error) {
	if err == nil {
		g.behind, g.rest = "", 0
		return
	}
	if text := err.Error(); g.behind != text {
		d.o.Log.Error("change is not in force on one gateway, which keeps its last good state", "gateway", g.endpoint.URL, "err", err)
		g.behind = text
	}
	g.rest = min(max(2*g.rest, min(d.o.WatchEvery, time.Second)), pauseMax)
	g.again = time.Now().Add(g.rest)
}

// overdue tells whether a gateway that is behind the others is to be tried again, and notes that it is. The lock is held.
func (g *gateway) overdue(now time.Time) bool {
	if g.behind == "" || now.Before(g.again) {
		return false
	}
	g.again = now.Add(g.rest)
	return true
}
