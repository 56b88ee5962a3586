// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package health asks endpoints whether they are well: by an HTTP request, by gRPC's health service, or by connecting. [Driver] stands before another driver:
// the backends of each model on its way get the endpoints that were found unwell (model.Backend.Unhealthy), and all that is to be checked is
// checked in the background. No model waits for a check; an endpoint that nobody has checked counts as well. What changes is announced like a push that is
// owed, so that the model is applied again.
//
// A check belongs to an address and to what is asked, not to routes: however many lead there, this replica asks once. At most so many as [Options] says are
// under way at once, and each time is spread by chance, so that replicas and endpoints do not march in step. Answers are tenants' own: they are bounded, no
// redirect is followed, and no name is resolved. Local addresses are not connected to unless the admin allows it.
//
// What requests tell of endpoints (outliers) is found and kept in the data plane, where it happens.
//
// Start with driver.go; schedule.go says when, ask.go what is asked.
package health
