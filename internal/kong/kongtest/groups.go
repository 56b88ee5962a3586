// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kongtest

import (
	"net/http"
	"slices"
)

// What Kong Enterprise has besides: consumer groups. Their plugins are ordinary ones with one more scope; who is a member is kept in a collection that
// declarative documents name and that the Admin API shows below each group alone. Its rows have no id of their own that anybody sees.

const (
	groupsName      = "consumer_groups"
	membershipsName = "consumer_group_consumers"
)

// groupSchemas are the kinds of Enterprise.
func groupSchemas() []*schema {
	return []*schema{
		{
			name: groupsName, singular: "consumer_group", path: groupsName, key: "name",
			fields: meta(field{name: "name", required: true, unique: true}),
		},
		{
			name: membershipsName, singular: "consumer_group_consumer", bare: true, together: []string{"consumer_group", "consumer"},
			fields: meta(toOne("consumer_group", groupsName, true, true), toOne("consumer", "consumers", true, true)),
		},
	}
}

// enterprise adds what Enterprise has to the kinds of open source.
func enterprise(all []*schema) []*schema {
	for _, sc := range all {
		if sc.name == "plugins" {
			sc.fields = append(sc.fields, toOne("consumer_group", groupsName, false, true))
			sc.together = append(sc.together, "consumer_group")
		}
	}
	return append(all, groupSchemas()...)
}

func told(status int, message string) reply {
	return reply{status: status, value: object{"message": message}}
}

// group answers for one group and its members; ok is false for what other collections have as well.
func (q *request) group() (a reply, ok bool) {
	members := len(q.segments) > 2 && q.segments[2] == "consumers"
	if !q.enterprise || q.segments[0] != groupsName || !members && (len(q.segments) != 2 || q.method != http.MethodGet) {
		return reply{}, false
	}
	found := q.store.find(q.schemas[groupsName], q.segments[1], "")
	if found == nil {
		return told(http.StatusNotFound, "Group '"+q.segments[1]+"' not found"), true
	}
	switch {
	case !members:
		return reply{status: http.StatusOK, value: object{"consumer_group": found, "consumers": q.membersOf(found), "plugins": []any{}}}, true
	case len(q.segments) == 3:
		return q.members(found), true
	case len(q.segments) == 4:
		return q.member(found), true
	}
	return failed(notFound), true
}

// membershipOf gives the row of a consumer in a group, or nil.
func (q *request) membershipOf(group, consumer object) object {
	for _, id := range q.store.childrenOf(membershipsName, groupsName, group["id"].(string)) {
		if row := q.store.get(membershipsName, id); idOf(row["consumer"]) == consumer["id"] {
			return row
		}
	}
	return nil
}

func (q *request) membersOf(group object) []any {
	list := []any{}
	for _, id := range q.store.childrenOf(membershipsName, groupsName, group["id"].(string)) {
		list = append(list, q.shown(q.schemas["consumers"], q.store.get("consumers", idOf(q.store.get(membershipsName, id)["consumer"]))))
	}
	return list
}

// members answers for the members of a group.
func (q *request) members(group object) reply {
	switch q.method {
	case http.MethodGet:
		if q.version.atLeast(version{3, 5}) {
			return reply{status: http.StatusOK, value: object{"data": q.membersOf(group), "next": nil}}
		}
		return reply{status: http.StatusOK, value: object{"consumers": q.membersOf(group)}}
	case http.MethodPost:
		return q.join(group)
	case http.MethodDelete:
		for _, id := range q.store.childrenOf(membershipsName, groupsName, group["id"].(string)) {
			q.store.remove(q.schemas[membershipsName], id)
		}
		return reply{status: http.StatusNoContent}
	}
	return failed(notAllowed)
}

// join takes one consumer or several, all or none.
func (q *request) join(group object) reply {
	body, problem := q.object()
	if problem != nil {
		return *problem
	}
	var names []any
	switch v := body["consumer"].(type) {
	case string:
		names = []any{v}
	case []any:
		names = v
	default:
		return told(http.StatusBadRequest, "must provide consumer")
	}
	if q.dbless {
		return failed(readOnly("create", membershipsName))
	}
	var found []any
	for _, name := range names {
		text, _ := name.(string)
		consumer := q.store.find(q.schemas["consumers"], text, "")
		switch {
		case consumer == nil:
			return told(http.StatusNotFound, "Consumer '"+text+"' not found")
		case q.membershipOf(group, consumer) != nil:
			return told(http.StatusConflict, "Consumer '"+text+"' already in group '"+group["id"].(string)+"'")
		}
		found = append(found, consumer)
	}
	for _, consumer := range found {
		c := consumer.(object)
		q.store.put(q.schemas[membershipsName], object{
			"id": randomID(), "consumer_group": object{"id": group["id"]}, "consumer": object{"id": c["id"]}, "created_at": float64(q.now().Unix()),
		})
	}
	return reply{status: http.StatusCreated, value: object{"consumer_group": group, "consumers": found}}
}

// member answers for one member of a group.
func (q *request) member(group object) reply {
	consumer := q.store.find(q.schemas["consumers"], q.segments[3], "")
	if consumer == nil {
		return told(http.StatusNotFound, "Consumer '"+q.segments[3]+"' not found")
	}
	row := q.membershipOf(group, consumer)
	if row == nil {
		return told(http.StatusNotFound, "Consumer '"+q.segments[3]+"' not found in Group '"+group["id"].(string)+"'")
	}
	switch q.method {
	case http.MethodGet:
		return reply{status: http.StatusOK, value: object{"consumer": consumer}}
	case http.MethodDelete:
		if q.dbless {
			return failed(readOnly("remove", membershipsName))
		}
		q.store.remove(q.schemas[membershipsName], row["id"].(string))
		return reply{status: http.StatusNoContent}
	}
	return failed(notAllowed)
}

// Members gives the usernames of the members of a group, sorted.
func (s *Simulator) Members(group string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for _, row := range s.store.all(membershipsName) {
		if s.store.get(groupsName, idOf(row["consumer_group"]))["name"] == group {
			name, _ := s.store.get("consumers", idOf(row["consumer"]))["username"].(string)
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
