// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"log/slog"

	"github.com/spf13/pflag"
)

// listenerFlags name what TCP and UDP services are made of.
type listenerFlags struct{ tcpServices, udpServices keyFlag }

func (f *listenerFlags) add(flags *pflag.FlagSet) {
	flags.Var(&f.tcpServices, "tcp-services-configmap", "namespace/name of the ConfigMap with TCP services: PORT: namespace/service:port[:PROXY[:PROXY]]")
	flags.Var(&f.udpServices, "udp-services-configmap", "namespace/name of the ConfigMap with UDP services: PORT: namespace/service:port")
}

func (f *listenerFlags) warn(log *slog.Logger) {
	if f.tcpServices.Name+f.udpServices.Name != "" {
		log.Warn("TCP and UDP services are not proxied yet: their ConfigMaps are read, and nothing listens on the ports that they name")
	}
}

// reservedPorts are the ports that TCP services cannot have, each with the flag that gives it to somebody else.
func (f *controllerFlags) reservedPorts() map[uint16]string {
	reserved := map[uint16]string{}
	for _, p := range f.portFlags() {
		reserved[uint16(p.port)] = "--" + p.flag
	}
	return reserved
}
