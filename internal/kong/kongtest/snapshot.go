// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kongtest

// Snapshot is another node of the same database that has seen everything until now and nothing that is written later.
func (s *Simulator) Snapshot() *Simulator {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := newStore()
	for _, sc := range s.order {
		for _, o := range s.store.rows[sc.name] {
			seen.put(sc, copied(o).(object))
		}
	}
	return &Simulator{
		version: s.version, versionText: s.versionText, dbless: s.dbless, flavor: s.flavor, token: s.token, plugins: s.plugins, maxBody: s.maxBody,
		now: s.now, pluginTable: s.pluginTable, schemas: s.schemas, order: s.order, store: seen, loaded: s.loaded,
	}
}

// Entities gives all of a collection, by its declarative name, in no order.
func (s *Simulator) Entities(collection string) []map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []map[string]any
	for _, o := range s.store.rows[collection] {
		all = append(all, copied(o).(object))
	}
	return all
}
