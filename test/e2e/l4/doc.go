// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package l4 tests TCP and UDP services end to end: the whole controller, real clients and servers, and a ConfigMap that is edited meanwhile.
package l4
