// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package status writes status.loadBalancer of the Ingresses that are served, and of the custom resources that say where clients reach this proxy.
// In go the objects served and the addresses to publish, out come writes to the API server, and only where what is there differs.
//
// It writes while this replica leads, at a bounded rate, and forgets nothing: what could not be written is tried again. Where
// somebody else keeps writing other addresses it gives way after a few writes and says so, instead of fighting for ever. Work
// follows changes; the pass over all Ingresses that is made now and then compares what is in memory, and asks nobody.
//
// It also writes what other custom resources are to say of themselves: whether they are in force (condition.go), and of a policy how each Service
// obeys it (policy.go).
//
// Which addresses are published is found in address.go and nodes.go, who leads is decided in package election. Start with writer.go.
package status
