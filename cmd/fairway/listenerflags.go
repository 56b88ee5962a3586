// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import "github.com/spf13/pflag"

// listenerFlags name what TCP and UDP services are made of.
type listenerFlags struct{ tcpServices, udpServices keyFlag }

func (f *listenerFlags) add(flags *pflag.FlagSet) {
	flags.Var(&f.tcpServices, "tcp-services-configmap", "namespace/name of the ConfigMap with TCP services: PORT: namespace/service:port[:PROXY[:PROXY]]")
	flags.Var(&f.udpServices, "udp-services-configmap", "namespace/name of the ConfigMap with UDP services: PORT: namespace/service:port")
}

// reservedPorts are the ports that TCP services cannot have, each with the flag that gives it to somebody else.
func (f *controllerFlags) reservedPorts() map[uint16]string {
	reserved := map[uint16]string{}
	for _, p := range f.portFlags() {
		reserved[uint16(p.port)] = "--" + p.flag
	}
	return reserved
}
