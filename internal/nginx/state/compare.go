// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"reflect"
	"slices"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
)

// Compare gives the changes that lead from held, the entries of the model old, to those of the model new; the same as Diff of all
// entries would. It costs what differs and one look at each pointer: a part that is the same pointer in both models is not encoded.
func Compare(held Entries, old, new *model.Model, extra ...*model.Certificate) []Change {
	if old == nil || !reflect.DeepEqual(old.Settings, new.Settings) {
		return Diff(held, Encode(new, extra...)) // routes leave out what the default says
	}
	c := comparison{held: held}
	walk(&c, old.Hosts, new.Hosts, hostKey, func(h *model.Host) string { return encodeHost(h, new.Settings) })
	c.aliases(old.Hosts, new.Hosts)
	walk(&c, old.Backends, new.Backends, func(b *model.Backend) string { return "b:" + backendKey(b.ID) }, encodeBackend)
	walk(&c, old.Certificates, new.Certificates, certificateKey, encodeCertificate)
	c.serverNames(old.ServerNames, new.ServerNames)
	c.set(settingsKey, encodeSettings(new, extra))
	sortChanges(c.changes)
	return c.changes
}

type comparison struct {
	held    Entries
	changes []Change
}

func (c *comparison) set(key, value string) {
	if old, found := c.held[key]; !found || old != value {
		c.changes = append(c.changes, Change{Key: key, Value: value})
	}
}

func (c *comparison) remove(key string) {
	if _, found := c.held[key]; found {
		c.changes = append(c.changes, Change{Key: key, Delete: true})
	}
}

// walk goes through two sorted lists side by side.
func walk[T any](c *comparison, old, new []*T, key func(*T) string, encode func(*T) string) {
	kept := map[string]bool{} // keys of new that are not the same pointer
	var gone []string
	for len(old) > 0 || len(new) > 0 {
		switch {
		case len(old) > 0 && len(new) > 0 && old[0] == new[0]:
			old, new = old[1:], new[1:]
		case len(new) == 0 || len(old) > 0 && key(old[0]) < key(new[0]):
			gone = append(gone, key(old[0]))
			old = old[1:]
		default:
			k := key(new[0])
			c.set(k, encode(new[0]))
			kept[k] = true
			new = new[1:]
		}
	}
	for _, k := range gone {
		if !kept[k] {
			c.remove(k)
		}
	}
}

// aliases compares the further names of hosts. A name may have turned from an alias into a host, or the other way, which the hosts decide.
func (c *comparison) aliases(old, new []*model.Host) {
	now := map[string]string{}
	for _, h := range new {
		for _, alias := range h.Aliases {
			now["h:"+alias] = encodeAlias(h)
		}
	}
	for key, value := range now {
		c.set(key, value)
	}
	for _, h := range old {
		for _, alias := range h.Aliases {
			key := "h:" + alias
			if _, found := now[key]; !found && !hasHost(new, alias) {
				c.remove(key)
			}
		}
	}
	c.changes = slices.DeleteFunc(c.changes, func(change Change) bool {
		_, found := now[change.Key]
		return found && change.Delete
	})
}

func hasHost(hosts []*model.Host, name string) bool {
	_, found := slices.BinarySearchFunc(hosts, name, func(h *model.Host, name string) int { return strings.Compare(h.Name, name) })
	return found
}

func (c *comparison) serverNames(old, new []model.ServerName) {
	same := func(a, b model.ServerName) bool {
		return a.Name == b.Name && slices.Equal(a.Certificates, b.Certificates)
	}
	for len(old) > 0 || len(new) > 0 {
		switch {
		case len(old) > 0 && len(new) > 0 && same(old[0], new[0]):
			old, new = old[1:], new[1:]
		case len(new) == 0 || len(old) > 0 && strings.Compare(old[0].Name, new[0].Name) < 0:
			c.remove("s:" + old[0].Name)
			old = old[1:]
		default:
			if len(old) > 0 && old[0].Name == new[0].Name {
				old = old[1:]
			}
			if len(new[0].Certificates) > 0 {
				c.set("s:"+new[0].Name, encode(new[0].Certificates))
			} else {
				c.remove("s:" + new[0].Name)
			}
			new = new[1:]
		}
	}
}
