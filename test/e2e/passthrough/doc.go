// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package passthrough tests TLS passthrough end to end: the whole controller with a real nginx, and clients that speak TLS in odd ways.
package passthrough
