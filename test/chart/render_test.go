// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"
)

const (
	root      = "../.."
	chartDir  = root + "/charts/fairway"
	release   = "fairway"
	namespace = "fairway-system"
)

// rendered is a chart with values.
type rendered struct {
	objects []*unstructured.Unstructured
	notes   string
}

// render gives what `helm install RELEASE charts/fairway --namespace fairway-system` would send.
func render(release string, values map[string]any) (rendered, error) {
	var r rendered
	c, err := loader.Load(chartDir)
	if err != nil {
		return r, err
	}
	options := common.ReleaseOptions{Name: release, Namespace: namespace, Revision: 1, IsInstall: true}
	all, err := util.ToRenderValues(c, values, options, nil)
	if err != nil {
		return r, err
	}
	files, err := engine.Render(c, all)
	if err != nil {
		return r, err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if strings.HasSuffix(name, "NOTES.txt") {
			r.notes = files[name]
			continue
		}
		objects, err := parse(files[name])
		if err != nil {
			return r, fmt.Errorf("%s: %w\n%s", name, err, files[name])
		}
		r.objects = append(r.objects, objects...)
	}
	return r, nil
}

func mustRender(t *testing.T, release string, values map[string]any) rendered {
	t.Helper()
	r, err := render(release, values)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// parse reads the documents of a YAML file. A key that is there twice is an error: Helm would take it, kubectl not.
func parse(text string) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	documents := yaml.NewDocumentDecoder(io.NopCloser(strings.NewReader(text)))
	defer documents.Close()
	buffer := make([]byte, len(text)+1)
	for {
		n, err := documents.Read(buffer)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		object := &unstructured.Unstructured{}
		if err := sigsyaml.UnmarshalStrict(bytes.TrimPrefix(buffer[:n], []byte("---")), &object.Object); err != nil {
			return nil, err
		}
		if object.Object == nil {
			continue
		}
		if object.GetKind() == "" || object.GetName() == "" {
			return nil, fmt.Errorf("an object has no kind or no name:\n%s", buffer[:n])
		}
		objects = append(objects, object)
	}
}

// find gives the object of a kind and name, nil if there is none.
func (r rendered) find(kind, name string) *unstructured.Unstructured {
	for _, o := range r.objects {
		if o.GetKind() == kind && o.GetName() == name {
			return o
		}
	}
	return nil
}

// list is "Kind name" of each object, sorted.
func (r rendered) list() []string {
	var names []string
	for _, o := range r.objects {
		names = append(names, o.GetKind()+" "+o.GetName())
	}
	slices.Sort(names)
	return names
}

// valuesFiles gives testdata/values by name: what people have, and what covers the rest.
func valuesFiles(t *testing.T) map[string]map[string]any {
	t.Helper()
	paths, err := filepath.Glob("testdata/values/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no values: %v", err)
	}
	files := map[string]map[string]any{}
	for _, path := range paths {
		files[strings.TrimSuffix(filepath.Base(path), ".yaml")] = readValues(t, path)
	}
	return files
}

func readValues(t *testing.T, path string) map[string]any {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return values(t, string(text))
}

func values(t *testing.T, text string) map[string]any {
	t.Helper()
	v, err := loader.LoadValues(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}
