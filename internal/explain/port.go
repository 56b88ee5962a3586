// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Port is the answer to "what does this port do".
type Port struct {
	Port      uint16    `json:"port"`
	Listeners Listeners `json:"listeners"`
	// Problems are those of the entries for the port, whether they count or not.
	Problems []Problem `json:"problems,omitempty"`
}

// ForPort answers for the port of a TCP or UDP service. An error means that no ConfigMap has it.
func (f *Facts) ForPort(text string) (*Port, error) {
	number, err := strconv.ParseUint(text, 10, 16)
	if err != nil || number == 0 {
		return nil, fmt.Errorf("%q is no port: give a number from 1 to 65535", text)
	}
	e := &Port{Port: uint16(number)}
	for _, l := range f.ListListeners() {
		if l.Port == e.Port {
			e.Listeners = append(e.Listeners, l)
		}
	}
	for _, p := range f.Problems {
		if p.Object.Kind == "ConfigMap" && p.Field == fmt.Sprintf("data[%d]", number) {
			e.Problems = append(e.Problems, p)
		}
	}
	if e.Listeners == nil && e.Problems == nil {
		return nil, fmt.Errorf("port %d is none of a TCP or UDP service: no ConfigMap that --tcp-services-configmap or --udp-services-configmap names has it", number)
	}
	return e, nil
}

// Print writes the answer for people.
func (e *Port) Print(w io.Writer) {
	for _, l := range e.Listeners {
		fmt.Fprintf(w, "%s %d [%s]\n  leads to %s\n", l.Transport, l.Port, l.Owner, l.Backend)
		if len(l.Endpoints) > 0 {
			fmt.Fprintf(w, "  endpoints %s\n", strings.Join(l.Endpoints, " "))
		}
		if proxy := l.proxy(); proxy != "-" {
			fmt.Fprintf(w, "  PROXY protocol %s\n", proxy)
		}
	}
	if e.Listeners == nil {
		fmt.Fprintf(w, "port %d\n  nothing listens there\n", e.Port)
	}
	for _, p := range e.Problems {
		fmt.Fprintf(w, "  problem: %s\n", p)
	}
}
