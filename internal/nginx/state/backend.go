// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"cmp"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
)

// backendEntry is a backend; see doc.go. Members are absent where there is nothing to say.
type backendEntry struct {
	Endpoints []peer        `json:"e"`
	LogName   string        `json:"n"`
	Draining  []peer        `json:"draining,omitempty"`
	Down      []int         `json:"down,omitempty"` // places in e, counted from 1
	Far       []int         `json:"far,omitempty"`  // as down
	Panic     int           `json:"panic,omitempty"`
	SlowStart float64       `json:"slow_start,omitempty"` // seconds
	Outlier   *outlierEntry `json:"outlier,omitempty"`
}

// peer is an address, in brackets if it is IPv6, a port, and a weight if that is not 1.
type peer []any

// outlierEntry says who is ejected; times are in seconds.
type outlierEntry struct {
	Key         string  `json:"key"` // of the backend
	Consecutive int     `json:"consecutive,omitempty"`
	Rate        int     `json:"rate,omitempty"` // percent
	MinRequests int     `json:"min,omitempty"`
	Window      float64 `json:"window,omitempty"`
	Base        float64 `json:"base"`
	Longest     float64 `json:"longest"`
	Most        int     `json:"most"` // percent of the endpoints
}

func encodeBackend(b *model.Backend) string {
	entry := backendEntry{LogName: b.ID.LogName(), Endpoints: peers(b.Endpoints), Down: places(b.Unhealthy, b.Endpoints), SlowStart: b.SlowStart.Seconds()}
	for i, e := range b.Endpoints {
		if e.Far {
			entry.Far = append(entry.Far, i+1)
		}
	}
	if len(b.Draining) > 0 {
		entry.Draining = peers(b.Draining)
	}
	if b.Health != nil {
		entry.Panic = b.Health.Panic()
		entry.Outlier = newOutlier(b.Health.Outlier, b.ID)
	}
	return encode(entry)
}

func newOutlier(o *model.Outlier, id model.BackendID) *outlierEntry {
	if o == nil {
		return nil
	}
	entry := &outlierEntry{
		Key: backendKey(id), Consecutive: o.Consecutive, Base: o.Base.Seconds(), Longest: o.Longest.Seconds(), Most: o.MostPercent,
	}
	if o.Rate > 0 {
		entry.Rate, entry.MinRequests, entry.Window = o.Rate, o.MinRequests, o.Window.Seconds()
	}
	return entry
}

func peers(endpoints []model.Endpoint) []peer {
	list := make([]peer, len(endpoints))
	for i, e := range endpoints {
		address := e.Addr().String()
		if e.Addr().Is6() {
			address = "[" + address + "]"
		}
		list[i] = peer{address, e.Port()}
		if e.Weight > 1 {
			list[i] = append(list[i], e.Weight)
		}
	}
	return list
}

// places gives the places, counted from 1, of some endpoints in a sorted list.
func places(some, all []model.Endpoint) []int {
	var list []int
	for _, e := range some {
		if i, found := slices.BinarySearchFunc(all, e, model.Endpoint.Compare); found {
			list = append(list, i+1)
		}
	}
	return list
}

// ParseEndpoint reads the key of a backend and the name of an endpoint as Lua knows them.
func ParseEndpoint(key, name string) (model.BackendID, netip.AddrPort, error) {
	var id model.BackendID
	address, err := netip.ParseAddrPort(name)
	parts := strings.Split(key, "/")
	id.Virtual = len(parts) == 4 && parts[3] == "virtual"
	if len(parts) != 3 && !id.Virtual {
		return id, address, fmt.Errorf("%q is no key of a backend", key)
	}
	for i, to := range []*string{&id.Namespace, &id.Service, &id.Port} {
		var bad error
		*to, bad = url.PathUnescape(parts[i])
		err = cmp.Or(err, bad)
	}
	return id, address, err
}
