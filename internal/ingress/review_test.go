// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	netv1 "k8s.io/api/networking/v1"

	"github.com/fairway-ingress/fairway/internal/golden"
	"github.com/fairway-ingress/fairway/internal/model"
)

// TestReview runs each case in testdata/review/<group>/<case>.txtar: each Ingress of review.yaml is judged alone against cluster.yaml, with
// settings.yaml and options.yaml as for TestGolden, which gives verdict.txt.
func TestReview(t *testing.T) { golden.Run(t, "testdata/review/*/*.txtar", review) }

func review(t *testing.T, file *golden.Case) {
	options, snapshot := readCase(t, file)
	if snapshot.IngressClasses == nil {
		t.Fatal("no classes")
	}
	settings := ReadSettings(options, snapshot)
	var got strings.Builder
	for _, ing := range readCluster(t, file.Part("review.yaml")).Ingresses {
		rivals := *snapshot
		rivals.Ingresses = rivalsOf(ing, snapshot.Ingresses)
		printVerdict(&got, ing, Review(options, settings, &rivals, ing))
		// What shares no place does not matter, unless by an alias.
		everybody := *snapshot
		everybody.Ingresses = others(ing, snapshot.Ingresses)
		if diff := cmp.Diff(Review(options, settings, &everybody, ing), Review(options, settings, &rivals, ing)); diff != "" {
			t.Errorf("%s: the verdict depends on more than the rivals (-all +rivals):\n%s", ing.Name, diff)
		}
	}
	file.Compare(t, *update, golden.Part{Name: "verdict.txt", Text: got.String()})
}

func others(ing *netv1.Ingress, all []*netv1.Ingress) []*netv1.Ingress {
	return slices.DeleteFunc(slices.Clone(all), func(o *netv1.Ingress) bool { return ingressRef(o) == ingressRef(ing) })
}

// rivalsOf gives the other Ingresses that share a place.
func rivalsOf(ing *netv1.Ingress, all []*netv1.Ingress) []*netv1.Ingress {
	mine := Places(ing)
	return slices.DeleteFunc(others(ing, all), func(o *netv1.Ingress) bool {
		return !slices.ContainsFunc(Places(o), func(p Place) bool { return slices.Contains(mine, p) })
	})
}

func printVerdict(out io.Writer, ing *netv1.Ingress, v Verdict) {
	word := "accepted"
	switch {
	case !v.Ours:
		word = "not ours"
	case len(v.Refusals) > 0:
		word = "refused"
	}
	fmt.Fprintf(out, "%s: %s\n", ing.Name, word)
	for _, p := range v.Refusals {
		fmt.Fprintf(out, "  refusal %s: %s: %s\n", p.Field, p.Reason, p.Refusal)
	}
	for _, p := range v.Warnings {
		fmt.Fprintf(out, "  warning %s: %s: %s\n", p.Field, p.Reason, p.Message)
	}
}

// TestReviewAgreesWithBuild judges the Ingresses of random clusters: what is refused for its place is what a build with that Ingress as the youngest would
// shadow, whatever else the cluster holds.
func TestReviewAgreesWithBuild(t *testing.T) {
	options := walkOptions
	refused := 0
	for seed := range uint64(20) {
		w := newWalk(t, seed)
		for range 40 {
			w.step()
		}
		settings := ReadSettings(options, w.snapshot)
		for _, ing := range w.snapshot.Ingresses {
			rivals := *w.snapshot
			rivals.Ingresses = rivalsOf(ing, w.snapshot.Ingresses)
			verdict := Review(options, settings, &rivals, ing)
			last := *w.snapshot
			last.Ingresses = append(others(ing, w.snapshot.Ingresses), ing)
			var want, got []model.Problem
			for _, p := range NewBuilder(options).Build(&last).Model.Problems {
				if p.Object == ingressRef(ing) && p.Refusal != "" && p.Reason == model.ReasonShadowed {
					want = append(want, p)
				}
			}
			for _, p := range verdict.Refusals {
				if p.Reason == model.ReasonShadowed {
					got = append(got, p)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("seed %d, %s: (-build +review)\n%s", seed, ing.Name, diff)
			}
			refused += len(got)
		}
	}
	if refused == 0 {
		t.Error("no Ingress was refused")
	}
}
