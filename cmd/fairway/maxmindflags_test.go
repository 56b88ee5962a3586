// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
)

// TestMaxmindFlags downloads the databases that the flags name from a mirror that fails once.
func TestMaxmindFlags(t *testing.T) {
	var asked atomic.Int32
	mirror := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		zipped := gzip.NewWriter(w)
		files := tar.NewWriter(zipped)
		_ = files.WriteHeader(&tar.Header{Name: "x/" + filepath.Base(r.URL.Path[:len(r.URL.Path)-len(".tar.gz")]) + ".mmdb", Typeflag: tar.TypeReg, Size: 4})
		_, _ = files.Write([]byte("mmdb"))
		_ = files.Close()
		_ = zipped.Close()
	}))
	t.Cleanup(mirror.Close)
	dir := filepath.Join(t.TempDir(), "geoip")
	var f maxmindFlags
	if err := f.flags().Parse([]string{"--maxmind-mirror=" + mirror.URL, "--maxmind-retries-count=2", "--maxmind-retries-timeout=1ms"}); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	f.start(t.Context(), "GeoLite2-City,GeoLite2-ASN", dir, slog.New(slog.NewTextHandler(&log, nil)))
	for _, edition := range []string{"GeoLite2-City", "GeoLite2-ASN"} {
		eventually(t, edition, func() bool {
			text, _ := os.ReadFile(filepath.Join(dir, edition+".mmdb"))
			return string(text) == "mmdb"
		})
	}
	for _, wrong := range []string{"mirror.example", "ftp://mirror.example", "http://"} {
		if err := (&maxmindFlags{mirror: wrong, attempts: 1}).check(); err == nil {
			t.Errorf("--maxmind-mirror=%s is taken", wrong)
		}
	}
}
