// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

// Groups lists all keys, group by group in the order of the reference.
func Groups() []Group {
	return []Group{
		redirect,
		proxy,
		upstream,
		buffering,
		retry,
		response,
		headers,
		compression,
		tls,
		connections,
		listen,
		worker,
		hashes,
		log,
		client,
		identity,
		limit,
		access,
		block,
		auth,
		admission,
		errorPages,
		waf,
		tracing,
		streams,
		geoip,
		raw,
		dropped,
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

// Companions gives the settings without which a key has no effect, itself left out.
func Companions(name string) map[string]string {
	others := map[string]string{}
	for at := index[name]; at != nil && at.With != "" && at.With != name && others[at.With] == ""; at = index[at.With] {
		others[at.With] = index[at.With].Example
	}
	return others
}
