// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package l4

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
)

// objects are what the controller is given: settings, the entries of the ConfigMap of TCP services, and Services with the endpoints of their port.
type objects struct {
	settings map[string]string
	tcp      map[int]string
	services map[string][]netip.AddrPort // by name; all have the port 1000
}

// to gives objects with one TCP service.
func to(port int, endpoints ...netip.AddrPort) *objects {
	return &objects{
		settings: map[string]string{}, tcp: map[int]string{port: "default/one:1000"}, services: map[string][]netip.AddrPort{"one": endpoints},
	}
}

func (o *objects) String() string {
	var out strings.Builder
	out.WriteString("{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {")
	for key, value := range o.settings {
		fmt.Fprintf(&out, "%s: %q, ", key, value)
	}
	out.WriteString("}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: udp}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: tcp}, data: {")
	for port, entry := range o.tcp {
		fmt.Fprintf(&out, "\"%d\": %q, ", port, entry)
	}
	out.WriteString("}}\n")
	for _, name := range slices.Sorted(maps.Keys(o.services)) {
		fmt.Fprintf(&out, "---\n{apiVersion: v1, kind: Service, metadata: {name: %s}, spec: {ports: [{name: main, port: 1000, targetPort: 1}]}}\n", name)
		for i, e := range o.services[name] { // one slice for each, as their ports differ
			family := "IPv4"
			if e.Addr().Is6() {
				family = "IPv6"
			}
			fmt.Fprintf(&out, "---\n{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: %s-%d, labels: {kubernetes.io/service-name: %s}},\n"+
				" addressType: %s, ports: [{name: main, port: %d}], endpoints: [{addresses: [%q]}]}\n", name, i, name, family, e.Port(), e.Addr())
		}
	}
	return out.String()
}
