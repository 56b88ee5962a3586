// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package udp proxies datagrams: a [Port] takes those of clients and sends them to endpoints, and answers back to who asked.
//
// What belongs together is a session: the datagrams between one address of a client and one address of ours. A session has a socket of its own,
// connected to its endpoint, so that an answer finds its client by the socket it comes in on, and nobody but the endpoint can answer. [Service] says
// when a session is over. A change of endpoints counts for new sessions; those whose endpoint is gone may end as they would anyway, for a while.
//
// A port is a few lanes. Each has a socket for clients, and the sessions of the clients that the kernel gives to that socket, and one goroutine that
// does everything for them, as an event loop: no locks, no goroutine per session. Datagrams are read and written many at a time with recvmmsg(2) and
// sendmmsg(2), from and into memory that is there already.
//
// Promised: answers leave from the address that was asked; a port never has more sessions than its limit; a datagram that cannot be sent on is
// counted and forgotten. Linux only. Start with port.go, then lane.go.
package udp
