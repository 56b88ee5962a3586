// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package konghq

// Entry is what the reference says of an annotation.
type Entry struct {
	Name, Doc string
	// Control says that what carries a value that cannot be read is closed.
	Control bool
}

// RouteAnnotations lists the annotations of objects that make routes, without the prefix.
func RouteAnnotations() []Entry { return entries(routeKeys) }

// ServiceAnnotations lists those of Services and KongServiceFacades.
func ServiceAnnotations() []Entry { return entries(serviceKeys) }

func entries[T any](keys []key[T]) []Entry {
	list := make([]Entry, len(keys))
	for i, k := range keys {
		list[i] = Entry{k.name, k.doc, k.control}
	}
	return list
}
