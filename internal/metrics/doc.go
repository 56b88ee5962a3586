// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package metrics counts what the controller and its data plane do, for Prometheus. In go the results of each round of the loop and what the
// data plane counted; out comes a handler for /metrics.
//
// There are two kinds of families: Fairway's own, fairway_*, which are always there, and the predecessor's under their names,
// nginx_ingress_controller_*, which --enable-metrics asks for. Series are bounded: labels are words of the model or of a list, and those of
// requests have a budget (budget.go). Safe for concurrent use. Start with metrics.go; docs/metrics.md lists all families.
package metrics
