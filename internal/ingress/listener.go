// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
)

// listenerFlags are the flags that name the ConfigMaps of TCP and UDP services.
var listenerFlags = [...]string{model.TCP: "--tcp-services-configmap", model.UDP: "--udp-services-configmap"}

// listenerMemory is what one of those ConfigMaps came to last.
type listenerMemory struct {
	object   *corev1.ConfigMap
	entries  []listenerParts
	problems []model.Problem
}

// listenerParts are a listener without its backend, and what it was with it.
type listenerParts struct {
	model.Listener
	backend model.BackendID
	last    *model.Listener
}

// buildListeners puts the ports of TCP and UDP services into the model.
func (r *run) buildListeners() {
	r.addListeners(model.TCP, r.options.TCPServices)
	r.addListeners(model.UDP, r.options.UDPServices)
}

func (r *run) addListeners(transport model.Transport, key source.Key) {
	if key.Name == "" {
		return
	}
	object := r.snapshot.ConfigMaps[key]
	if object == nil {
		r.problems = append(r.problems, model.Problem{
			Object: model.Ref{Kind: "ConfigMap", Namespace: key.Namespace, Name: key.Name}, Reason: model.ReasonMissingConfiguration,
			Message: fmt.Sprintf("%s names it, but there is no such ConfigMap; there are no %s services", listenerFlags[transport], transport),
		})
		return
	}
	memory := &r.memory.listeners[transport]
	if memory.object != object {
		*memory = readListeners(transport, object, r.options.ReservedPorts)
	}
	r.problems = append(r.problems, memory.problems...)
	for i := range memory.entries {
		r.result.Model.Listeners = append(r.result.Model.Listeners, r.listener(&memory.entries[i]))
	}
}

// listener completes an entry by its backend.
func (r *run) listener(parts *listenerParts) *model.Listener {
	backend := r.memory.backend(parts.backend)
	r.refresh(backend)
	if backend.result.fault.reason != "" {
		p := backend.result.problem(parts.Owner, parts.Field, parts.without())
		if n := r.options.WatchNamespace; n != "" && n != parts.backend.Namespace && backend.in.service == nil {
			p.Message += "; only Services of the namespace " + n + " are looked at, as --watch-namespace says"
		}
		r.problems = append(r.problems, p)
	}
	if parts.last == nil || parts.last.Backend != backend.model {
		next := parts.Listener
		next.Backend = backend.model
		parts.last = &next
	}
	return parts.last
}

// without says what happens when there is no endpoint.
func (p *listenerParts) without() string {
	if p.Transport == model.UDP {
		return fmt.Sprintf("datagrams to %s are dropped", p.Name())
	}
	return fmt.Sprintf("connections to %s are closed", p.Name())
}

// readListeners reads a ConfigMap. Entries are sorted by port; those that are refused are Problems.
func readListeners(transport model.Transport, object *corev1.ConfigMap, reserved map[uint16]string) listenerMemory {
	m := listenerMemory{object: object}
	owner := model.Ref{Kind: "ConfigMap", Namespace: object.Namespace, Name: object.Name}
	for key, text := range object.Data {
		field := "data[" + key + "]"
		report := func(reason, format string, args ...any) {
			m.problems = append(m.problems, model.Problem{Object: owner, Field: field, Reason: reason, Message: fmt.Sprintf(format, args...)})
		}
		e, err := parseListenerEntry(transport, key, text)
		if err != nil {
			report(model.ReasonInvalidListener, "%v; the entry has no effect", err)
			continue
		}
		if taken := reserved[e.port]; transport == model.TCP && taken != "" {
			report(model.ReasonInvalidListener, "the port is that of %s; the entry has no effect: choose another port here, or another for the flag", taken)
			continue
		}
		if transport == model.UDP && (e.acceptProxy || e.sendProxy == 1) {
			report(model.ReasonUnsupported, "PROXY has no effect on datagrams; of PROXY headers, only PROXYv2 in the fourth field is there for them")
			e.acceptProxy, e.sendProxy = false, e.sendProxy&^1
		}
		m.entries = append(m.entries, listenerParts{
			Listener: model.Listener{Transport: transport, Port: e.port, Owner: owner, Field: field, AcceptProxy: e.acceptProxy, SendProxy: e.sendProxy},
			backend:  e.backend,
		})
	}
	slices.SortFunc(m.entries, func(a, b listenerParts) int { return cmp.Compare(a.Port, b.Port) })
	return m
}
