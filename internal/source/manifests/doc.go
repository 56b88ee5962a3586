// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package manifests makes snapshots from files: a folder with its sub-folders, one file, or standard input. In go YAML and JSON
// manifests, several to a file, also as List; out come the objects that Fairway works from, with the defaults that an API server would
// have set. Other kinds may lie beside them and are passed over.
//
// What cannot be read is a Fault with file and line, and the last good content of that file stays in force. A document whose bytes did not
// change is the same object in the next snapshot. What objects mean is not decided here, but in package ingress.
//
// Start with source.go; decode.go reads one file.
package manifests
