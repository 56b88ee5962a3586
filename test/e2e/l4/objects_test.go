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

// objects are what the controller is given: settings, the entries of the ConfigMaps of TCP and UDP services, and Services with the endpoints of their port.
type objects struct {
	settings  map[string]string
	tcp, udp  map[int]string
	services  map[string][]netip.AddrPort // by name; all have the TCP port 1000
	datagrams map[string][]netip.AddrPort // the same, with the UDP port 1000
	judged    string                      // annotations of all Services
}

// to gives objects with one TCP service.
func to(port int, endpoints ...netip.AddrPort) *objects {
	return &objects{
		settings: map[string]string{}, tcp: map[int]string{port: "default/one:1000"}, services: map[string][]netip.AddrPort{"one": endpoints},
	}
}

// toUDP gives objects with one UDP service.
func toUDP(port int, endpoints ...netip.AddrPort) *objects {
	return &objects{
		settings: map[string]string{}, udp: map[int]string{port: "default/one:1000"}, datagrams: map[string][]netip.AddrPort{"one": endpoints},
	}
}

func (o *objects) String() string {
	var out strings.Builder
	out.WriteString("{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {")
	for key, value := range o.settings {
		fmt.Fprintf(&out, "%s: %q, ", key, value)
	}
	out.WriteString("}}\n")
	for name, entries := range map[string]map[int]string{"tcp": o.tcp, "udp": o.udp} {
		fmt.Fprintf(&out, "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}, data: {", name)
		for port, entry := range entries {
			fmt.Fprintf(&out, "\"%d\": %q, ", port, entry)
		}
		out.WriteString("}}\n")
	}
	o.writeServices(&out, "TCP", o.services)
	o.writeServices(&out, "UDP", o.datagrams)
	return out.String()
}

func (o *objects) writeServices(out *strings.Builder, protocol string, services map[string][]netip.AddrPort) {
	for _, name := range slices.Sorted(maps.Keys(services)) {
		fmt.Fprintf(out, "---\n{apiVersion: v1, kind: Service, metadata: {name: %s, annotations: {%s}}, "+
			"spec: {ports: [{name: main, port: 1000, targetPort: 1, protocol: %s}]}}\n", name, o.judged, protocol)
		for i, e := range services[name] { // one slice for each, as their ports differ
			family := "IPv4"
			if e.Addr().Is6() {
				family = "IPv6"
			}
			fmt.Fprintf(out, "---\n{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: %s-%d, labels: {kubernetes.io/service-name: %s}},\n"+
				" addressType: %s, ports: [{name: main, port: %d, protocol: %s}], endpoints: [{addresses: [%q]}]}\n", name, i, name, family, e.Port(), protocol, e.Addr())
		}
	}
}
