// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Files is a certificate in files, read again when they change. What does not parse leaves the last good one in force.
type Files struct {
	certificate, key string
	log              *slog.Logger
	current          atomic.Pointer[tls.Certificate]
	watcher          *fsnotify.Watcher
}

// OpenFiles reads a certificate chain and its key, in PEM.
func OpenFiles(certificate, key string, log *slog.Logger) (*Files, error) {
	f := &Files{certificate: certificate, key: key, log: log}
	if err := f.load(); err != nil {
		return nil, fmt.Errorf("read the webhook's certificate: %w", err)
	}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch the webhook's certificate: %w", err)
	}
	f.watcher = watcher
	f.watch()
	return f, nil
}

// Certificate gives the one in force, for tls.Config.
func (f *Files) Certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return f.current.Load(), nil
}

const (
	// settled is how long files must rest: a certificate and its key are two.
	settled = 50 * time.Millisecond
	// lookAgain is for file systems that report nothing.
	lookAgain = time.Minute
)

// Run follows the files until ctx ends.
func (f *Files) Run(ctx context.Context) error {
	defer f.watcher.Close()
	timer := time.NewTimer(lookAgain)
	defer timer.Stop()
	failed := ""
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-f.watcher.Events:
			timer.Reset(settled)
			continue
		case err := <-f.watcher.Errors:
			f.log.Warn("watch of the webhook's certificate failed, files are looked at every minute", "err", err)
			continue
		case <-timer.C:
		}
		timer.Reset(lookAgain)
		f.watch()
		err := f.load()
		switch {
		case err == nil:
			failed = ""
		case err.Error() != failed:
			failed = err.Error()
			f.log.Warn("the webhook's new certificate is not used, the last good one stays", "err", err)
		}
	}
}

// watch watches the folders of the files, not the files, which are replaced; and those that links lead to. A mounted Secret is a folder of links to
// ..data/FILE, and ..data is a link that is replaced as a whole, in the first folder.
func (f *Files) watch() {
	for _, file := range []string{f.certificate, f.key} {
		folders := []string{filepath.Dir(file)}
		if resolved, err := filepath.EvalSymlinks(file); err == nil {
			folders = append(folders, filepath.Dir(resolved))
		}
		for _, folder := range folders {
			if err := f.watcher.Add(folder); err != nil {
				f.log.Warn("folder of the webhook's certificate can't be watched, it is looked at every minute", "folder", folder, "err", err)
			}
		}
	}
}

// load reads the files and uses them if they hold another certificate.
func (f *Files) load() error {
	fresh, err := tls.LoadX509KeyPair(f.certificate, f.key)
	if err != nil {
		return fmt.Errorf("%s with %s: %w", f.certificate, f.key, err)
	}
	old := f.current.Load()
	if old != nil && sameChain(old, &fresh) {
		return nil
	}
	f.current.Store(&fresh)
	if old != nil {
		f.log.Info("the webhook has a new certificate", "until", fresh.Leaf.NotAfter.UTC().Format(time.RFC3339))
	}
	return nil
}

func sameChain(a, b *tls.Certificate) bool {
	if len(a.Certificate) != len(b.Certificate) {
		return false
	}
	for i := range a.Certificate {
		if !bytes.Equal(a.Certificate[i], b.Certificate[i]) {
			return false
		}
	}
	return true
}
