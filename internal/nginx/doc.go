// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package nginx drives an nginx: models go in, and the nginx that it starts and keeps alive obeys them.
//
// A model becomes two things. The set of its shapes and settings becomes nginx.conf (package nginx/conf); a change of it costs a
// reload. All the rest becomes entries of shared memory (package nginx/state), sent as a push over a unix socket (package nginx/push).
// [Plan] says which of the two a change needs and why; [Driver.Apply] carries it out in an order in which no request meets a route
// whose shape, backend or certificate is not there yet.
//
// Every push is first appended to a memory file that nginx inherited. With it nginx has the whole state when it starts, when
// its zone grows and when it comes back from a crash, with or without the controller. A new controller adopts the nginx of a dead
// one, reads the memory file and goes on with the difference.
//
// Start with driver.go; supervise.go keeps nginx alive.
package nginx
