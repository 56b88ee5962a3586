// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Change is one entry that is set or, when Delete, deleted.
type Change struct {
	Key, Value string
	Delete     bool
}

// Diff gives the changes that lead from one state to another, in the order in which they are safe to make.
func Diff(from, to Entries) []Change {
	var changes []Change
	for key, value := range to {
		if old, found := from[key]; !found || old != value {
			changes = append(changes, Change{Key: key, Value: value})
		}
	}
	for key := range from {
		if _, found := to[key]; !found {
			changes = append(changes, Change{Key: key, Delete: true})
		}
	}
	sortChanges(changes)
	return changes
}

func sortChanges(changes []Change) {
	slices.SortFunc(changes, func(a, b Change) int { return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.Key, b.Key)) })
}

// rank sorts what is referred to before what refers when setting, and the other way when deleting.
func (c Change) rank() int {
	order := strings.IndexByte("cbgsh", c.Key[0])
	if c.Delete {
		return 20 - order
	}
	return order
}

// maxPushBytes keeps a push small enough that applying it holds up a worker for a few milliseconds only.
const maxPushBytes = 256 << 10

// Push is the text of one push and the generation it leads to.
type Push struct {
	Generation uint64
	Text       []byte
	Set        int
	Deleted    int
}

// Pushes cuts changes into pushes; the first leads to the generation after `generation`.
func Pushes(generation uint64, changes []Change) []Push {
	var pushes []Push
	for len(changes) > 0 {
		generation++
		p := Push{Generation: generation}
		var out bytes.Buffer
		fmt.Fprintf(&out, "= %d\n", generation)
		for len(changes) > 0 && (out.Len() < maxPushBytes || p.Set+p.Deleted == 0) {
			changes[0].write(&out, &p)
			changes = changes[1:]
		}
		fmt.Fprintf(&out, ". %d\n", generation)
		p.Text = out.Bytes()
		pushes = append(pushes, p)
	}
	return pushes
}

func (c Change) write(out *bytes.Buffer, p *Push) {
	if strings.ContainsAny(c.Key, "\n\t") || strings.Contains(c.Value, "\n") {
		panic(fmt.Sprintf("state entry %q is not one line", c.Key))
	}
	if c.Delete {
		p.Deleted++
		fmt.Fprintf(out, "- %s\n", c.Key)
		return
	}
	p.Set++
	fmt.Fprintf(out, "+ %s\t%s\n", c.Key, c.Value)
}

// ErrTruncated says that a state file ends within a push, as after a crash in the middle of a write.
var ErrTruncated = errors.New("state ends within a push")

// Replay reads a sequence of pushes and gives the state and the generation they lead to. With ErrTruncated, what was
// complete is returned.
func Replay(r io.Reader) (Entries, uint64, error) {
	entries := Entries{}
	var generation uint64
	var pending []Change
	open := false
	in := bufio.NewScanner(r)
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		verb, rest, _ := strings.Cut(in.Text(), " ")
		switch {
		case verb == "=" && !open:
			open, pending = true, nil
		case verb == "+" && open:
			key, value, found := strings.Cut(rest, "\t")
			if !found {
				return nil, 0, fmt.Errorf("state entry %q has no value", key)
			}
			pending = append(pending, Change{Key: key, Value: value})
		case verb == "-" && open:
			pending = append(pending, Change{Key: rest, Delete: true})
		case verb == "." && open:
			n, err := strconv.ParseUint(rest, 10, 64)
			if err != nil {
				return nil, 0, fmt.Errorf("state generation %q: %w", rest, err)
			}
			generation, open = n, false
			entries.Apply(pending)
		default:
			return nil, 0, fmt.Errorf("state has an unknown line %q", verb)
		}
	}
	if err := in.Err(); err != nil {
		return nil, 0, fmt.Errorf("read state: %w", err)
	}
	if open {
		return entries, generation, ErrTruncated
	}
	return entries, generation, nil
}

// Apply makes the changes, in place.
func (e Entries) Apply(changes []Change) {
	for _, c := range changes {
		if c.Delete {
			delete(e, c.Key)
		} else {
			e[c.Key] = c.Value
		}
	}
}
