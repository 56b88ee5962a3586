// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kong

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/fairway-ingress/fairway/internal/kong/admin"
	"github.com/fairway-ingress/fairway/internal/kong/entity"
)

// gateway is one that is or was found. Its fields are guarded by the driver's lock, but for the client and the endpoint, which never change.
type gateway struct {
	endpoint Endpoint
	client   *admin.Client

	// about is nil until the gateway answered, and again when it stopped answering. err is why.
	about *entity.Gateway
	err   error
	// looked is when it was asked last, pause how long it is left alone after a failure.
	looked time.Time
	pause  time.Duration
	// hash is what a DB-less gateway was last seen to hold, want what it should.
	hash, want string
	// took is the last state that a gateway took, as a document where it has no database; failed is the last that it did not take as a whole.
	took   *variant
	failed *attempt
	// behind is why it does not hold what others do, again when it is tried next, after a rest that grows.
	behind string
	again  time.Time
	rest   time.Duration
	// refusals are why entities are not in force as written.
	refusals map[entity.Place]string
}

// pauseMax is how long a gateway that fails is left alone at most.
const pauseMax = 30 * time.Second

// Run watches the gateways until ctx ends. What they hold is left to them.
func (d *Driver) Run(ctx context.Context) error {
	ticker := time.NewTicker(min(d.o.WatchEvery, time.Second))
	defer ticker.Stop()
	var looks sync.WaitGroup
	defer func() {
		looks.Wait()
		for _, g := range d.gateways {
			g.client.Close()
		}
	}()
	for {
		if err := d.reconcile(); err != nil {
			return err
		}
		for _, g := range d.due(time.Now()) {
			looks.Go(func() { d.look(ctx, g) })
		}
		d.lookAfterLeadership()
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		case <-d.o.Gateways.Changed():
		}
	}
}

// lookAfterLeadership asks for a round when this replica began to lead, and when a verification is due.
func (d *Driver) lookAfterLeadership() {
	d.mu.Lock()
	leading := d.o.Leads()
	began, due := leading && !d.leading, leading && !d.verified.IsZero() && time.Since(d.verified) > d.o.VerifyEvery
	d.leading = leading
	d.mu.Unlock()
	if began || due {
		d.owed()
	}
}

// reconcile follows the list of gateways.
func (d *Driver) reconcile() error {
	endpoints := d.o.Gateways.Endpoints()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.gateways = slices.DeleteFunc(d.gateways, func(g *gateway) bool {
		gone := !slices.Contains(endpoints, g.endpoint)
		if gone {
			d.o.Log.Info("gateway is gone", "gateway", g.endpoint.URL)
			g.client.Close()
			d.o.Gone(g.endpoint.URL)
		}
		return gone
	})
	for _, e := range endpoints {
		if slices.ContainsFunc(d.gateways, func(g *gateway) bool { return g.endpoint == e }) {
			continue
		}
		client, err := d.o.Connect(e)
		if err != nil {
			return fmt.Errorf("gateway %s: %w", e.URL, err)
		}
		d.gateways = append(d.gateways, &gateway{endpoint: e, client: client})
	}
	slices.SortFunc(d.gateways, func(a, b *gateway) int { return cmp.Compare(a.endpoint.URL, b.endpoint.URL) })
	return nil
}

// due gives the gateways that should be looked at now, and notes that they are.
func (d *Driver) due(now time.Time) []*gateway {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []*gateway
	for _, g := range d.gateways {
		wait := d.o.WatchEvery
		if g.about == nil {
			wait = max(g.pause, g.rest)
		}
		if now.Sub(g.looked) >= wait {
			g.looked = now
			list = append(list, g)
		}
	}
	return list
}

// look asks a gateway what it is, and what it holds.
func (d *Driver) look(ctx context.Context, g *gateway) {
	ctx, cancel := context.WithTimeout(ctx, d.o.LookPatience)
	defer cancel()
	d.mu.Lock()
	about := g.about
	d.mu.Unlock()
	var err error
	news := about == nil
	if news {
		about, err = g.client.Gateway(ctx)
	}
	hash := ""
	if err == nil {
		hash, err = g.client.Hash(ctx)
	}
	d.seen(g, about, hash, news, err)
}

// seen notes how a gateway was found, and asks for a push if it is owed one.
func (d *Driver) seen(g *gateway, about *entity.Gateway, hash string, news bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil {
		if errors.Is(err, context.Canceled) {
			return
		}
		if g.about != nil || g.err == nil {
			d.o.Log.Warn("gateway does not answer", "gateway", g.endpoint.URL, "err", err)
		}
		g.about, g.err = nil, err
		g.pause = min(max(2*g.pause, min(d.o.WatchEvery, time.Second/2)), pauseMax)
		return
	}
	g.about, g.err, g.pause, g.hash = about, nil, 0, hash
	if news {
		d.o.Log.Info("gateway answers", "gateway", g.endpoint.URL, "version", about.Version.String(), "database", about.Database, "flavor", about.Flavor)
		select {
		case d.readied <- struct{}{}:
		default:
		}
	}
	if news || g.overdue(time.Now()) || !about.Database && g.want != "" && g.hash != g.want {
		d.owed()
	}
}

// lost notes that a gateway failed while it was written to.
func (d *Driver) lost(g *gateway, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, known := range d.gateways {
		if known.endpoint == g.endpoint {
			known.about, known.err, known.pause, known.looked = nil, err, min(d.o.WatchEvery, time.Second/2), time.Now()
		}
	}
}

// ready gives the gateways that answer and are of one kind; the first decides of which.
func (d *Driver) ready() []*gateway {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []*gateway
	for _, g := range d.gateways {
		switch {
		case g.about == nil:
		case len(list) > 0 && (g.about.Database != list[0].about.Database || g.about.Flavor != list[0].about.Flavor):
			d.o.Log.Warn("gateway is left out, because its mode or its router flavor is not that of the others", "gateway", g.endpoint.URL,
				"database", g.about.Database, "flavor", g.about.Flavor)
		default:
			list = append(list, &gateway{endpoint: g.endpoint, client: g.client, about: g.about, hash: g.hash, want: g.want, took: g.took, refusals: g.refusals})
		}
	}
	return list
}

// holds notes what a gateway took; with a database that has no name.
func (d *Driver) holds(g *gateway, v *variant) {
	refusals := map[entity.Place]string{}
	for _, f := range v.faults {
		refusals[entity.PlaceOf(f.Entity)] = f.Reason
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, known := range d.gateways {
		if known.endpoint == g.endpoint {
			known.want, known.hash, known.took, known.refusals = v.hash, v.hash, v, refusals
		}
	}
}
