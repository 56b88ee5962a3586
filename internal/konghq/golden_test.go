// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package konghq_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/fairway-ingress/fairway/internal/golden"
	"github.com/fairway-ingress/fairway/internal/ingress"
	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/kong/translate"
	"github.com/fairway-ingress/fairway/internal/konghq"
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
)

var update = flag.Bool("update", false, "rewrite the golden parts of the cases")

// TestGolden runs each case in testdata/<group>/<case>.txtar: cluster.yaml, and options.yaml if it is there, give state.txt, what a gateway is to
// hold, and problems.txt.
func TestGolden(t *testing.T) {
	golden.Run(t, "testdata/*/*.txtar", func(t *testing.T, file *golden.Case) {
		c := readCase(t, file)
		state, problems := c.build()
		for _, fault := range state.Check() {
			t.Errorf("%s %s: %s", fault.Entity.Kind().Singular, entity.Name(fault.Entity), fault.Reason)
		}
		var told strings.Builder
		model.PrintProblems(&told, problems)
		file.Compare(t, *update, golden.Part{Name: "state.txt", Text: printState(t, state, c.Print)},
			golden.Part{Name: "problems.txt", Text: told.String()})
	})
}

// testCase is a case: the cluster, and what options.yaml says.
type testCase struct {
	konghq.Options
	Ingress ingress.Options
	// Version is that of the gateway; empty for 3.9.
	Version    string
	Flavor     string
	Enterprise bool
	// Plugins are those of the gateway; none for all.
	Plugins     []string
	StreamPorts []int
	Workspace   string
	Open        bool
	// Print are the kinds that the case is about; none for all. "tags" and "ids" show them too.
	Print    []string
	snapshot *source.Snapshot
}

func readCase(t testing.TB, file *golden.Case) *testCase {
	c := &testCase{Version: "3.9", Flavor: "traditional_compatible"}
	c.KeepDraining = true
	if err := yaml.UnmarshalStrict(file.Part("options.yaml"), c); err != nil {
		t.Fatalf("options.yaml: %v", err)
	}
	c.Ingress.ControllerClass, c.Ingress.IngressClass = konghq.DefaultControllerClass, konghq.DefaultIngressClass
	c.Ingress.DefaultBackend = c.DefaultBackend
	c.Ingress.DisableExternalName = c.DisableExternalName
	c.snapshot = readCluster(t, file.Part("cluster.yaml"))
	return c
}

func (c *testCase) gateway() *entity.Gateway {
	version, err := entity.ParseVersion(c.Version)
	if err != nil {
		panic(err)
	}
	return &entity.Gateway{Version: version, Flavor: c.Flavor, Enterprise: c.Enterprise, Plugins: c.Plugins, StreamPorts: c.StreamPorts}
}

// build gives the state and all Problems.
func (c *testCase) build() (*entity.State, []model.Problem) {
	result := ingress.NewBuilder(c.Ingress).Build(c.snapshot)
	konghq.NewBuilder(&c.Options).Build(c.snapshot, result)
	state, problems := translate.New(translate.Options{OpenWithoutPlugin: c.Open, Workspace: c.Workspace}).Translate(result.Model, c.gateway())
	return state, model.SortProblems(append(problems, result.Model.Problems...))
}

// printState gives a line for each entity: kind, name, and its fields as JSON, in which references are names.
func printState(t *testing.T, state *entity.State, only []string) string {
	shows := map[string]bool{}
	for _, word := range only {
		shows[word] = true
	}
	kinds := len(only) - count(shows, "tags", "ids")
	names := map[string]string{}
	for _, e := range state.Entities {
		if name := entity.Name(e); name != e.Common().ID {
			names[e.Common().ID] = name
		}
	}
	var out strings.Builder
	for _, e := range state.Entities {
		if kinds > 0 && !shows[e.Kind().Name] {
			continue
		}
		var fields map[string]any
		decoder := json.NewDecoder(bytes.NewReader(entity.Encode(e, entity.Redacted, nil)))
		decoder.UseNumber()
		if err := decoder.Decode(&fields); err != nil {
			t.Fatal(err)
		}
		name := entity.Name(e)
		for _, hidden := range []string{"id", "tags"} {
			if !shows[hidden+"s"] && !shows[hidden] {
				delete(fields, hidden)
			}
		}
		for key, value := range fields {
			if id, ok := value.(string); ok && names[id] != "" && key != "id" {
				fields[key] = names[id]
			}
			if pem, ok := value.(string); ok && strings.HasPrefix(pem, "-----BEGIN") {
				fields[key] = "PEM"
			}
		}
		if e.Kind().Key == "name" {
			delete(fields, "name")
		} else if name == e.Common().ID {
			name = ""
		}
		var line bytes.Buffer
		encoder := json.NewEncoder(&line)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(fields); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%s\n", strings.Join(strings.Fields(e.Kind().Singular+" "+name), " ")+" "+strings.TrimSpace(line.String()))
	}
	return sortLines(out.String())
}

func count(set map[string]bool, words ...string) int {
	n := 0
	for _, w := range words {
		if set[w] {
			n++
		}
	}
	return n
}

// sortLines orders the lines of each kind by name instead of id.
func sortLines(text string) string {
	rank := map[string]int{}
	for i, kind := range entity.Kinds() {
		rank[kind.Singular] = i
	}
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	if text == "" {
		return ""
	}
	return joinSorted(lines, func(line string) int {
		word, _, _ := strings.Cut(line, " ")
		return rank[word]
	})
}
