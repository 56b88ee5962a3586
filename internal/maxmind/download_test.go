// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package maxmind

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// archive is what MaxMind sends: a folder with the database beside other files.
func archive(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	w := tar.NewWriter(zipped)
	for name, text := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o600, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestDownload(t *testing.T) {
	good := archive(t, map[string]string{"GeoLite2-City_20260101/LICENSE.txt": "l", "GeoLite2-City_20260101/GeoLite2-City.mmdb": "new"})
	for _, c := range []struct {
		title    string
		answers  []any // statuses, then bodies; the last is repeated
		attempts int
		asked    int
		want     string // of the file
		fails    string
	}{
		{title: "arrives", answers: []any{good}, attempts: 1, asked: 1, want: "new"},
		{title: "arrives at the third attempt", answers: []any{503, 429, good}, attempts: 3, asked: 3, want: "new"},
		{title: "too few attempts", answers: []any{503, good}, attempts: 1, asked: 1, want: "old", fails: "status 503"},
		{title: "a wrong key", answers: []any{401}, attempts: 5, asked: 1, want: "old", fails: "status 401"},
		{title: "no archive", answers: []any{[]byte("<html>")}, attempts: 2, asked: 2, want: "old", fails: "read the archive"},
		{title: "cut off", answers: []any{good[:len(good)-30]}, attempts: 1, asked: 1, want: "old", fails: "EOF"},
		{
			title: "another edition", answers: []any{archive(t, map[string]string{"x/GeoLite2-ASN.mmdb": "asn"})},
			attempts: 1, asked: 1, want: "old", fails: "no GeoLite2-City.mmdb",
		},
		{title: "a path that leads out", answers: []any{archive(t, map[string]string{"../../GeoLite2-City.mmdb": "new"})}, attempts: 1, asked: 1, want: "new"},
	} {
		t.Run(c.title, func(t *testing.T) {
			asked := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				answer := c.answers[min(asked, len(c.answers)-1)]
				asked++
				if r.URL.Path != "/mirror/GeoLite2-City.tar.gz" {
					t.Errorf("asked for %s", r.URL.Path)
				}
				if status, is := answer.(int); is {
					w.WriteHeader(status)
					return
				}
				_, _ = w.Write(answer.([]byte))
			}))
			defer server.Close()
			dir := filepath.Join(t.TempDir(), "geoip")
			file := filepath.Join(dir, "GeoLite2-City.mmdb")
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte("old"), 0o644); err != nil {
				t.Fatal(err)
			}
			err := Download(t.Context(), Options{Mirror: server.URL + "/mirror/", Attempts: c.attempts, Wait: time.Millisecond}, "GeoLite2-City", dir)
			if c.fails == "" && err != nil || c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)) {
				t.Errorf("error %v, want %q", err, c.fails)
			}
			if got, _ := os.ReadFile(file); string(got) != c.want || asked != c.asked {
				t.Errorf("the file has %q, want %q; asked %d times, want %d", got, c.want, asked, c.asked)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, ".download-*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// TestKeyIsSecret looks for the key where it must not be.
func TestKeyIsSecret(t *testing.T) {
	o := Options{Key: "s3cret"}
	if !strings.Contains(o.source("GeoLite2-City"), "license_key=s3cret") {
		t.Errorf("the key is not sent: %s", o.source("GeoLite2-City"))
	}
	if text := fmt.Sprintf("%v %+v %#v %s", o, o, o, o.Key); strings.Contains(text, "s3cret") {
		t.Errorf("printed: %s", text)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // so that nobody is asked
	if err := Download(ctx, o, "GeoLite2-City", t.TempDir()); err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("error %v", err)
	}
}

// FuzzUnpack demands that an archive of whatever bytes does not leave its folder, nor crash.
func FuzzUnpack(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0x1f, 0x8b})
	f.Fuzz(func(t *testing.T, content []byte) {
		dir := t.TempDir()
		_ = unpack(bytes.NewReader(content), "GeoLite2-City", dir) // an error is as good
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) > 1 {
			t.Errorf("%v %v", entries, err)
		}
	})
}
