// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package l4

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// record gives what a client of crypto/tls sends first.
func record(config *tls.Config) []byte {
	client, server := net.Pipe()
	defer server.Close()
	go func() {
		_ = tls.Client(client, config).Handshake() // ends with the pipe
		client.Close()
	}()
	var hello []byte
	for wanted := 1; wanted > 0; { // records, until they hold the whole message; the client says no more without an answer
		header := make([]byte, 5)
		if _, err := io.ReadFull(server, header); err != nil {
			panic(err)
		}
		content := make([]byte, binary.BigEndian.Uint16(header[3:]))
		if _, err := io.ReadFull(server, content); err != nil {
			panic(err)
		}
		if hello == nil {
			wanted = 4 + int(binary.BigEndian.Uint32(content)&0xffffff) // after a byte that says what it is
		}
		hello, wanted = slices.Concat(hello, header, content), wanted-len(content)
	}
	return hello
}

// recut puts the handshake message of records into many records of so many bytes.
func recut(hello []byte, size int) []byte {
	var message, out []byte
	for rest := hello; len(rest) > 0; {
		n := 5 + int(binary.BigEndian.Uint16(rest[3:]))
		message, rest = append(message, rest[5:n]...), rest[n:]
	}
	for len(message) > 0 {
		n := min(size, len(message))
		out = append(out, hello[0], hello[1], hello[2])
		out = binary.BigEndian.AppendUint16(out, uint16(n))
		out = append(out, message[:n]...)
		message = message[n:]
	}
	return out
}

// protocols gives so many bytes of ALPN names, to make a hello long.
func protocols(size int) []string {
	var list []string
	for ; size > 0; size -= 201 {
		list = append(list, strings.Repeat("p", 200))
	}
	return list
}

func TestReadHello(t *testing.T) {
	plain := record(&tls.Config{ServerName: "a.example", MinVersion: tls.VersionTLS12})
	long := record(&tls.Config{ServerName: "long.example", NextProtos: protocols(15 << 10)})
	if len(long) < 15<<10 {
		t.Fatalf("the long hello has %d bytes", len(long))
	}
	for _, test := range []struct {
		name  string
		bytes []byte
		want  string
	}{
		{"one record", plain, "a.example"},
		{"records of one byte", recut(plain, 1), "a.example"},
		{"records of 100 bytes", recut(plain, 100), "a.example"},
		{"post-quantum key share", record(&tls.Config{ServerName: "pq.example", CurvePreferences: []tls.CurveID{tls.X25519MLKEM768, tls.X25519}}), "pq.example"},
		{"long", long, "long.example"},
		{"long in records of 1000 bytes", recut(long, 1000), "long.example"},
		{"upper case", record(&tls.Config{ServerName: "UPPER.example"}), "upper.example"},
		{"an address has no server name", record(&tls.Config{ServerName: "192.0.2.1"}), ""},
		{"TLS 1.0 alone", record(&tls.Config{ServerName: "old.example", MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS10}), "old.example"},
		{"with data behind it", append(bytes.Clone(plain), "early data"...), "a.example"},
		{"HTTP", []byte("GET / HTTP/1.1\r\nHost: a.example\r\n\r\n"), ""},
		{"another handshake message", append([]byte{22, 3, 1, 0, 4, 2, 0, 0, 0}, plain...), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			for how, reader := range map[string]io.Reader{"at once": bytes.NewReader(test.bytes), "byte by byte": iotest.OneByteReader(bytes.NewReader(test.bytes))} {
				name, read, err := readHello(reader)
				if err != nil || name != test.want {
					t.Fatalf("%s: name %q, error %v; want %q", how, name, err, test.want)
				}
				if !bytes.HasPrefix(test.bytes, read) {
					t.Errorf("%s: what was read is not what was sent", how)
				}
			}
		})
	}
}

func TestReadHelloOfBrokenConnections(t *testing.T) {
	hello := record(&tls.Config{ServerName: "a.example"})
	for cut := range len(hello) {
		if _, _, err := readHello(bytes.NewReader(hello[:cut])); err == nil {
			t.Fatalf("no error after %d of %d bytes", cut, len(hello))
		}
	}
	endless := io.MultiReader(bytes.NewReader(recut(hello, 50)[:len(hello)/2]), &repeat{[]byte{22, 3, 1, 0, 1, 0}})
	done := make(chan int)
	go func() {
		_, read, _ := readHello(endless) // refused by crypto/tls or by the bound
		done <- len(read)
	}()
	select {
	case n := <-done:
		if n > maxHello {
			t.Errorf("%d bytes were read", n)
		}
	case <-time.After(patience):
		t.Fatal("an endless hello is read forever")
	}
}

// repeat gives the same bytes without end.
type repeat struct{ bytes []byte }

func (r *repeat) Read(p []byte) (int, error) { return copy(p, r.bytes), nil }

// FuzzReadHello: whatever comes, what was read is what came, and no more than the bound.
func FuzzReadHello(f *testing.F) {
	hello := record(&tls.Config{ServerName: "a.example"})
	f.Add(hello)
	f.Add(recut(hello, 7))
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Fuzz(func(t *testing.T, sent []byte) {
		name, read, err := readHello(bytes.NewReader(sent))
		if !bytes.HasPrefix(sent, read) || len(read) > maxHello {
			t.Errorf("read %d bytes that are not the first of %d", len(read), len(sent))
		}
		if err != nil && name != "" {
			t.Errorf("name %q beside the error %v", name, err)
		}
		if name != strings.ToLower(name) {
			t.Errorf("name %q", name)
		}
	})
}
