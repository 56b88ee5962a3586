// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
)

// chooseNames gives each host its aliases: those of the first claim that asks for any, without names that a host or an earlier
// host's alias has.
func (r *run) chooseNames() {
	var taken map[string]*hostMemory
	for _, h := range r.hosts {
		deciding := r.namer(h)
		if deciding == nil {
			continue
		}
		if taken == nil {
			taken = map[string]*hostMemory{}
			for _, other := range r.hosts {
				if len(other.next.mains) > 0 {
					taken[other.name] = other
				}
			}
		}
		r.giveNames(h, deciding, taken)
	}
}

// giveNames gives a host the names that a claim asks for, and notes them as taken.
func (r *run) giveNames(h *hostMemory, deciding *hostClaim, taken map[string]*hostMemory) {
	asked := deciding.effect.Host
	for _, name := range asked.Aliases {
		switch owner := taken[name]; {
		case owner == nil:
			taken[name] = h
			h.next.aliases = append(h.next.aliases, name)
			if suffix, found := strings.CutPrefix(name, "*"); found {
				h.next.patterns = append(h.next.patterns, "^.+"+regexp.QuoteMeta(suffix)+"$") // an alias covers several labels, a rule's host one
			}
		case owner != h:
			r.aliasProblem(deciding, "the alias %s of the host %s belongs to the host %s; it has no effect here", name, h.name, owner.name)
		}
	}
	slices.Sort(h.next.aliases)
	h.next.patterns = append(h.next.patterns, asked.Patterns...)
}

// namer gives the first claim with further names for a host, or nil. Those of others have no effect.
func (r *run) namer(h *hostMemory) *hostClaim {
	var deciding *hostClaim
	for _, main := range h.next.mains {
		switch e := main.effect.Host; {
		case len(e.Aliases)+len(e.Patterns) == 0:
		case h.name == model.CatchAll:
			r.aliasProblem(main, "rules without a host have no use for aliases; it has no effect on them")
		case deciding != nil:
			r.aliasProblem(main, "%s/%s, which is older, says which aliases the host %s has; it has no effect here", deciding.ref.Namespace, deciding.ref.Name, h.name)
		default:
			deciding = main
		}
	}
	return deciding
}

func (r *run) aliasProblem(claim *hostClaim, format string, args ...any) {
	r.problems = append(r.problems, model.Problem{
		Object: claim.ref, Field: "metadata.annotations[" + claim.prefix + "/server-alias]", Reason: model.ReasonShadowed, Message: fmt.Sprintf(format, args...),
	})
}

// settleHost gives a host what its claims ask for as a whole: each thing to the first that asks for it.
func (h *hostBuild) settleHost(host *model.Host) {
	for _, main := range h.in.mains {
		e := main.effect.Host
		if !main.bare() {
			host.AppRoot = cmp.Or(host.AppRoot, e.AppRoot)
		}
		if host.Snippet == "" {
			host.Snippet = e.Snippet
		}
	}
	host.Closed = h.tlsClosed
	if h.tls != (model.HostTLS{}) {
		host.TLS = &h.tls
	}
}

// addOtherNames puts the counterpart of a host into the model, and the certificates of its other names.
func (r *run) addOtherNames(h *hostMemory) {
	m := r.result.Model
	names := h.in.aliases
	if name := r.counterpartOf(h); name == "" {
		h.counterpart = nil
	} else {
		if h.counterpart == nil || h.counterpart.Name != name {
			h.counterpart = &model.Host{Name: name, RedirectTo: h.name}
		}
		m.Hosts = append(m.Hosts, h.counterpart)
		r.unsorted = true
		names = append(slices.Clone(names), name)
	}
	for _, name := range names {
		var ids []model.CertificateID
		for _, c := range h.tls.certificates {
			if c.covers(name) {
				ids = append(ids, c.ID)
			}
		}
		if len(ids) > 0 {
			m.ServerNames = append(m.ServerNames, model.ServerName{Name: name, Certificates: ids})
			r.unsorted = true
		}
	}
}

// counterpartOf gives the name that redirects to a host because a claim asks for it, unless that name is a host, an alias or another's counterpart.
func (r *run) counterpartOf(h *hostMemory) string {
	if h.name == model.CatchAll || h.name[0] == '*' || h.result.host == nil {
		return ""
	}
	i := slices.IndexFunc(h.in.mains, func(c *hostClaim) bool { return c.effect.Host.WWW })
	if i < 0 {
		return ""
	}
	name, found := strings.CutPrefix(h.name, "www.")
	if !found {
		name = "www." + h.name
	}
	owner := r.ownerOf(name)
	if owner == "" && isHostName(name) {
		r.otherNames[name] = h.name
		return name
	}
	c := h.in.mains[i]
	why := "the name " + name + " is none that a host may have"
	if owner != "" {
		why = "the name " + name + " belongs to the host " + owner
	}
	r.problems = append(r.problems, model.Problem{
		Object: c.ref, Field: "metadata.annotations[" + c.prefix + "/from-to-www-redirect]", Reason: model.ReasonShadowed,
		Message: why + "; it does not redirect to " + h.name,
	})
	return ""
}

// ownerOf gives the host that has a name, as its own, as an alias or as the counterpart that was given to it before; empty for none.
func (r *run) ownerOf(name string) string {
	if r.otherNames == nil {
		r.otherNames = map[string]string{}
		for _, h := range r.hosts {
			for _, alias := range h.in.aliases {
				r.otherNames[alias] = h.name
			}
		}
	}
	if h := r.memory.hosts[name]; h != nil && h.seen == r.memory.now && len(h.in.mains) > 0 {
		return name
	}
	return r.otherNames[name]
}

// sortOtherNames restores the order of hosts and server names.
func (r *run) sortOtherNames() {
	if !r.unsorted {
		return
	}
	m := r.result.Model
	slices.SortFunc(m.Hosts, func(a, b *model.Host) int { return strings.Compare(a.Name, b.Name) })
	slices.SortStableFunc(m.ServerNames, func(a, b model.ServerName) int { return strings.Compare(a.Name, b.Name) })
	m.ServerNames = slices.CompactFunc(m.ServerNames, func(a, b model.ServerName) bool { return a.Name == b.Name })
}
