// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/fairway-ingress/fairway/internal/kong"
)

// heard are pushes that were told.
type heard []string

func (h *heard) Pushed(gateway string, fallback bool, err error) {
	*h = append(*h, fmt.Sprint(gateway, " ", fallback, " ", err))
}

// TestPushesAreToldWhenTheyTurnOut otherwise than before.
func TestPushesAreToldWhenTheyTurnOut(t *testing.T) {
	var h heard
	teller := pushTeller{reporter: &h}
	for _, step := range []struct {
		push kong.Push
		want []string
	}{
		{kong.Push{Gateway: "a"}, nil}, // it held that already
		{kong.Push{Gateway: "a", Requests: 1}, nil},
		{kong.Push{Gateway: "b", Requests: 1}, []string{"b false <nil>"}},
		{kong.Push{Gateway: "a", Requests: 1, Err: errors.New("no")}, []string{"a false no"}},
		{kong.Push{Gateway: "a", Requests: 1, Fallback: true, Broken: 1}, []string{"a true <nil>"}},
		{kong.Push{Gateway: "a", Requests: 1, Err: errors.New("no")}, nil},
		{kong.Push{Gateway: "a", Requests: 1, Fallback: true, Broken: 1}, nil},
		{kong.Push{Gateway: "a", Requests: 1}, []string{"a false <nil>"}},
		{kong.Push{Gateway: "c", Requests: 1, Database: true, Broken: 2}, []string{"c false 2 entities are refused, all else is in force"}},
	} {
		h = nil
		teller.tell(step.push)
		if !slices.Equal(h, step.want) {
			t.Errorf("%+v is told as %q, want %q", step.push, h, step.want)
		}
	}
}
