// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/fairway-ingress/fairway/internal/source"
)

// Options of a source.
type Options struct {
	// Log gets a line per change; nil is silent.
	Log *slog.Logger
	// Stdin is read when the path is "-"; nil means os.Stdin.
	Stdin io.Reader
	// Kong takes the custom resources of Kong too.
	Kong bool
}

// Source makes snapshots from files and follows their changes. Snapshot may be called from any goroutine.
type Source struct {
	path    string
	kong    bool
	log     *slog.Logger
	stdin   []byte // content, when path is "-"
	changed chan struct{}

	// Owned by whoever calls load, one at a time.
	files  map[string]*file // by path
	unread []source.Fault   // files that could not be read last time

	mu       sync.Mutex // guards snapshot
	snapshot *source.Snapshot
}

// file is what is known of one file.
type file struct {
	sum     [sha256.Size]byte // of the content that was read last
	objects []*object         // of the last good content
	faults  []source.Fault    // of the last content
}

// Open reads the files for the first time. Files that cannot be understood are faults of the snapshot; an error means that path itself
// cannot be read.
func Open(path string, options Options) (*Source, error) {
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	s := &Source{path: path, kong: options.Kong, log: options.Log, changed: make(chan struct{}, 1), files: map[string]*file{}}
	if path == "-" {
		in := options.Stdin
		if in == nil {
			in = os.Stdin
		}
		text, err := io.ReadAll(in)
		if err != nil {
			return nil, fmt.Errorf("read manifests from standard input: %w", err)
		}
		s.stdin = text
	} else if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("read manifests: %w", err)
	}
	s.load()
	return s, nil
}

// Load reads the files once.
func Load(path string) (*source.Snapshot, error) {
	s, err := Open(path, Options{})
	if err != nil {
		return nil, err
	}
	return s.Snapshot(), nil
}

// Snapshot gives the objects as they were read last.
func (s *Source) Snapshot() *source.Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.snapshot
}

// Changed sends a value after the snapshot has changed; several changes may be one value.
func (s *Source) Changed() <-chan struct{} { return s.changed }

// load reads what has changed and makes a new snapshot if anything did. It tells whether there is one.
func (s *Source) load() bool {
	contents, faults := s.read()
	dirty := s.snapshot == nil || !slices.Equal(faults, s.unread)
	s.unread = faults
	for path := range s.files {
		if _, found := contents[path]; !found {
			delete(s.files, path)
			dirty = true
		}
	}
	for path, text := range contents {
		dirty = s.update(path, text) || dirty
	}
	if !dirty {
		return false
	}
	snapshot := s.assemble()
	s.mu.Lock()
	s.snapshot = snapshot
	s.mu.Unlock()
	return true
}

// update decodes a file if its content is new.
func (s *Source) update(path string, text []byte) bool {
	f := s.files[path]
	sum := sha256.Sum256(text)
	if f != nil && f.sum == sum {
		return false
	}
	if f == nil {
		f = &file{}
		s.files[path] = f
	}
	known := map[string]*object{}
	for _, o := range f.objects {
		known[o.text] = o
	}
	f.sum = sum
	objects, faults := decodeFile(path, text, known, s.kong)
	f.faults = faults
	if len(faults) == 0 {
		f.objects = objects
	}
	for _, fault := range faults {
		s.log.Warn("manifest is not readable, its last good content stays in force", "file", fault.File, "line", fault.Line, "err", fault.Message)
	}
	return true
}

// read gives the content of every manifest file, and a fault for each that can't be read.
func (s *Source) read() (map[string][]byte, []source.Fault) {
	if s.stdin != nil {
		return map[string][]byte{"standard input": s.stdin}, nil
	}
	contents := map[string][]byte{}
	var faults []source.Fault
	for _, path := range s.list() {
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // gone since it was listed
		}
		if err != nil {
			faults = append(faults, source.Fault{File: path, Message: err.Error()})
			continue
		}
		contents[path] = text
	}
	return contents, faults
}

// list gives the manifest files in order of name. Hidden files and folders are left out, but a folder may be reached by a link, as in
// a mounted ConfigMap.
func (s *Source) list() []string {
	info, err := os.Stat(s.path)
	if err != nil {
		return nil
	}
	if !info.IsDir() {
		return []string{s.path}
	}
	var paths []string
	var walk func(dir string, depth int)
	walk = func(dir string, depth int) {
		entries, err := os.ReadDir(dir)
		if err != nil || depth > 16 {
			return
		}
		for _, entry := range entries {
			path := filepath.Join(dir, entry.Name())
			if strings.HasPrefix(entry.Name(), ".") {
				continue
			}
			info, err := os.Stat(path) // follows links
			switch {
			case err != nil:
			case info.IsDir():
				walk(path, depth+1)
			case isManifest(entry.Name()) && info.Mode().IsRegular():
				paths = append(paths, path)
			}
		}
	}
	walk(s.path, 0)
	slices.Sort(paths)
	return paths
}

func isManifest(name string) bool {
	switch filepath.Ext(name) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

// Synced is closed: Open has read everything there is.
func (s *Source) Synced() <-chan struct{} {
	closed := make(chan struct{})
	close(closed)
	return closed
}
