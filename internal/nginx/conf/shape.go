// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
)

// Shape is what a route needs of nginx that no variable and no Lua can give: one named location serves all routes of one shape.
// A field here costs a reload whenever a cluster first uses a new value of it, so whatever can be data must not be here.
type Shape struct {
	// Protocol decides the module that proxies and the pool of kept connections.
	Protocol model.Protocol
	// BodyLimit in bytes is enforced by nginx for bodies whose length is not announced; 0 is none.
	BodyLimit int64
	// OwnHost is set when the backend gets another Host header than the client sent.
	OwnHost bool
}

// DefaultShape is the shape of a route without annotations: it is served by the entry location itself.
func DefaultShape(s model.Settings) Shape { return shapeOf(s.Route) }

// ShapeOf gives the shape that a route needs.
func ShapeOf(r *model.Route) Shape { return shapeOf(r.Policy) }

func shapeOf(p model.Policy) Shape {
	return Shape{Protocol: p.Protocol, BodyLimit: p.BodyLimit, OwnHost: p.Host != ""}
}

// Name is unique among shapes and safe in a configuration: lower-case letters, digits and "_".
func (s Shape) Name() string {
	name := strings.ToLower(s.Protocol.String()) + "_" + strconv.FormatInt(s.BodyLimit, 10)
	if s.OwnHost {
		name += "_host"
	}
	return name
}

// ParseShape gives the shape of a name, and whether it is one.
func ParseShape(name string) (Shape, bool) {
	var s Shape
	rest, ownHost := strings.CutSuffix(name, "_host")
	protocol, limit, found := strings.Cut(rest, "_")
	n, err := strconv.ParseInt(limit, 10, 64)
	if !found || err != nil || n < 0 {
		return s, false
	}
	for _, p := range protocols {
		if strings.ToLower(p.String()) == protocol {
			return Shape{Protocol: p, BodyLimit: n, OwnHost: ownHost}, true
		}
	}
	return s, false
}

var protocols = []model.Protocol{model.HTTP, model.HTTPS, model.GRPC, model.GRPCS}

// Shapes is a set of shapes.
type Shapes map[Shape]struct{}

// Needed gives the shapes of all routes of a model, and the default one.
func Needed(m *model.Model) Shapes {
	shapes := Shapes{DefaultShape(m.Settings): {}}
	for _, h := range m.Hosts {
		for _, match := range h.Matches {
			shapes[ShapeOf(match.Route)] = struct{}{}
		}
	}
	return shapes
}

// Add puts all of others into s.
func (s Shapes) Add(others Shapes) { maps.Copy(s, others) }

// Contains tells whether all of others are in s.
func (s Shapes) Contains(others Shapes) bool {
	for shape := range others {
		if _, found := s[shape]; !found {
			return false
		}
	}
	return true
}

// Sorted gives the shapes by name.
func (s Shapes) Sorted() []Shape {
	return slices.SortedFunc(maps.Keys(s), func(a, b Shape) int { return cmp.Compare(a.Name(), b.Name()) })
}

// BodyLimit is the largest limit of all shapes, 0 when one has none: what the entry location must let pass, because nginx compares
// Content-Length with it before any Lua runs.
func (s Shapes) BodyLimit() int64 {
	var largest int64
	for shape := range s {
		if shape.BodyLimit == 0 {
			return 0
		}
		largest = max(largest, shape.BodyLimit)
	}
	return largest
}
