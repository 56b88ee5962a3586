// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package l4 proxies connections that the HTTP data plane does not look into.
//
// [Passthrough] owns the port for HTTPS when hosts may leave TLS to their backends. It reads the ClientHello of each connection, however it is cut
// into segments and records, and sends the connection on by the server name in it: to an endpoint of the host's backend, with the very bytes that
// came, or to nginx, with a PROXY header (version 2) that says who the client is. What it needs to know of hosts and endpoints comes by
// [Passthrough.Apply] and counts for the next connection; established ones live on.
//
// [Services] owns the ports of TCP services, which the model has as Listeners. It opens and closes them as models come, and each connection goes
// to an endpoint of its Listener's backend. A port that cannot be opened harms no other; established connections follow no change, but end when
// they are idle or when their endpoint has left for long enough.
//
// UDP services are Services, too; what is done with datagrams is in package udp, and udp.go connects the two.
//
// Promised of Passthrough: at most [maxHello] bytes are read of a client before it is sent on, and a client that says nothing is let go after
// [Options.HelloTimeout]. Promised of both: bytes between sockets are moved by splice(2), through pipes that are held only while there are bytes.
// Start with passthrough.go, and with services.go.
package l4
