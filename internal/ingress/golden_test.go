// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	"flag"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"github.com/fairway-ingress/fairway/internal/golden"
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
)

var update = flag.Bool("update", false, "rewrite the golden parts of the cases")

// TestGolden runs each case in testdata/<group>/<case>.txtar: cluster.yaml, and settings.yaml (data of the ConfigMap) and options.yaml
// if they are there, give model.txt and problems.txt. Each line "host path" of find.txt is completed by what the request meets.
func TestGolden(t *testing.T) {
	golden.Run(t, "testdata/*/*.txtar", func(t *testing.T, file *golden.Case) {
		options, snapshot := readCase(t, file)
		result := NewBuilder(options).Build(snapshot)
		var printed, problems strings.Builder
		result.Model.Print(&printed)
		if len(result.ExternalNames) > 0 {
			fmt.Fprintf(&printed, "look up %s\n", strings.Join(result.ExternalNames, " "))
		}
		model.PrintProblems(&problems, result.Model.Problems)
		found := []golden.Part{{Name: "model.txt", Text: printed.String()}, {Name: "problems.txt", Text: problems.String()}}
		if find := file.Part("find.txt"); find != nil {
			found = append(found, golden.Part{Name: "find.txt", Text: findAll(result.Model, string(find))})
		}
		file.Compare(t, *update, found...)
	})
}

func readCase(t *testing.T, file *golden.Case) (Options, *source.Snapshot) {
	snapshot := readCluster(t, file.Part("cluster.yaml"))
	o := caseOptions{}
	if err := yaml.UnmarshalStrict(file.Part("options.yaml"), &o); err != nil {
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
	if data := file.Part("settings.yaml"); data != nil {
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
