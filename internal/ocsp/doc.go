// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package ocsp asks authorities what they say of certificates (RFC 6960), so that handshakes can carry the answers. [Driver] stands before
// another driver: the certificates of each model on its way get the answers that are known, and those without are asked about in the
// background. No model waits for an answer. A new answer is announced like a push that is owed, so that the model is applied again.
//
// The URL that is asked stands in the certificate, which is a tenant's: answers are bounded, must be signed by the certificate's issuer, and are
// never shown to anybody otherwise. Addresses of this host, its link and the cloud's metadata are not connected to, whatever names resolve to.
// That, and one question for all workers, is why the controller asks and not nginx.
//
// Start with driver.go.
package ocsp
