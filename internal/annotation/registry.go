// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

// Groups lists all keys, group by group in the order of the reference.
func Groups() []Group {
	return []Group{
		rewrite,
		redirect,
		backend,
		balance,
		affinity,
		proxy,
		buffering,
		retry,
		response,
		canary,
		limit,
		cors,
		acl,
		login,
		externalAuth,
		server,
		errorPages,
		mirror,
		proxyTLS,
		authTLS,
		clientTLS,
		waf,
		snippets,
		logs,
		tracing,
		passthrough,
		http2,
		healthCheck,
		outlier,
	}
}

// groups is Groups, made once.
var groups = Groups()

// Known tells whether there is a key of that name or alias.
func Known(name string) bool { return index[name] != nil }

// index finds a key by its name or alias.
var index = func() map[string]*Key {
	byName := map[string]*Key{}
	for _, group := range groups {
		for i := range group.Keys {
			key := &group.Keys[i]
			byName[key.Name] = key
			if key.Alias != "" {
				byName[key.Alias] = key
			}
		}
	}
	return byName
}()
