// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// root is the folder of go.mod.
func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above this package")
		}
		dir = filepath.Dir(dir)
	}
}

// goFiles gives the Go files of this module; test/cluster is a module of its own, with a style of its own.
func goFiles(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(files(t, ".go"), func(path string) bool { return within(filepath.ToSlash(path), "test/cluster") })
}

// files gives the paths, relative to the root, of all files that people wrote and that have one of the extensions.
func files(t *testing.T, extensions ...string) []string {
	t.Helper()
	top := root(t)
	var paths []string
	err := filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name := entry.Name(); path != top && (name == "bin" || name == "testdata" || name == "vendor" || strings.HasPrefix(name, ".") && name != ".ci") {
				return filepath.SkipDir
			}
			return nil
		}
		if slices.Contains(extensions, filepath.Ext(path)) {
			relative, err := filepath.Rel(top, path)
			paths = append(paths, relative)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// parse reads one Go file of the tree.
func parse(t *testing.T, path string) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root(t), path), nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestLicenceHeaders(t *testing.T) {
	const holder, licence = "SPDX-FileCopyrightText: The Fairway Authors", "SPDX-License-Identifier: Apache-2.0"
	for _, path := range files(t, ".go", ".lua", ".sh") {
		text, err := os.ReadFile(filepath.Join(root(t), path))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitN(string(text), "\n", 5)
		if len(lines) > 0 && strings.HasPrefix(lines[0], "#!") {
			lines = lines[1:]
		}
		if len(lines) < 2 || !strings.HasSuffix(lines[0], " "+holder) || !strings.HasSuffix(lines[1], " "+licence) {
			t.Errorf("%s does not begin with the two-line header:\n// %s\n// %s", path, holder, licence)
		}
	}
}

func TestNoInit(t *testing.T) {
	for _, path := range goFiles(t) {
		for _, declaration := range parse(t, path).Decls {
			if f, ok := declaration.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s has a func init. Register in a visible list in one file instead, so that a reader sees what runs and in which order.", path)
			}
		}
	}
}

func TestPackageNames(t *testing.T) {
	for _, path := range goFiles(t) {
		switch name := parse(t, path).Name.Name; strings.TrimSuffix(name, "_test") {
		case "util", "utils", "common", "helper", "helpers", "types", "misc", "base", "shared":
			t.Errorf("%s is in a package named %q, which says nothing. Name it for what it gives, or put the code beside its one user.", path, name)
		}
	}
}

func TestOnePackageComment(t *testing.T) {
	commented := map[string][]string{} // folder → files
	folders := map[string]bool{}
	for _, path := range goFiles(t) {
		dir := filepath.Dir(path)
		folders[dir] = true
		file := parse(t, path)
		if file.Doc != nil && !strings.HasSuffix(file.Name.Name, "_test") {
			commented[dir] = append(commented[dir], filepath.Base(path))
			want := "Package " + file.Name.Name + " "
			if file.Name.Name == "main" {
				want = "Command " + filepath.Base(dir) + " "
			}
			if text := file.Doc.Text(); !strings.HasPrefix(text, want) {
				first, _, _ := strings.Cut(text, "\n")
				t.Errorf("%s: the package comment begins %q, want %q", path, first, want+"…")
			}
		}
	}
	for dir := range folders {
		if n := len(commented[dir]); n != 1 {
			t.Errorf("%s has %d package comments %v, want one. It says what goes in, what comes out, what is promised, what is not here and which file to open first; it stands in doc.go when longer than a paragraph.",
				dir, n, commented[dir])
		}
	}
}

func TestListedInArchitecture(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root(t), "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range packages(t) {
		if !strings.Contains(string(text), "`"+p.folder()+"`") {
			t.Errorf("ARCHITECTURE.md does not list `%s`. Give it a line in the table of packages: its one job, in the reader's words.", p.folder())
		}
	}
}

// aliases are the names under which packages called v1 are imported everywhere.
var aliases = map[string]string{
	"k8s.io/api/core/v1":                   "corev1",
	"k8s.io/api/apps/v1":                   "appsv1",
	"k8s.io/api/networking/v1":             "netv1",
	"k8s.io/api/discovery/v1":              "discoveryv1",
	"k8s.io/api/coordination/v1":           "coordinationv1",
	"k8s.io/api/admission/v1":              "admissionv1",
	"k8s.io/apimachinery/pkg/apis/meta/v1": "metav1",
	"k8s.io/apimachinery/pkg/api/errors":   "apierrors",
	"sigs.k8s.io/gateway-api/apis/v1":      "gatewayv1",
	"sigs.k8s.io/gateway-api/apis/v1beta1": "gatewayv1beta1",
}

func TestImportAliases(t *testing.T) {
	for _, path := range goFiles(t) {
		for _, spec := range parse(t, path).Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			want := aliases[imported]
			if want == "" || spec.Name != nil && spec.Name.Name == want {
				continue
			}
			t.Errorf("%s imports %s without calling it %s, as all other files do", path, imported, want)
		}
	}
}
