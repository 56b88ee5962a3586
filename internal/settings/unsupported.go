// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

// notYet are the predecessor's keys without an implementation. Controls among them close every route; all others are reported
// and have no effect. A value equal to the predecessor's default is not worth a report.
var notYet = Group{
	Name: "unsupported", Doc: "Keys of the predecessor that are not supported yet.",
	Keys: []Key{
		ignored("ssl-dh-param"),
	},
}

// ignored is a key whose loss opens nothing.
func ignored(name string, harmless ...string) Key {
	return Key{Name: name, Spec: Spec{NotYet: true, Harmless: harmless}}
}
