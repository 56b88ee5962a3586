// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/fairway-ingress/fairway/internal/kong/entity"
)

// Checker does what [Sound] does for states that follow each other. While nothing is wrong it looks only at what differs between them. It serves one
// goroutine at a time.
type Checker struct {
	checked *entity.State
	sound   *entity.State
	faults  []entity.Fault

	users     map[entity.Place]int // how often each place is referred to
	lacking   map[entity.Place]bool
	claimants map[string]int // how many entities have what must be unique
	contested int            // of what, more than one
}

// Sound leaves out what cannot be sent anyway; see the function of that name.
func (c *Checker) Sound(s *entity.State) (*entity.State, []entity.Fault) {
	if c.checked == s {
		return c.sound, c.faults
	}
	c.follow(s)
	c.sound, c.faults = s, nil
	if len(c.lacking)+c.contested > 0 {
		c.sound, c.faults = Sound(s)
	}
	return c.sound, slices.Clip(c.faults)
}

// follow notes what differs in the next state.
func (c *Checker) follow(s *entity.State) {
	if c.checked == nil {
		c.checked, c.users, c.lacking, c.claimants = entity.NewState(nil), map[entity.Place]int{}, map[entity.Place]bool{}, map[string]int{}
	}
	var touched []entity.Place
	for _, change := range entity.Changes(c.checked, s) {
		if old := c.checked.At(change.Place); old != nil {
			touched = append(touched, c.count(old, -1)...)
		}
		if change.Entity != nil {
			touched = append(touched, c.count(change.Entity, 1)...)
		}
		touched = append(touched, change.Place)
	}
	c.checked = s
	for _, place := range touched {
		if delete(c.lacking, place); c.users[place] > 0 && s.At(place) == nil {
			c.lacking[place] = true
		}
	}
}

// count adds what an entity refers to and claims, or takes it away, and gives what it refers to.
func (c *Checker) count(e entity.Entity, n int) []entity.Place {
	needs := entity.Needs(e)
	for _, need := range needs {
		if c.users[need] += n; c.users[need] == 0 {
			delete(c.users, need)
		}
	}
	for _, claim := range entity.Claims(e) {
		before := c.claimants[claim]
		c.claimants[claim] = before + n
		switch {
		case before+n == 0:
			delete(c.claimants, claim)
		case before == 1 && n > 0:
			c.contested++
		case before == 2 && n < 0:
			c.contested--
		}
	}
	return needs
}
