// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fairway-ingress/fairway/internal/source"
)

const service = `apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  ports: [{port: 80}]
`

func ingress(name string) string {
	return "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata:\n  name: " + name + "\nspec:\n  rules: []\n"
}

// write replaces a file at once, so that nobody sees it empty.
func write(t *testing.T, path, text string) {
	t.Helper()
	next := filepath.Join(t.TempDir(), "next")
	if err := os.WriteFile(next, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, path); err != nil {
		t.Fatal(err)
	}
}

func names(s *source.Snapshot) string {
	var all []string
	for _, i := range s.Ingresses {
		all = append(all, i.Namespace+"/"+i.Name)
	}
	return strings.Join(all, " ")
}

func TestDefaults(t *testing.T) {
	s, err := Open("-", Options{Stdin: strings.NewReader(service + `---
apiVersion: v1
kind: Secret
metadata: {name: s, namespace: other}
stringData: {key: text}
---
{"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": {"name": "web-1", "labels": {"kubernetes.io/service-name": "web"}},
 "endpoints": [{"addresses": ["10.0.0.1"]}], "ports": [{"port": 80}]}
`)})
	if err != nil {
		t.Fatal(err)
	}
	snapshot := s.Snapshot()
	if len(snapshot.Faults) > 0 {
		t.Fatal(snapshot.Faults)
	}
	web := source.Key{Namespace: "default", Name: "web"}
	port := snapshot.Services[web].Spec.Ports[0]
	if port.Protocol != "TCP" || port.TargetPort.IntValue() != 80 {
		t.Errorf("service port %+v", port)
	}
	if got := string(snapshot.Secrets[source.Key{Namespace: "other", Name: "s"}].Data["key"]); got != "text" {
		t.Errorf("stringData: %q", got)
	}
	if list := snapshot.EndpointSlices[web]; len(list) != 1 || list[0].AddressType != "IPv4" || *list[0].Ports[0].Protocol != "TCP" {
		t.Errorf("slices %+v", list)
	}
}

func TestFaultsNameFileAndLine(t *testing.T) {
	for name, test := range map[string]struct {
		text    string
		line    int
		message string
	}{
		"syntax":        {service + "---\nkind: Service\napiVersion: v1\n  bad: indent\n", 9, "mapping values are not allowed"},
		"unknown field": {service + "---\n" + service + "  prots: []\n", 12, `unknown field "prots"`},
		"duplicate key": {"apiVersion: v1\nkind: Service\nkind: Service\nmetadata: {name: x}\n", 3, `key "kind" already set`},
		"wrong type":    {"apiVersion: v1\nkind: Service\nmetadata: {name: x}\nspec:\n  ports: 80\n", 5, "ports"},
		"no kind":       {"metadata: {name: x}\n", 1, "apiVersion and kind"},
		"old version":   {"apiVersion: extensions/v1beta1\nkind: Ingress\nmetadata: {name: x}\n", 1, `write "networking.k8s.io/v1"`},
		"no name":       {"apiVersion: v1\nkind: Service\n", 1, "metadata.name"},
		"hostile name":  {"apiVersion: v1\nkind: Service\nmetadata: {name: \"a;b\"}\n", 1, "metadata.name"},
		"twice":         {service + "---\n" + service, 7, "stands already in"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Open("-", Options{Stdin: strings.NewReader(test.text)})
			if err != nil {
				t.Fatal(err)
			}
			faults := s.Snapshot().Faults
			if len(faults) != 1 || faults[0].Line != test.line || !strings.Contains(faults[0].Message, test.message) {
				t.Errorf("got %+v, want line %d, %q", faults, test.line, test.message)
			}
		})
	}
}

func TestOtherKindsArePassedOver(t *testing.T) {
	s, err := Open("-", Options{Stdin: strings.NewReader("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\nspec: {what: ever}\n---\n# nothing\n---\n" + service)})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Snapshot(); len(got.Faults) != 0 || len(got.Services) != 1 {
		t.Errorf("faults %v, %d services", got.Faults, len(got.Services))
	}
}

func TestListsAndOrder(t *testing.T) {
	s, err := Open("-", Options{Stdin: strings.NewReader(`apiVersion: v1
kind: List
items:
- {apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: a}}
- {apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: b}}
- {apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: c, creationTimestamp: "1970-01-01T00:00:00Z"}}
`)})
	if err != nil {
		t.Fatal(err)
	}
	// No time at all is older than 1970; equal times: descending.
	if diff := cmp.Diff("default/b default/a default/c", names(s.Snapshot())); diff != "" {
		t.Error(diff)
	}
}

// follow runs a source on a folder and gives a function that waits until the snapshot satisfies.
func follow(t *testing.T, path string) (*Source, func(what string, satisfied func(*source.Snapshot) bool)) {
	t.Helper()
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := s.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
	return s, func(what string, satisfied func(*source.Snapshot) bool) {
		t.Helper()
		timeout := time.After(time.Minute)
		for !satisfied(s.Snapshot()) {
			select {
			case <-s.Changed():
			case <-timeout:
				t.Fatalf("%s: never came; Ingresses %q, faults %v", what, names(s.Snapshot()), s.Snapshot().Faults)
			}
		}
	}
}

func TestFollowsTheFolder(t *testing.T) {
	dir := t.TempDir()
	one := filepath.Join(dir, "one.yaml")
	write(t, one, ingress("a")+"---\n"+service)
	s, until := follow(t, dir)
	before := s.Snapshot()

	write(t, one, ingress("b")+"---\n"+service)
	until("edit", func(s *source.Snapshot) bool { return names(s) == "default/b" })
	web := source.Key{Namespace: "default", Name: "web"}
	if s.Snapshot().Services[web] != before.Services[web] {
		t.Error("an unchanged document became another object")
	}

	write(t, one, ingress("c")+"---\nkind: [\n")
	until("broken", func(s *source.Snapshot) bool { return len(s.Faults) == 1 })
	if got := names(s.Snapshot()); got != "default/b" {
		t.Errorf("the last good content is not in force: %q", got)
	}
	write(t, one, ingress("c"))
	until("repaired", func(s *source.Snapshot) bool { return names(s) == "default/c" && len(s.Faults) == 0 })

	sub := filepath.Join(dir, "sub")
	if err := os.Mkdir(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(sub, "two.json"), `{"apiVersion":"networking.k8s.io/v1","kind":"Ingress","metadata":{"name":"d"}}`)
	until("new folder", func(s *source.Snapshot) bool { return names(s) == "default/d default/c" })

	temp := filepath.Join(dir, ".one.yaml.swp")
	write(t, temp, ingress("e"))
	if err := os.Rename(temp, one); err != nil {
		t.Fatal(err)
	}
	until("replaced by an editor", func(s *source.Snapshot) bool { return names(s) == "default/e default/d" })

	if err := os.Remove(one); err != nil {
		t.Fatal(err)
	}
	until("removed", func(s *source.Snapshot) bool { return names(s) == "default/d" })
}

// A ConfigMap volume is a link ..data to a folder that is swapped as a whole.
func TestFollowsLinkSwaps(t *testing.T) {
	dir := t.TempDir()
	for _, version := range []string{"v1", "v2"} {
		if err := os.Mkdir(filepath.Join(dir, ".."+version), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, ".."+version, "web.yaml"), ingress(version))
	}
	link := func(target, name string) {
		t.Helper()
		if err := os.Symlink(target, name); err != nil {
			t.Fatal(err)
		}
	}
	link("..v1", filepath.Join(dir, "..data"))
	link("..data/web.yaml", filepath.Join(dir, "web.yaml"))
	_, until := follow(t, dir)
	until("first", func(s *source.Snapshot) bool { return names(s) == "default/v1" })
	link("..v2", filepath.Join(dir, "..new"))
	if err := os.Rename(filepath.Join(dir, "..new"), filepath.Join(dir, "..data")); err != nil {
		t.Fatal(err)
	}
	until("swapped", func(s *source.Snapshot) bool { return names(s) == "default/v2" })
}

// TestRestlessFolder has a program write into the folder all the time.
func TestRestlessFolder(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "one.yaml"), ingress("a"))
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	_, until := follow(t, dir)
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		defer log.Close()
		for {
			select {
			case <-over:
				return
			case <-time.After(time.Millisecond):
				_, _ = log.WriteString("line\n")
			}
		}
	}()
	for _, name := range []string{"b", "c", "d"} { // the first may be there before the folder is watched
		write(t, filepath.Join(dir, "one.yaml"), ingress(name))
		until("edit", func(s *source.Snapshot) bool { return names(s) == "default/"+name })
	}
	close(over)
	<-ended
}

func FuzzDecodeFile(f *testing.F) {
	f.Add(service + "---\n" + ingress("a"))
	f.Add("kind: List\napiVersion: v1\nitems: [{}, null, 3]")
	f.Fuzz(func(t *testing.T, text string) {
		objects, faults := decodeFile("f.yaml", []byte(text), nil, true)
		if len(faults) > 0 && objects != nil {
			t.Error("objects of a broken file")
		}
		for _, o := range objects {
			if o.Object == nil || o.GetName() == "" {
				t.Errorf("object without a name: %+v", o)
			}
		}
	})
}
