// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package maxmind

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

const (
	// home is where MaxMind gives databases to whoever has a key.
	home = "https://download.maxmind.com/app/geoip_download"
	// mostBytes bounds an unpacked database; the largest today has some 150 MB.
	mostBytes = 1 << 30
	// patience is for one download.
	patience = 10 * time.Minute
	// growth is how much longer each wait between two attempts is than the last.
	growth = 1.5
)

// Key is a license key. It prints as a blank.
type Key string

func (Key) String() string { return "[redacted]" }

// GoString keeps the key out of %#v.
func (Key) GoString() string { return "[redacted]" }

// Options say where databases come from.
type Options struct {
	// Key for MaxMind's own server.
	Key Key
	// Mirror is a base URL to use instead: MIRROR/EDITION.tar.gz.
	Mirror string
	// Attempts is how often a download is tried, at least once; Wait is the time before the second.
	Attempts int
	Wait     time.Duration
}

// source is the address of an edition.
func (o Options) source(edition string) string {
	if o.Mirror != "" {
		return strings.TrimSuffix(o.Mirror, "/") + "/" + url.PathEscape(edition) + ".tar.gz"
	}
	query := url.Values{"license_key": {string(o.Key)}, "edition_id": {edition}, "suffix": {"tar.gz"}}
	return home + "?" + query.Encode()
}

// Download puts EDITION.mmdb into dir, which is made if it is not there. The errors of its attempts do not hold the key.
func Download(ctx context.Context, o Options, edition, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("download %s: %w", edition, err)
	}
	wait := o.Wait
	for attempt := 1; ; attempt++ {
		again, err := o.attempt(ctx, edition, dir)
		if err == nil {
			return nil
		}
		err = fmt.Errorf("download %s from %s: %w", edition, cmp.Or(o.Mirror, "MaxMind"), err)
		if !again || attempt >= o.Attempts {
			return err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return err
		}
		wait = time.Duration(float64(wait) * growth)
	}
}

// attempt tells with an error whether another attempt could help.
func (o Options) attempt(ctx context.Context, edition, dir string) (again bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, o.source(edition), nil)
	if err != nil {
		return false, errors.New("the address is no URL")
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		// The error of the client tells the address, and the address the key.
		if inner := (*url.Error)(nil); errors.As(err, &inner) {
			err = inner.Err
		}
		return true, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		again = response.StatusCode >= 500 || response.StatusCode == http.StatusTooManyRequests
		return again, fmt.Errorf("status %s", response.Status)
	}
	return true, unpack(response.Body, edition, dir)
}

// unpack finds EDITION.mmdb in a compressed archive and puts it into dir.
func unpack(archive io.Reader, edition, dir string) error {
	unzipped, err := gzip.NewReader(archive)
	if err != nil {
		return fmt.Errorf("read the archive: %w", err)
	}
	files := tar.NewReader(unzipped)
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("the archive has no %s.mmdb", edition)
		}
		if err != nil {
			return fmt.Errorf("read the archive: %w", err)
		}
		if header.Typeflag == tar.TypeReg && path.Base(header.Name) == edition+".mmdb" {
			return replace(filepath.Join(dir, edition+".mmdb"), files, unzipped)
		}
	}
}

// replace writes a file beside the one of that name, and gives it the name when it is whole. What follows in the archive is read too, as the checksum is
// at its end.
func replace(name string, content, archive io.Reader) (err error) {
	file, err := os.CreateTemp(filepath.Dir(name), ".download-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(file.Name()) // what is left of a failure
		}
	}()
	size, err := io.Copy(file, io.LimitReader(content, mostBytes+1))
	if err == nil && size > mostBytes {
		err = fmt.Errorf("the database has more than %d bytes", mostBytes)
	}
	if err == nil {
		if _, err = io.Copy(io.Discard, io.LimitReader(archive, mostBytes)); err != nil {
			err = fmt.Errorf("read the archive: %w", err)
		}
	}
	if err = errors.Join(err, file.Chmod(0o644), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), name)
}
