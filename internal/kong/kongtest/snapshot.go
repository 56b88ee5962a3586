// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kongtest

// Snapshot is another node of the same database that has seen everything until now and nothing that is written later.
func (s *Simulator) Snapshot() *Simulator {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := newStore()
	for _, sc := range s.order {
		for _, o := range s.store.all(sc.name) {
			seen.put(sc, copied(o).(object))
		}
	}
	return s.over(seen)
}

// over is the same gateway with another store.
func (s *Simulator) over(db *store) *Simulator {
	return &Simulator{
		version: s.version, versionText: s.versionText, dbless: s.dbless, enterprise: s.enterprise, flavor: s.flavor, token: s.token,
		plugins: s.plugins, maxBody: s.maxBody,
		emptyObjects: s.emptyObjects, extra: s.extra, now: s.now, pluginTable: s.pluginTable, schemas: s.schemas, order: s.order, store: db,
		loaded: s.loaded,
	}
}

// Entities gives all of a collection, by its declarative name, in no order: those of the default workspace.
func (s *Simulator) Entities(collection string) []map[string]any {
	return s.EntitiesIn(defaultWorkspace, collection)
}

// EntitiesIn is Entities for a workspace, of which there are those that the options name.
func (s *Simulator) EntitiesIn(workspace, collection string) []map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	db := s.store
	if workspace != defaultWorkspace {
		db = s.workspaces[workspace]
	}
	var all []map[string]any
	for _, o := range db.all(collection) {
		all = append(all, copied(o).(object))
	}
	return all
}
