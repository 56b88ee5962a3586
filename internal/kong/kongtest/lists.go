// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kongtest

import (
	"encoding/base64"
	"hash/fnv"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

const defaultSize = 100

// list answers with one page. The order is that of a hash of the ids: it says nothing, as in Kong; targets are in the order of their ids.
func (q *request) list(sc *schema, parent string) reply {
	size, f := q.size()
	if f != nil {
		return failed(f)
	}
	ids, f := q.ids(sc, parent)
	if f != nil {
		return failed(f)
	}
	if sc.name == "targets" {
		slices.Sort(ids)
	} else {
		slices.SortFunc(ids, func(a, b string) int { return strings.Compare(scattered(a), scattered(b)) })
	}
	start, f := q.start(sc, ids)
	if f != nil {
		return failed(f)
	}
	end := min(start+size, len(ids))
	page := []any{}
	for _, id := range ids[start:end] {
		page = append(page, q.shown(sc, q.store.get(sc.name, id)))
	}
	answer := object{"data": page, "next": nil}
	if end < len(ids) {
		offset := base64.RawURLEncoding.EncodeToString([]byte(ids[end-1]))
		if sc.name == "targets" {
			offset = strconv.Itoa(end + 1)
		}
		answer["offset"], answer["next"] = offset, q.next(offset, parent)
	}
	if len(page) == 0 && q.emptyObjects {
		answer["data"] = object{}
	}
	return reply{status: http.StatusOK, value: answer}
}

// scattered gives ids an order that looks like none.
func scattered(id string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id)) // never fails
	return strconv.FormatUint(h.Sum64(), 16) + id
}

func (q *request) size() (int, *failure) {
	text := q.query.Get("size")
	if text == "" {
		return defaultSize, nil
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, badSize("size must be a number")
	}
	if n < 1 || n > 1000 || n != float64(int(n)) {
		return 0, badSize("size must be an integer between 1 and 1000")
	}
	return int(n), nil
}

// ids are those of the entities that are asked for.
func (q *request) ids(sc *schema, parent string) ([]string, *failure) {
	if parent != "" {
		collection, id, _ := strings.Cut(parent, "/")
		return q.store.childrenOf(sc.name, collection, id), nil
	}
	wanted, f := q.tagFilter()
	if f != nil {
		return nil, f
	}
	custom := q.query.Get("custom_id")
	var ids []string
	for id, o := range q.store.all(sc.name) {
		if wanted(texts(o["tags"])) && (custom == "" || sc.name != "consumers" || o["custom_id"] == custom) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// tagFilter reads ?tags=a,b (both) and ?tags=a/b (either).
func (q *request) tagFilter() (func([]string) bool, *failure) {
	if !q.query.Has("tags") {
		return func([]string) bool { return true }, nil
	}
	text := q.query.Get("tags")
	both, either := strings.Split(text, ","), strings.Split(text, "/")
	tags := both
	if len(either) > 1 {
		tags = either
	}
	switch {
	case len(both) > 1 && len(either) > 1, slices.Contains(tags, ""):
		return nil, badTags("invalid filter syntax")
	case len(tags) > 5:
		return nil, badTags("cannot query more than 5 tags")
	}
	has := func(of []string) func(string) bool { return func(t string) bool { return slices.Contains(of, t) } }
	if len(either) > 1 {
		return func(of []string) bool { return slices.ContainsFunc(tags, has(of)) }, nil
	}
	return func(of []string) bool {
		return !slices.ContainsFunc(tags, func(t string) bool { return !has(of)(t) })
	}, nil
}

// start is where the page begins.
func (q *request) start(sc *schema, ids []string) (int, *failure) {
	offset := q.query.Get("offset")
	if offset == "" {
		return 0, nil
	}
	if sc.name == "targets" {
		n, err := strconv.Atoi(offset)
		if err != nil || n < 1 {
			return 0, badOffset(offset)
		}
		return min(n-1, len(ids)), nil
	}
	last, err := base64.RawURLEncoding.DecodeString(offset)
	if err != nil || !isUUID(string(last)) {
		return 0, badOffset(offset)
	}
	// The entity that the last page ended with may be gone: what comes after its place goes on.
	for i, id := range ids {
		if scattered(id) > scattered(string(last)) {
			return i, nil
		}
	}
	return len(ids), nil
}

// next is the path of the next page; what it repeats differs.
func (q *request) next(offset, parent string) string {
	query := url.Values{"offset": {offset}}
	if parent == "" {
		if q.query.Has("tags") {
			query.Set("tags", q.query.Get("tags"))
		}
		if q.query.Has("size") && q.version.atLeast(version{3, 0}) {
			query.Set("size", q.query.Get("size"))
		}
	}
	return "/" + strings.Join(q.segments, "/") + "?" + query.Encode()
}
