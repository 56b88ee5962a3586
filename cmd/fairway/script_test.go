// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the goldens of the scripts and the generated docs")

// TestScripts runs testdata/script/*.txtar, each in a folder of its own with the files of the archive. A line of a script is one of these, as
// in testscript; "!" before it demands the opposite. Words may stand in single quotes.
//
//	fairway ARGUMENTS…         must exit with 0
//	exits STATUS               the status of the last command
//	stdin FILE                 for the next command
//	stdout|stderr EXPRESSION   must match what the last command wrote
//	cmp stdout|stderr FILE     must be what it wrote
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		path, err := filepath.Abs(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { runScript(t, path) })
	}
}

// script is one in progress.
type script struct {
	path    string
	archive *txtar.Archive
	stdin   []byte
	written map[string]string // by stdout and stderr
	status  int
}

func runScript(t *testing.T, path string) {
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for _, f := range archive.Files {
		if err := errors.Join(os.MkdirAll(filepath.Dir(f.Name), 0o755), os.WriteFile(f.Name, f.Data, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	s := &script{path: path, archive: archive}
	for line := range strings.Lines(string(archive.Comment)) {
		words := split(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		negated := words[0] == "!"
		if negated {
			words = words[1:]
		}
		if err := s.step(words, negated); err != nil {
			t.Fatalf("%s: %v\nstatus %d, stdout:\n%sstderr:\n%s", strings.TrimSpace(line), err, s.status, s.written["stdout"], s.written["stderr"])
		}
	}
	if *update {
		if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func (s *script) step(words []string, negated bool) error {
	switch words[0] {
	case "fairway":
		var stdout, stderr bytes.Buffer
		s.status = run(words, bytes.NewReader(s.stdin), &stdout, &stderr)
		s.stdin, s.written = nil, map[string]string{"stdout": stdout.String(), "stderr": stderr.String()}
		if (s.status != 0) != negated {
			return errors.New("unexpected exit status")
		}
	case "exits":
		if fmt.Sprint(s.status) != words[1] {
			return errors.New("another exit status")
		}
	case "stdin":
		s.stdin = s.file(words[1]).Data
	case "stdout", "stderr":
		if regexp.MustCompile("(?m)"+words[1]).MatchString(s.written[words[0]]) == negated {
			return errors.New("unexpected output")
		}
	case "cmp":
		if *update {
			s.file(words[2]).Data = []byte(s.written[words[1]])
		} else if string(s.file(words[2]).Data) != s.written[words[1]] {
			return fmt.Errorf("is not %s; go test ./cmd/fairway -update rewrites it", words[2])
		}
	default:
		return errors.New("no such command")
	}
	return nil
}

func (s *script) file(name string) *txtar.File {
	for i := range s.archive.Files {
		if s.archive.Files[i].Name == name {
			return &s.archive.Files[i]
		}
	}
	s.archive.Files = append(s.archive.Files, txtar.File{Name: name})
	return &s.archive.Files[len(s.archive.Files)-1]
}

// split cuts a line into words.
func split(line string) []string {
	var words []string
	for i, part := range strings.Split(strings.TrimSpace(line), "'") {
		if i%2 == 1 {
			words = append(words, part)
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	return words
}
