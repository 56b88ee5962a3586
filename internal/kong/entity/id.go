// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package entity

import (
	"crypto/sha1" //nolint:gosec // what UUIDs of version 5 are made with
	"encoding/hex"
	"strings"
)

// namespace is the root of the ids that Kong derives from keys (kong/db/declarative); the ids of the Kong Ingress Controller are made likewise, so
// that its entities are found again under the same ids.
var namespace = [16]byte{0xfd, 0x02, 0x80, 0x1f, 0x09, 0x57, 0x4a, 0x15, 0xa5, 0x5a, 0xc8, 0xd9, 0x60, 0x6f, 0x30, 0xb5}

// NewID derives the id of an entity from a key that is its own among those of the kind: its name, for most.
func NewID(kind *Kind, key string) string {
	id := version5(version5(namespace, kind.Name), key)
	text := hex.EncodeToString(id[:])
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}

func version5(space [16]byte, name string) [16]byte {
	sum := sha1.Sum(append(space[:], name...)) //nolint:gosec // see the import
	var id [16]byte
	copy(id[:], sum[:])
	id[6] = id[6]&0x0f | 0x50
	id[8] = id[8]&0x3f | 0x80
	return id
}

// tagEscapes writes what tags must not hold. The percent sign stays, as in the tags of the Kong Ingress Controller.
var tagEscapes = strings.NewReplacer(",", "%2C", "/", "%2F")

// Tag makes text fit to be a tag.
func Tag(text string) string { return tagEscapes.Replace(text) }
