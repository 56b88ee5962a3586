// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package annotation is the registry of the annotations on Ingress objects: what each key is called, which values it takes, what
// it does to the model, how risky it is and what the reference says about it. One file per group; [Groups] lists them.
//
// [Parse] takes the annotations of one Ingress and gives an [Effect], a closed Go type, and Problems. Values are
// parsed, never filtered, so nothing that a tenant wrote survives as text that could become configuration. A value that does not
// parse leaves the default in force, and where that would open what somebody wanted closed, it closes the
// routes of its Ingress. The same holds for the predecessor's keys that Fairway does not know yet (unsupported.go).
//
// What the effect means for a path, a host or a backend is decided in package ingress; defaults come from package settings.
// docs/annotations.md is printed by [WriteReference]. Start with key.go and proxy.go.
package annotation

//go:generate go test . -run TestReference -update
