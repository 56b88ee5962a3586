// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"strings"
	"time"

	"github.com/fairway-ingress/fairway/internal/model"
)

// ofService makes keys ones of Fairway's own about a Service, and completes what is said of them.
func ofService(keys ...Key) []Key {
	for i := range keys {
		keys[i].Own, keys[i].Scope, keys[i].Risk, keys[i].OnCanary = true, Service, Low, true
	}
	return keys
}

// ServiceGroups tells which groups of keys about a backend a Service has annotations of.
type ServiceGroups struct{ Check, Outlier bool }

// ServiceEffect is what the annotations of a Service ask for.
type ServiceEffect struct {
	Health    model.Health
	SlowStart time.Duration
}

// ParseService reads the annotations of a Service, owner, that are about its endpoints: Fairway's own keys of the scope Service, and slow-start. The problems
// are in the order of the keys.
func ParseService(owner model.Ref, annotations map[string]string) (ServiceEffect, ServiceGroups, []model.Problem) {
	if !concernsUs(annotations) {
		return ServiceEffect{}, ServiceGroups{}, nil
	}
	defaults := model.DefaultSettings()
	p := newParser(OwnPrefix, owner, &defaults)
	var groups ServiceGroups
	for _, name := range p.read(annotations) {
		key := index[name]
		switch {
		case key == nil:
			p.unknown(name)
		case key.Scope != Service && !key.OnService:
			p.problem(name, model.ReasonInvalidAnnotation, "counts on an Ingress alone; set it there or remove it")
		default:
			groups.Check = groups.Check || strings.HasPrefix(name, "health-check-")
			groups.Outlier = groups.Outlier || strings.HasPrefix(name, "outlier-")
			p.apply(key, name, p.given[name])
		}
	}
	p.finishCheck()
	p.finishOutlier()
	return ServiceEffect{p.effect.Health, p.effect.balance.slowStart}, groups, p.problems
}

// concernsUs tells whether an object has annotations with Fairway's own prefix.
func concernsUs(annotations map[string]string) bool {
	for name := range annotations {
		if strings.HasPrefix(name, OwnPrefix+"/") {
			return true
		}
	}
	return false
}
