// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"slices"
	"strings"

	"github.com/fairway-ingress/fairway/internal/kong/entity"
)

// Held is an entity of ours that a gateway holds, as far as planning needs it.
type Held struct {
	Place entity.Place
	// Parent is the id of what the entity is found below: of the upstream of a target, of the group of a membership.
	Parent string
	// Tags are all tags, sorted, the fingerprint among them: equal tags are equal entities.
	Tags []string
	// Values are the fields that must be unique or that refer to others, by name; unset ones are missing.
	Values map[string]string
	// Stale is set when the entity was changed by hand, so that its tags do not say what it is.
	Stale bool
	// of is a wanted entity with which this agrees, nil when that is not known.
	of entity.Entity
}

// Reader reads a field of an entity as text: the id of a reference, empty when unset.
type Reader func(field string) string

// Hold notes an entity of a gateway.
func Hold(kind *entity.Kind, read Reader, tags []string) *Held {
	tags = slices.Clone(tags)
	slices.Sort(tags)
	h := &Held{Place: entity.Place{Kind: kind.Name, ID: read("id")}, Tags: slices.Compact(tags), Values: map[string]string{}}
	for _, name := range fieldsOf(kind) {
		if text := read(name); text != "" {
			h.Values[name] = normal(kind, name, text)
		}
	}
	if kind.Within != "" {
		h.Parent = read(kind.Within)
	}
	return h
}

// HoldEntity notes an entity as it was written with tags.
func HoldEntity(e entity.Entity, tags []string) *Held {
	return Hold(e.Kind(), func(name string) string {
		if name == "id" {
			return e.Common().ID
		}
		return entity.Text(e, name)
	}, tags)
}

// fieldsOf lists the fields of a kind that are of interest.
func fieldsOf(kind *entity.Kind) []string {
	var names []string
	for _, key := range kind.Foreign {
		if !key.Many {
			names = append(names, key.Field)
		}
	}
	for _, fields := range kind.Unique {
		names = append(names, fields...)
	}
	return names
}

// normal gives the addresses of targets one form; Kong spells IPv6 in full.
func normal(kind *entity.Kind, name, text string) string {
	if kind != entity.Targets || name != "target" {
		return text
	}
	if address, err := netip.ParseAddrPort(text); err == nil {
		return address.String()
	}
	return text
}

// claims gives what must be unique of an entity with these values, one text per constraint.
func claims(kind *entity.Kind, values map[string]string) []string {
	var all []string
	for _, fields := range kind.Unique {
		text, set := kind.Name, false
		for _, name := range fields {
			text += "\x00" + name + "\x00" + values[name]
			set = set || values[name] != ""
		}
		if set {
			all = append(all, text)
		}
	}
	return all
}

// fingerprint begins the tag that tells versions of an entity apart.
const fingerprint = "fw-h:"

// Labels are what a sync adds to the tags of each entity.
type Labels struct {
	// Selector is the tag of all that is ours.
	Selector string
	// Key goes into the fingerprints, so that who can read tags alone learns nothing of what is secret.
	Key []byte
}

// Tags gives the tags that an entity is written with, sorted.
func (l Labels) Tags(e entity.Entity) []string {
	sum := hmac.New(sha256.New, append(slices.Clone(l.Key), e.Common().ID...))
	sum.Write(entity.Encode(e, entity.Body, []string{}))
	tags := append([]string{l.Selector, fingerprint + hex.EncodeToString(sum.Sum(nil)[:8])}, e.Common().Tags...)
	slices.Sort(tags)
	return slices.Compact(tags)
}

// Print gives the fingerprint among tags, or "".
func Print(tags []string) string {
	for _, t := range tags {
		if strings.HasPrefix(t, fingerprint) {
			return t
		}
	}
	return ""
}

// Source gives those of the tags that say where an entity comes from, and what its author wants on it.
func (l Labels) Source(tags []string) []string {
	return slices.DeleteFunc(slices.Clone(tags), func(t string) bool { return t == l.Selector || strings.HasPrefix(t, fingerprint) })
}

// source names the object that tags say an entity comes from, or "".
func source(tags []string) string {
	var parts []string
	for _, t := range tags {
		if strings.HasPrefix(t, "k8s-kind:") || strings.HasPrefix(t, "k8s-name:") || strings.HasPrefix(t, "k8s-namespace:") {
			parts = append(parts, t)
		}
	}
	return strings.Join(parts, "\x00") // the tags are sorted
}
