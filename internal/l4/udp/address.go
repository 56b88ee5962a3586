// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"encoding/binary"
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"
)

// address is a socket address as the kernel writes it, of IPv4 or IPv6. Equal addresses are equal bytes.
type address [unix.SizeofSockaddrInet6]byte

// addressOf gives the address of a name.
func addressOf(name netip.AddrPort) (a address) {
	if ip := name.Addr().Unmap(); ip.Is4() {
		*(*unix.RawSockaddrInet4)(unsafe.Pointer(&a)) = unix.RawSockaddrInet4{Family: unix.AF_INET, Addr: ip.As4()}
	} else {
		*(*unix.RawSockaddrInet6)(unsafe.Pointer(&a)) = unix.RawSockaddrInet6{Family: unix.AF_INET6, Addr: ip.As16()}
	}
	binary.BigEndian.PutUint16(a[2:], name.Port())
	return a
}

func (a *address) family() int { return int((*unix.RawSockaddrInet4)(unsafe.Pointer(a)).Family) }

// size is how many bytes of it count.
func (a *address) size() uint32 {
	if a.family() == unix.AF_INET6 {
		return unix.SizeofSockaddrInet6
	}
	return unix.SizeofSockaddrInet4
}

// name is the address for people, and for headers.
func (a *address) name() netip.AddrPort {
	port := binary.BigEndian.Uint16(a[2:])
	if a.family() == unix.AF_INET6 {
		return netip.AddrPortFrom(netip.AddrFrom16((*unix.RawSockaddrInet6)(unsafe.Pointer(a)).Addr), port)
	}
	return netip.AddrPortFrom(netip.AddrFrom4((*unix.RawSockaddrInet4)(unsafe.Pointer(a)).Addr), port)
}

// local is the address of ours that a datagram came to, or leaves from: IPv6, or IPv4 in the first four bytes. All zero, it is left to the kernel.
type local [16]byte

func (l local) ip(family int) netip.Addr {
	if family == unix.AF_INET6 {
		return netip.AddrFrom16(l)
	}
	return netip.AddrFrom4([4]byte(l[:4]))
}

// control is room for a control message that carries a local address (IP_PKTINFO or IPV6_PKTINFO).
type control [64]byte

// read gives the local address that the kernel put there.
func (c *control) read(length int) (to local) {
	if length < unix.CmsgLen(0) {
		return to
	}
	header, content := (*unix.Cmsghdr)(unsafe.Pointer(c)), unsafe.Pointer(&c[unix.CmsgLen(0)])
	switch {
	case header.Level == unix.IPPROTO_IP && header.Type == unix.IP_PKTINFO:
		copy(to[:], (*unix.Inet4Pktinfo)(content).Spec_dst[:])
	case header.Level == unix.IPPROTO_IPV6 && header.Type == unix.IPV6_PKTINFO:
		to = (*unix.Inet6Pktinfo)(content).Addr
	}
	return to
}

// write makes the message that sends from an address, and gives its length.
func (c *control) write(family int, from local) int {
	header, content := (*unix.Cmsghdr)(unsafe.Pointer(c)), unsafe.Pointer(&c[unix.CmsgLen(0)])
	if family == unix.AF_INET6 {
		*header = unix.Cmsghdr{Level: unix.IPPROTO_IPV6, Type: unix.IPV6_PKTINFO}
		header.SetLen(unix.CmsgLen(unix.SizeofInet6Pktinfo))
		*(*unix.Inet6Pktinfo)(content) = unix.Inet6Pktinfo{Addr: from}
		return unix.CmsgSpace(unix.SizeofInet6Pktinfo)
	}
	*header = unix.Cmsghdr{Level: unix.IPPROTO_IP, Type: unix.IP_PKTINFO}
	header.SetLen(unix.CmsgLen(unix.SizeofInet4Pktinfo))
	*(*unix.Inet4Pktinfo)(content) = unix.Inet4Pktinfo{Spec_dst: [4]byte(from[:4])}
	return unix.CmsgSpace(unix.SizeofInet4Pktinfo)
}
