// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"math/rand/v2"
	"testing"

	netv1 "k8s.io/api/networking/v1"
)

func TestRivals(t *testing.T) {
	index := &Index{}
	one := newIngress("a", "one", "h.example", "/foo")
	one.Spec.Rules = append(one.Spec.Rules, one.Spec.Rules[0])
	index.Replace(nil, one)
	index.Replace(nil, newIngress("a", "two", "h.example", "/bar"))
	if r := index.Rivals(newIngress("b", "new", "H.example", "/foo/")); len(r) != 1 || r[0] != one {
		t.Errorf("%d rivals", len(r))
	}
	if r := index.Rivals(newIngress("a", "one", "h.example", "/foo")); len(r) != 0 {
		t.Error("an Ingress is its own rival")
	}
	moved := newIngress("a", "one", "h.example", "/elsewhere")
	index.Replace(one, moved)
	if r := index.Rivals(newIngress("b", "new", "h.example", "/foo")); len(r) != 0 {
		t.Error("a former version is a rival")
	}
	index.Replace(moved, nil)
	if index.Size() != 1 || len(index.places) != 1 {
		t.Errorf("%d Ingresses at %d places", index.Size(), len(index.places))
	}
}

// TestIndexForgets changes Ingresses at random and takes all out.
func TestIndexForgets(t *testing.T) {
	random, index, held := rand.New(rand.NewPCG(1, 2)), &Index{}, map[int]*netv1.Ingress{}
	for range 5000 {
		i := random.IntN(50)
		var next *netv1.Ingress
		if random.IntN(3) > 0 {
			next = newIngress("a", fmt.Sprint(i), fmt.Sprintf("h%d.example", random.IntN(5)), fmt.Sprintf("/%d", random.IntN(5)))
		}
		index.Replace(held[i], next)
		held[i] = next
	}
	for _, ing := range held {
		index.Replace(ing, nil)
	}
	if index.Size() != 0 || len(index.places) != 0 {
		t.Errorf("%d Ingresses at %d places are left", index.Size(), len(index.places))
	}
}
