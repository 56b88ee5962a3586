// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package konghq_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fairway-ingress/fairway/internal/ingress"
	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/kong/translate"
	"github.com/fairway-ingress/fairway/internal/konghq"
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
)

// TestWarmEqualsFresh lets the objects of the golden cases come, go and change at random, some cases at a time, and compares what is remembered with
// what is built from nothing.
func TestWarmEqualsFresh(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	random := rand.New(rand.NewPCG(6, 1))
	random.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	const together = 4
	for group := range slices.Chunk(files, together) {
		w := newWalk(t, random, group)
		warm := w.newPipeline()
		for step := range 60 {
			w.step()
			snapshot := w.snapshot()
			want := w.newPipeline().build(t, snapshot)
			if got := warm.build(t, snapshot); !bytes.Equal(got, want) {
				t.Fatalf("%v step %d: warm and fresh differ\n%s", group, step, firstDifference(got, want))
			}
		}
	}
}

func firstDifference(got, want []byte) string {
	a, b := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d\n warm  %s\n fresh %s", i, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d and %d lines", len(a), len(b))
}

// pipeline is all that remembers between a snapshot and a state.
type pipeline struct {
	base       *ingress.Builder
	kong       *konghq.Builder
	translator *translate.Translator
	gateway    *entity.Gateway
	last       *entity.State
}

func (w *walk) newPipeline() *pipeline {
	return &pipeline{
		base: ingress.NewBuilder(w.options.Ingress), kong: konghq.NewBuilder(&w.options.Options),
		translator: translate.New(translate.Options{OpenWithoutPlugin: w.options.Open}), gateway: w.options.gateway(),
	}
}

// build gives all that comes of a snapshot as text.
func (p *pipeline) build(t *testing.T, s *source.Snapshot) []byte {
	result := p.base.Build(s)
	p.kong.Build(s, result)
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(result.Model.Kong); err != nil {
		t.Fatal(err)
	}
	state, problems := p.translator.Translate(result.Model, p.gateway)
	p.last = state
	out.Write(state.Document(p.gateway.Version, entity.Flat))
	for _, e := range state.Entities {
		fmt.Fprintln(&out, entity.Name(e), e.Common().Owner, e.Common().Field)
	}
	model.PrintProblems(&out, result.Model.Problems)
	model.PrintProblems(&out, problems)
	return out.Bytes()
}
