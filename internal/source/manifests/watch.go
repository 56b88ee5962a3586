// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// debounce waits for an editor to finish its several writes and renames, patience for somebody who never does, such as a program that
	// keeps its log in the folder.
	debounce = 30 * time.Millisecond
	patience = 300 * time.Millisecond
	// rescan finds what notifications miss: file systems without them, a folder that was replaced as a whole.
	rescan = 5 * time.Second
)

// Run follows changes of the files until ctx ends. It returns an error only when the system gives no notifications at all.
func (s *Source) Run(ctx context.Context) error {
	if s.stdin != nil {
		<-ctx.Done()
		return nil
	}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch manifests: %w", err)
	}
	defer watcher.Close()
	s.watchFolders(watcher)
	s.reload() // for what changed since Open
	timer := time.NewTimer(rescan)
	defer timer.Stop()
	var since time.Time // of the first event that nothing was made of yet; zero for none
	await := func() {
		if since.IsZero() {
			since = time.Now()
		}
		timer.Reset(min(debounce, max(0, patience-time.Since(since))))
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case _, open := <-watcher.Events:
			if !open {
				return nil
			}
			await()
		case err := <-watcher.Errors:
			s.log.Warn("notifications of manifests are incomplete", "err", err)
			await()
		case <-timer.C:
			since = time.Time{}
			s.watchFolders(watcher)
			s.reload()
			timer.Reset(rescan)
		}
	}
}

func (s *Source) reload() {
	if !s.load() {
		return
	}
	s.log.Debug("manifests have changed", "files", len(s.files))
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// watchFolders asks for notifications of every folder that holds manifests. Folders are watched, not files, because editors replace files.
func (s *Source) watchFolders(watcher *fsnotify.Watcher) {
	root := s.path
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		root = filepath.Dir(root)
		_ = watcher.Add(root) // the rescan does without
		return
	}
	if resolved, err := filepath.EvalSymlinks(root); err == nil && resolved != root {
		_ = watcher.Add(filepath.Dir(root)) // a link that may be pointed elsewhere
		root = resolved
	}
	_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil // gone meanwhile
		}
		if !entry.IsDir() {
			return nil
		}
		if path != root && strings.HasPrefix(entry.Name(), ".") {
			return filepath.SkipDir
		}
		_ = watcher.Add(path)
		return nil
	})
}
