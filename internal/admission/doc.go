// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package admission is the validating admission webhook: it tells the API server whether an Ingress may be stored.
//
// In go AdmissionReviews over HTTPS (handler.go), out come verdicts of ingress.Review, which judges by the very functions of the controller's loop. The
// Ingresses that a verdict needs are found in an [Index] that follows the watches, so that a review costs what the Ingress and its rivals for the same
// paths cost, whatever the size of the cluster. No review touches nginx, files, DNS or the API server.
//
// The certificate comes from files that are watched (files.go), or Fairway makes it and has the API server trust it (selfmade.go, authority.go). Start
// with reviewer.go.
package admission
