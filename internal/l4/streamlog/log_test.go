// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package streamlog

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fairway-ingress/fairway/internal/model"
)

// example is a connection that a second endpoint took.
func example() *Session {
	return &Session{
		Listener: &model.Listener{Transport: model.TCP, Port: 5432, Backend: &model.Backend{
			ID: model.BackendID{Namespace: "shop", Service: "db", Port: "5432", Transport: model.TCP},
		}},
		Client: netip.MustParseAddrPort("192.0.2.7:4000"), Peer: netip.MustParseAddrPort("10.0.0.9:5000"), Local: netip.MustParseAddrPort("[2001:db8::1]:5432"),
		Begun: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), Took: 1234 * time.Millisecond, Received: 11, Sent: 22,
		Failed: []netip.AddrPort{netip.MustParseAddrPort("10.1.0.1:80")}, Endpoint: netip.MustParseAddrPort("10.1.0.2:80"),
		Connect: 5 * time.Millisecond, FirstByte: -1, Served: time.Second,
	}
}

func TestLines(t *testing.T) {
	refused := example()
	refused.Outcome, refused.Endpoint, refused.Failed = model.StreamNoEndpoint, netip.AddrPort{}, nil
	for _, c := range []struct {
		format  string
		session *Session
		want    string
	}{
		{model.DefaultStreamLogFormat, example(), "[192.0.2.7] [04/Mar/2026:05:06:08 +0000] TCP 200 22 11 1.234"},
		{"$remote_port $realip_remote_addr $realip_remote_port $server_addr $server_port", example(), "4000 10.0.0.9 5000 2001:db8::1 5432"},
		{"$upstream_addr|$upstream_bytes_sent|$upstream_bytes_received|$upstream_connect_time|$upstream_first_byte_time|$upstream_session_time", example(),
			"10.1.0.1:80, 10.1.0.2:80|0, 11|0, 22|-, 0.005|-, -|-, 1.000"},
		{"$upstream_addr|$upstream_bytes_sent|$upstream_connect_time|$status", refused, "-|-|-|502"},
		{"$time_iso8601 $msec ${proxy_upstream_name}!", example(), "2026-03-04T05:06:08+00:00 1772600768.234 tcp-shop-db-5432!"},
		{"$proxy_protocol_addr $ssl_protocol $nginx_version $nobody_knows", example(), "- - - -"},
		{"$binary_remote_addr", example(), `\xC0\x00\x02\x07`},
	} {
		if got := string(newFormat(c.format).line(nil, c.session)); got != c.want+"\n" {
			t.Errorf("%s:\n%q, not\n%q", c.format, got, c.want)
		}
	}
	count := newFormat("$connection")
	if got := string(count.line(count.line(nil, example()), example())); got != "1\n2\n" {
		t.Errorf("numbers %q", got)
	}
	for _, name := range model.StreamVariables {
		if name == "connection" || name == "hostname" {
			continue
		}
		if variables[name] == nil {
			t.Errorf("nothing is known of $%s", name)
		}
	}
	if len(variables) != len(model.StreamVariables)-2 {
		t.Errorf("%d variables are known, not %d", len(variables), len(model.StreamVariables)-2)
	}
}

// pieces keeps what was written, by calls.
type pieces [][]byte

func (p *pieces) Write(b []byte) (int, error) { *p = append(*p, bytes.Clone(b)); return len(b), nil }

func TestLinesAreNotTorn(t *testing.T) {
	var text []byte
	for range 300 {
		text = append(append(text, bytes.Repeat([]byte("x"), 99)...), '\n')
	}
	text = append(append(text, bytes.Repeat([]byte("y"), 2*pieceSize)...), '\n') // longer than any piece
	text = append(text, "end\n"...)
	var got pieces
	if err := (file{}).write(text, &got); err != nil {
		t.Fatal(err)
	}
	for _, piece := range got {
		if piece[len(piece)-1] != '\n' || len(piece) > pieceSize && piece[0] != 'y' {
			t.Errorf("a piece of %d bytes ends with %q", len(piece), piece[len(piece)-1])
		}
	}
	if !bytes.Equal(slices.Concat(got...), text) {
		t.Error("the pieces are not the whole")
	}
}

// run writes sessions and gives what the file has then.
func run(t *testing.T, path string, params ...string) []byte {
	t.Helper()
	l := New(io.Discard, slog.New(slog.DiscardHandler))
	l.Use(&model.Logs{Stream: path, Params: params, StreamFormat: "$status"})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); l.Run(ctx) }()
	for range 3 {
		l.Write(example())
	}
	stop()
	<-ended
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "plain")
	run(t, path)
	if got := run(t, path); string(got) != strings.Repeat("200\n", 6) {
		t.Errorf("%q", got)
	}
	path = filepath.Join(dir, "compressed")
	run(t, path, "buffer=1m", "gzip=3")
	z, err := gzip.NewReader(bytes.NewReader(run(t, path, "gzip")))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(z); err != nil || string(got) != strings.Repeat("200\n", 6) {
		t.Errorf("%q, %v", got, err)
	}
}

// TestNobodyReads is a pipe without a reader, and one whose reader sleeps: sessions go on, and lines are left out once a bound is met.
func TestNobodyReads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	var told bytes.Buffer
	l := New(io.Discard, slog.New(slog.NewTextHandler(&told, nil)))
	l.Use(&model.Logs{Stream: path, StreamFormat: "$time_local $remote_addr"})
	for range mostPending / 10 {
		l.Write(example())
	}
	if n := len(l.pending); n < mostPending || n > mostPending+100 {
		t.Errorf("%d bytes wait", n)
	}
	if l.lost == 0 {
		t.Error("no line is lost")
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	l.Run(ctx)
	if !strings.Contains(told.String(), "not logged") || !strings.Contains(told.String(), "no such device") {
		t.Errorf("the log says %q", told.String())
	}
}

func TestOff(t *testing.T) {
	l := New(io.Discard, slog.New(slog.DiscardHandler))
	for _, off := range []bool{true, false, true} {
		l.Use(&model.Logs{StreamFormat: "$status", NoStream: off})
		if l.On() == off {
			t.Errorf("off %v: on %v", off, l.On())
		}
		l.Write(example())
	}
	if string(l.pending) != "200\n" {
		t.Errorf("%q", l.pending)
	}
}

func BenchmarkWrite(b *testing.B) {
	l := New(io.Discard, slog.New(slog.DiscardHandler))
	l.Use(&model.Logs{StreamFormat: model.DefaultStreamLogFormat})
	s := example()
	for b.Loop() {
		l.Write(s)
		l.pending = l.pending[:0]
	}
}
