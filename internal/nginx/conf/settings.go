// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"net/netip"
	"strconv"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
)

// addresses gives what a listener on a port listens on, in nginx' words. Of each family, the settings have precedence over the command line.
func addresses(p Place, s model.Settings, port int) []string {
	var list []string
	add := func(from []netip.Addr, wildcard string, flag bool) {
		for _, a := range from {
			list = append(list, netip.AddrPortFrom(a, uint16(port)).String())
		}
		switch {
		case from != nil:
		case flag:
			list = append(list, p.Address+":"+strconv.Itoa(port))
		case p.Address == "" && wildcard != "":
			list = append(list, wildcard+strconv.Itoa(port))
		}
	}
	six := strings.Contains(p.Address, "[")
	add(s.Listen.IPv4, "0.0.0.0:", p.Address != "" && !six)
	switch {
	case six:
		add(s.Listen.IPv6, "", true)
	case !s.Listen.NoIPv6 && p.IPv6:
		add(s.Listen.IPv6, "[::]:", false)
	}
	return list
}

// ownAddress is where nginx reaches its own listeners.
func ownAddress(s model.Settings, p Place) string {
	switch {
	case s.Listen.IPv4 != nil:
		return s.Listen.IPv4[0].String()
	case p.Address != "":
		return p.Address
	}
	return "127.0.0.1"
}

func reusePort(s model.Settings) string {
	if s.Listen.ReusePort {
		return " reuseport"
	}
	return ""
}

func openFiles(s model.Settings, p Place) int {
	if s.Worker.OpenFiles > 0 {
		return s.Worker.OpenFiles
	}
	return p.OpenFiles
}

// tables gives the sizes of nginx' hash tables: the settings', unless the names of servers need larger ones.
func (c Config) tables() model.Hashes {
	h := c.Settings.Worker.Hashes
	longest, all := 0, 0
	for _, s := range c.Servers {
		for _, name := range s.Names {
			longest, all = max(longest, len(name)), all+len(name)
		}
	}
	const overhead = 32 // of an entry: pointers, length, alignment
	bucket, size := 64, 512
	for bucket < longest+overhead {
		bucket *= 2
	}
	for size < all {
		size *= 2
	}
	h.ServerNameBucket, h.ServerNameMax = max(h.ServerNameBucket, bucket), max(h.ServerNameMax, size)
	return h
}
