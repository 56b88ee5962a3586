// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	netv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"github.com/fairway-ingress/fairway/internal/source"
	"github.com/fairway-ingress/fairway/internal/source/kongapi"
)

// object is one decoded document.
type object struct {
	metav1.Object
	kind string
	text string // the document, by which an unchanged object is recognised
	file string
	line int
}

// kinds are those that Fairway works from, with their API version and what makes a new one.
var kinds = map[string]struct {
	version string
	make    func() metav1.Object
	cluster bool // not in a namespace
}{
	"Ingress":       {"networking.k8s.io/v1", func() metav1.Object { return &netv1.Ingress{} }, false},
	"IngressClass":  {"networking.k8s.io/v1", func() metav1.Object { return &netv1.IngressClass{} }, true},
	"Service":       {"v1", func() metav1.Object { return &corev1.Service{} }, false},
	"EndpointSlice": {"discovery.k8s.io/v1", func() metav1.Object { return &discoveryv1.EndpointSlice{} }, false},
	"Secret":        {"v1", func() metav1.Object { return &corev1.Secret{} }, false},
	"ConfigMap":     {"v1", func() metav1.Object { return &corev1.ConfigMap{} }, false},
	"Namespace":     {"v1", func() metav1.Object { return &corev1.Namespace{} }, true},
	"Node":          {"v1", func() metav1.Object { return &corev1.Node{} }, true},
}

// decodeFile gives the objects of a file, or the faults that make it unreadable as a whole. Objects that `known` has with the same text are
// taken from there. The custom resources of Kong count where kong says so.
func decodeFile(file string, text []byte, known map[string]*object, kong bool) ([]*object, []source.Fault) {
	var objects []*object
	var faults []source.Fault
	for _, d := range split(text) {
		found, err := decodeDocument(d, known, kong)
		var at *positionError
		if errors.As(err, &at) {
			faults = append(faults, source.Fault{File: file, Line: d.line + at.line, Message: at.message})
		} else if err != nil {
			faults = append(faults, source.Fault{File: file, Line: d.line, Message: err.Error()})
		}
		for _, o := range found {
			o.file = file
		}
		objects = append(objects, found...)
	}
	if len(faults) > 0 {
		return nil, faults
	}
	return objects, nil
}

// document is a part of a file and the line on which it begins.
type document struct {
	text string
	line int
}

// split cuts a YAML stream at its "---" lines. Documents of blanks and comments alone are left out.
func split(text []byte) []document {
	var documents []document
	begin := 1
	var lines []string
	flush := func(next int) {
		for _, l := range lines {
			if trimmed := strings.TrimSpace(l); trimmed != "" && trimmed[0] != '#' {
				documents = append(documents, document{strings.Join(lines, "\n"), begin})
				break
			}
		}
		lines, begin = nil, next
	}
	for i, line := range strings.Split(string(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))), "\n") {
		if line == "---" || strings.HasPrefix(line, "--- ") {
			flush(i + 2)
			continue
		}
		lines = append(lines, line)
	}
	flush(0)
	return documents
}

func decodeDocument(d document, known map[string]*object, kong bool) ([]*object, error) {
	if o := known[d.text]; o != nil {
		moved := *o
		moved.line = d.line
		return []*object{&moved}, nil
	}
	raw, err := yaml.YAMLToJSONStrict([]byte(d.text))
	if err != nil {
		return nil, position(err)
	}
	var meta metav1.TypeMeta
	if err := json.Unmarshal(raw, &meta); err != nil {
		return nil, errors.New("this is no Kubernetes object: it needs apiVersion and kind")
	}
	if meta.Kind == "List" || meta.Kind == "IngressList" && meta.APIVersion == "networking.k8s.io/v1" {
		return decodeList(raw, d, known, kong)
	}
	o, err := decodeObject(meta, raw, d, kong)
	if err != nil || o == nil {
		return nil, err
	}
	return []*object{o}, nil
}

func decodeList(raw []byte, d document, known map[string]*object, kong bool) ([]*object, error) {
	var list struct{ Items []json.RawMessage }
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("list: %w", err)
	}
	var objects []*object
	for i, item := range list.Items {
		if o := known[string(item)]; o != nil {
			objects = append(objects, o)
			continue
		}
		var meta metav1.TypeMeta
		if err := json.Unmarshal(item, &meta); err != nil {
			return nil, fmt.Errorf("items[%d] is no Kubernetes object: %w", i, err)
		}
		o, err := decodeObject(meta, item, document{string(item), d.line}, kong)
		if err != nil {
			return nil, fmt.Errorf("items[%d]: %w", i, err)
		}
		if o != nil {
			objects = append(objects, o)
		}
	}
	return objects, nil
}

// decodeObject gives nil for a kind that Fairway has no use for.
func decodeObject(meta metav1.TypeMeta, raw []byte, d document, kong bool) (*object, error) {
	if meta.Kind == "" || meta.APIVersion == "" {
		return nil, errors.New("this is no Kubernetes object: it needs apiVersion and kind")
	}
	if k := kongKind(meta); k != nil {
		if !kong {
			return nil, nil
		}
		return decodeKong(k, raw, d)
	}
	kind, wanted := kinds[meta.Kind]
	if !wanted || meta.APIVersion != kind.version {
		if wanted && (kind.version == "v1" || strings.HasSuffix(kind.version, ".k8s.io/v1")) && sameGroup(meta.APIVersion, kind.version) {
			return nil, fmt.Errorf("%s has apiVersion %q, which is not served; write %q", meta.Kind, meta.APIVersion, kind.version)
		}
		return nil, nil
	}
	o := kind.make()
	if err := yaml.UnmarshalStrict(raw, o); err != nil {
		return nil, fieldError(meta.Kind, err, d)
	}
	if err := checkNames(meta.Kind, o, kind.cluster); err != nil {
		return nil, err
	}
	setDefaults(o)
	return &object{Object: o, kind: meta.Kind, text: d.text, line: d.line}, nil
}

// kongKind gives the kind of custom resource that an object is of, or nil.
func kongKind(meta metav1.TypeMeta) *kongapi.Kind {
	for _, k := range kongapi.Kinds() {
		if k.Name == meta.Kind && k.APIVersion() == meta.APIVersion {
			return &k
		}
	}
	return nil
}

// decodeKong reads a custom resource. As with an API server, fields that its definition does not have are passed over.
func decodeKong(kind *kongapi.Kind, raw []byte, d document) (*object, error) {
	o, err := kind.Decode(raw)
	if err != nil {
		return nil, err
	}
	if err := checkNames(kind.Name, o, kind.Cluster); err != nil {
		return nil, err
	}
	return &object{Object: o, kind: kind.Name, text: d.text, line: d.line}, nil
}

// sameGroup tells whether two API versions are of one group, or the old home of Ingress.
func sameGroup(a, b string) bool {
	group := func(v string) string { g, _, _ := strings.Cut(v, "/"); return g }
	return group(a) == group(b) || group(a) == "extensions"
}

// checkNames demands what an API server demands: nothing else may reach the rest of Fairway.
func checkNames(kind string, o metav1.Object, cluster bool) error {
	if o.GetNamespace() == "" && !cluster {
		o.SetNamespace(metav1.NamespaceDefault)
	}
	if cluster {
		o.SetNamespace("")
	} else if errs := validation.IsDNS1123Label(o.GetNamespace()); len(errs) > 0 {
		return fmt.Errorf("%s: metadata.namespace %q: %s", kind, o.GetNamespace(), errs[0])
	}
	if o.GetName() == "" {
		return fmt.Errorf("%s has no metadata.name", kind)
	}
	if errs := validation.IsDNS1123Subdomain(o.GetName()); len(errs) > 0 {
		return fmt.Errorf("%s: metadata.name %q: %s", kind, o.GetName(), errs[0])
	}
	return nil
}

// positionError is an error at a line counted from the beginning of its document.
type positionError struct {
	line    int
	message string
}

func (e *positionError) Error() string { return e.message }

var yamlLine = regexp.MustCompile(`line (\d+): `)

// position takes the line out of a YAML error.
func position(err error) error {
	message := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "yaml: "), "unmarshal errors:\n  ")
	found := yamlLine.FindStringSubmatch(message)
	if found == nil {
		return errors.New(message)
	}
	line, _ := strconv.Atoi(found[1])
	return &positionError{line: line - 1, message: yamlLine.ReplaceAllString(message, "")}
}

var quotedField = regexp.MustCompile(`unknown field "([^"]+)"|field ([A-Za-z.]+) of`)

// fieldError finds the line of the field that a strict decoding error names, by looking for its last part.
func fieldError(kind string, err error, d document) error {
	message := strings.TrimPrefix(err.Error(), "error unmarshaling JSON: while decoding JSON: ")
	message = fmt.Sprintf("%s: %s", kind, strings.TrimPrefix(message, "json: "))
	found := quotedField.FindStringSubmatch(message)
	if found == nil {
		return errors.New(message)
	}
	path := found[1] + found[2]
	name := path[strings.LastIndex(path, ".")+1:]
	for i, line := range strings.Split(d.text, "\n") {
		if key := strings.TrimLeft(line, " -\t\""); strings.HasPrefix(key, name+":") || strings.HasPrefix(key, name+"\"") {
			return &positionError{line: i, message: message}
		}
	}
	return errors.New(message)
}
