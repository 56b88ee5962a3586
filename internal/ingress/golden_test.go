// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	"bytes"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
)

var update = flag.Bool("update", false, "rewrite the golden parts of the cases")

// TestGolden runs each case in testdata/<group>/<case>.txtar: cluster.yaml, and settings.yaml (data of the ConfigMap) and options.yaml
// if they are there, give model.txt and problems.txt. Each line "host path" of find.txt is completed by what the request meets.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(strings.TrimPrefix(file, "testdata/"), ".txtar"), func(t *testing.T) { golden(t, file) })
	}
}

func golden(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	archive := txtar.Parse(text)
	if len(bytes.TrimSpace(archive.Comment)) == 0 {
		t.Error("the case does not say why it exists")
	}
	options, snapshot := readCase(t, archive)
	result := NewBuilder(options).Build(snapshot)

	var printed, problems bytes.Buffer
	result.Model.Print(&printed)
	if len(result.ExternalNames) > 0 {
		fmt.Fprintf(&printed, "look up %s\n", strings.Join(result.ExternalNames, " "))
	}
	model.PrintProblems(&problems, result.Model.Problems)
	want := map[string]string{"model.txt": printed.String(), "problems.txt": problems.String()}
	if find := part(archive, "find.txt"); find != nil {
		want["find.txt"] = findAll(result.Model, string(find))
	}
	if *update {
		rewrite(t, file, archive, want)
		return
	}
	for _, name := range []string{"model.txt", "problems.txt", "find.txt"} {
		if diff := cmp.Diff(string(part(archive, name)), want[name]); diff != "" {
			t.Errorf("%s (-case +built); go test ./internal/ingress -update rewrites it:\n%s", name, diff)
		}
	}
}

func readCase(t *testing.T, archive *txtar.Archive) (Options, *source.Snapshot) {
	snapshot := readCluster(t, part(archive, "cluster.yaml"))
	o := caseOptions{}
	if err := yaml.UnmarshalStrict(part(archive, "options.yaml"), &o); err != nil {
		t.Fatalf("options.yaml: %v", err)
	}
	options := o.Options
	if o.Selector != "" {
		selector, err := labels.Parse(o.Selector)
		if err != nil {
			t.Fatal(err)
		}
		options.NamespaceSelector = selector
	}
	if !o.IgnoreUnclassed {
		options.WatchWithoutClass = true
	}
	for name, list := range o.Addresses {
		for _, a := range list {
			if snapshot.Addresses == nil {
				snapshot.Addresses = map[string][]netip.Addr{}
			}
			snapshot.Addresses[name] = append(snapshot.Addresses[name], netip.MustParseAddr(a))
		}
	}
	if data := part(archive, "settings.yaml"); data != nil {
		options.ConfigMap = source.Key{Namespace: "fairway", Name: "settings"}
		object := &corev1.ConfigMap{}
		object.Namespace, object.Name = "fairway", "settings"
		if err := yaml.UnmarshalStrict(data, &object.Data); err != nil {
			t.Fatalf("settings.yaml: %v", err)
		}
		if snapshot.ConfigMaps == nil {
			snapshot.ConfigMaps = map[source.Key]*corev1.ConfigMap{}
		}
		snapshot.ConfigMaps[options.ConfigMap] = object
	}
	return options, snapshot
}

// caseOptions is what options.yaml may say: the Options, and what YAML cannot say of them.
type caseOptions struct {
	Options
	// Selector is Options.NamespaceSelector in kubectl's words.
	Selector string
	// IgnoreUnclassed is for the cases about classes; all others leave classes out.
	IgnoreUnclassed bool
	// Addresses are the answers of DNS.
	Addresses map[string][]string
}

func part(archive *txtar.Archive, name string) []byte {
	for _, f := range archive.Files {
		if f.Name == name {
			return f.Data
		}
	}
	return nil
}

// findAll completes lines "host path" by " => result".
func findAll(m *model.Model, lines string) string {
	var out strings.Builder
	for line := range strings.Lines(lines) {
		request, _, _ := strings.Cut(strings.TrimSpace(line), " => ")
		name, path, ok := strings.Cut(request, " ")
		if !ok {
			continue
		}
		host, match := m.Find(name, path)
		result := "default backend"
		switch {
		case match == nil:
		case match.Slash:
			result = "redirect to " + path + "/"
		case match.Route.Closed != "":
			result = "503, closed"
		case !match.Route.Backend.IsZero():
			result = match.Route.Backend.String()
		}
		fmt.Fprintf(&out, "%s => %s [host %s]\n", request, result, host.Name)
	}
	return out.String()
}

func rewrite(t *testing.T, file string, archive *txtar.Archive, parts map[string]string) {
	for _, name := range []string{"model.txt", "problems.txt", "find.txt"} {
		data, given := parts[name]
		if !given {
			continue
		}
		found := false
		for i := range archive.Files {
			if archive.Files[i].Name == name {
				archive.Files[i].Data, found = []byte(data), true
			}
		}
		if !found {
			archive.Files = append(archive.Files, txtar.File{Name: name, Data: []byte(data)})
		}
	}
	if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
		t.Fatal(err)
	}
}
