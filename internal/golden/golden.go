// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package golden is for tests: it runs cases that are txtar files. The first lines of a case say why it exists; then come the parts that a test
// reads, and those that it compares with what it finds. A test that is told to update writes what it finds into the file.
package golden

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

// Case is one file.
type Case struct {
	file    string
	archive *txtar.Archive
}

// Part is a named text of a case.
type Part struct{ Name, Text string }

// New makes a case that is in no file.
func New(parts ...Part) *Case {
	c := &Case{archive: &txtar.Archive{}}
	for _, p := range parts {
		c.set(p)
	}
	return c
}

// Read reads a file.
func Read(t testing.TB, file string) *Case {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return &Case{file: file, archive: archive}
}

// Run runs the cases in the files that the pattern names, of which there must be some. A subtest has the name of its file below the folders that
// come before the pattern's first star.
func Run(t *testing.T, pattern string, run func(t *testing.T, c *Case)) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	above, _, _ := strings.Cut(pattern, "*")
	for _, file := range files {
		t.Run(strings.TrimSuffix(strings.TrimPrefix(file, above), ".txtar"), func(t *testing.T) {
			c := Read(t, file)
			if len(bytes.TrimSpace(c.archive.Comment)) == 0 {
				t.Error("the case does not say why it exists")
			}
			run(t, c)
		})
	}
}

// Part gives the text of a part; nil where there is none of that name.
func (c *Case) Part(name string) []byte {
	if i := c.index(name); i >= 0 {
		return c.archive.Files[i].Data
	}
	return nil
}

func (c *Case) index(name string) int {
	return slices.IndexFunc(c.archive.Files, func(f txtar.File) bool { return f.Name == name })
}

func (c *Case) set(p Part) {
	i := c.index(p.Name)
	if i < 0 {
		i = len(c.archive.Files)
		c.archive.Files = append(c.archive.Files, txtar.File{Name: p.Name})
	}
	c.archive.Files[i].Data = []byte(p.Text)
}

// Compare compares parts of the case with what was found, or writes that into the file.
func (c *Case) Compare(t testing.TB, update bool, found ...Part) {
	t.Helper()
	if update {
		for _, p := range found {
			c.set(p)
		}
		if err := os.WriteFile(c.file, txtar.Format(c.archive), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, p := range found {
		if diff := cmp.Diff(string(c.Part(p.Name)), p.Text); diff != "" {
			t.Errorf("%s (-case +found); go test . -update, in the folder of the package, rewrites it:\n%s", p.Name, diff)
		}
	}
}
