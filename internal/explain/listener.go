// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Listeners are the ports of TCP and UDP services.
type Listeners []Listener

// Listener is one of them.
type Listener struct {
	Transport   string   `json:"transport"` // TCP or UDP
	Port        uint16   `json:"port"`
	Backend     string   `json:"backend"` // namespace/service/port
	AcceptProxy bool     `json:"acceptProxy,omitempty"`
	SendProxy   uint8    `json:"sendProxy,omitempty"` // version of the PROXY protocol
	Endpoints   []string `json:"endpoints"`
	Owner       string   `json:"owner"` // the ConfigMap
}

// ListListeners lists the listeners in the order of transports and ports.
func (f *Facts) ListListeners() Listeners {
	list := Listeners{}
	for _, l := range f.Model.Listeners {
		id := l.Backend.ID
		listener := Listener{
			Transport: l.Transport.String(), Port: l.Port, Backend: id.Namespace + "/" + id.Service + "/" + id.Port,
			AcceptProxy: l.AcceptProxy, SendProxy: l.SendProxy, Endpoints: []string{}, Owner: l.Owner.Namespace + "/" + l.Owner.Name,
		}
		for _, e := range l.Backend.Endpoints {
			listener.Endpoints = append(listener.Endpoints, e.Describe())
		}
		list = append(list, listener)
	}
	return list
}

// Print writes a table.
func (l Listeners) Print(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "LISTENER\tBACKEND\tPROXY PROTOCOL\tENDPOINTS")
	for _, one := range l {
		fmt.Fprintf(t, "%s %d\t%s\t%s\t%s\n", one.Transport, one.Port, one.Backend, one.proxy(), few(one.Endpoints))
	}
	_ = t.Flush()
}

func (l *Listener) proxy() string {
	var words []string
	if l.AcceptProxy {
		words = append(words, "accepted")
	}
	if l.SendProxy != 0 {
		words = append(words, fmt.Sprintf("sent v%d", l.SendProxy))
	}
	if words == nil {
		return "-"
	}
	return strings.Join(words, ", ")
}
