// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package l4

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"strconv"
	"syscall"
	"time"

	"github.com/fairway-ingress/fairway/internal/model"
)

// place is where to listen: a network of package net without its transport ("", "4" or "6"), and an address, "" for all.
type place struct{ family, address string }

// places are where listeners listen, as with HTTP: at the address of the flag or, if the settings name some, at these.
func places(flag string, l model.Listen) []place {
	if flag == "" && l.IPv4 == nil && l.IPv6 == nil && !l.NoIPv6 {
		return []place{{"", ""}}
	}
	var list []place
	add := func(family string, from []netip.Addr) {
		switch six := net.ParseIP(flag).To4() == nil; {
		case from != nil:
			for _, a := range from {
				list = append(list, place{family, a.String()})
			}
		case flag == "":
			list = append(list, place{family, ""})
		case six == (family == "6"):
			list = append(list, place{family, flag})
		}
	}
	add("4", l.IPv4)
	if !l.NoIPv6 {
		add("6", l.IPv6)
	}
	return list
}

// listenTCP opens a port. Connections are not kept alive by probes: those that are idle end by their timeout.
func listenTCP(p place, port uint16) (net.Listener, error) {
	config := net.ListenConfig{KeepAlive: -1}
	l, err := config.Listen(context.Background(), "tcp"+p.family, net.JoinHostPort(p.address, strconv.Itoa(int(port))))
	if errors.Is(err, syscall.EAFNOSUPPORT) && p == (place{"6", ""}) {
		return nil, nil // a machine without IPv6
	}
	return l, err
}

// accept hands over each connection until the listener is closed. It goes on when there are too many open files: they may become fewer.
func accept(l net.Listener, log *slog.Logger, take func(*net.TCPConn)) {
	const rest, quiet = 50 * time.Millisecond, 10 * time.Second
	var told time.Time
	for {
		conn, err := l.Accept()
		if err == nil {
			take(conn.(*net.TCPConn))
			continue
		}
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if now := time.Now(); now.Sub(told) > quiet {
			log.Error("connections cannot be accepted, which is tried again", "address", l.Addr(), "err", err)
			told = now
		}
		time.Sleep(rest)
	}
}
