// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

// Groups lists all keys, group by group in the order of the reference.
func Groups() []Group {
	return []Group{
		redirect,
		proxy,
		buffering,
		retry,
		response,
		tls,
		worker,
		log,
		client,
		identity,
		limit,
		access,
		auth,
		admission,
		errorPages,
		waf,
		tracing,
		streams,
		notYet,
	}
}

// index finds a key by its name.
var index = func() map[string]*Key {
	byName := map[string]*Key{}
	for _, group := range Groups() {
		for i := range group.Keys {
			byName[group.Keys[i].Name] = &group.Keys[i]
		}
	}
	return byName
}()
