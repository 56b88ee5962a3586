// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package model is the narrow waist of Fairway: the one description of what traffic goes where, which every
// source of objects is translated into and every data plane is driven from.
//
// A [Model] is plain data. It holds no Kubernetes object, no nginx word, no pointer to anything that changes, and it
// imports nothing but the standard library. Once built it is never modified, so it may be read by any number of
// goroutines, and two builds may share parts: a driver may take the same *Host pointer in two models as proof that the
// host did not change, but must compare contents when the pointers differ.
//
// Everything is sorted (see the fields), so that equal inputs print equally. [Model.Print] gives the short form that the
// golden tests and `fairway get` show. [Model.Find] is the reference for how a request finds its route; the
// Lua in internal/nginx/lua does the same and is tested against it.
//
// Start with model.go.
package model
