// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package entity

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
)

// Stub is the name of the upstream that stands in an empty document: a gateway without any entity never becomes ready.
const Stub = "kong"

// Document writes the declarative document for that version of Kong: flat collections, sorted by id, everything by id.
func (s *State) Document(version Version, form Form) []byte {
	w := Writer{Version: version, Form: form}
	return w.Document(s)
}

// Writer writes documents. Of entities that the last one had it copies the text. It serves one goroutine at a time.
type Writer struct {
	Version Version
	Form    Form

	last  *State
	text  []byte
	spans []span // of the entities of the last state
}

// span is where the text of an entity is.
type span struct{ from, to int }

// Document writes the document of a state. The text must not be modified.
func (w *Writer) Document(s *State) []byte {
	if w.last == s {
		return w.text
	}
	out := bytes.NewBuffer(make([]byte, 0, len(w.text)+len(w.text)/64))
	format := "3.0"
	if !w.Version.AtLeast(3, 0) {
		format = "2.1"
	}
	fmt.Fprintf(out, `{"_format_version":%q`, format)
	entities := s.Entities
	if len(entities) == 0 {
		entities = []Entity{&Upstream{Meta: Meta{ID: NewID(Upstreams, Stub)}, Name: Stub}}
	}
	spans, known := make([]span, len(entities)), w.known(entities)
	for _, section := range sections(entities) {
		for i := section.from; i < section.to; i++ {
			if i == section.from {
				fmt.Fprintf(out, ",\n%q:[\n", entities[i].Kind().Name)
			} else {
				out.WriteString(",\n")
			}
			spans[i].from = out.Len()
			if text := known[i]; text != nil {
				out.Write(text)
			} else {
				encodeTo(out, entities[i], w.Form, nil)
			}
			spans[i].to = out.Len()
		}
		out.WriteByte(']')
	}
	out.WriteString("}\n")
	w.last, w.text, w.spans = s, out.Bytes(), spans
	return w.text
}

// known gives the text of each entity that the last document had.
func (w *Writer) known(entities []Entity) [][]byte {
	texts := make([][]byte, len(entities))
	if w.last == nil {
		return texts
	}
	old := w.last.Entities
	for i, j := 0, 0; i < len(entities) && j < len(old); {
		if entities[i] == old[j] {
			texts[i] = w.text[w.spans[j].from:w.spans[j].to]
			i, j = i+1, j+1
			continue
		}
		switch c := comparePlaces(PlaceOf(entities[i]), PlaceOf(old[j])); {
		case c < 0:
			i++
		case c > 0:
			j++
		default:
			i, j = i+1, j+1
		}
	}
	return texts
}

// sections gives where the entities of each kind are, by the names of the kinds.
func sections(entities []Entity) []span {
	var list []span
	for i, e := range entities {
		if i == 0 || e.Kind() != entities[i-1].Kind() {
			list = append(list, span{i, i})
		}
		list[len(list)-1].to++
	}
	slices.SortFunc(list, func(a, b span) int { return cmp.Compare(entities[a.from].Kind().Name, entities[b.from].Kind().Name) })
	return list
}
