// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// newPair makes a certificate that is told from others by its serial number.
func newPair(t *testing.T, serial int64) (certificate, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), DNSNames: []string{"webhook"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
}

func write(t *testing.T, dir, name string, text []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// serialOf gives the serial number of the certificate in force.
func serialOf(t *testing.T, f *Files) int64 {
	t.Helper()
	c, err := f.Certificate(&tls.ClientHelloInfo{})
	if err != nil {
		t.Fatal(err)
	}
	return c.Leaf.SerialNumber.Int64()
}

func await(t *testing.T, what string, met func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !met(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("did not come true: " + what)
		}
	}
}

// follow opens files and follows them until the test ends.
func follow(t *testing.T, dir string) *Files {
	t.Helper()
	f, err := OpenFiles(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"), quiet)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- f.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return f
}

func TestFilesAreFollowed(t *testing.T) {
	dir := t.TempDir()
	put := func(serial int64) {
		certificate, key := newPair(t, serial)
		write(t, dir, "tls.crt", certificate)
		write(t, dir, "tls.key", key)
	}
	put(1)
	f := follow(t, dir)
	if n := serialOf(t, f); n != 1 {
		t.Errorf("certificate %d", n)
	}
	put(2)
	await(t, "the second certificate", func() bool { return serialOf(t, f) == 2 })
	write(t, dir, "tls.crt", []byte("broken"))
	time.Sleep(3 * settled)
	if n := serialOf(t, f); n != 2 {
		t.Errorf("a broken file made it certificate %d", n)
	}
	put(3)
	await(t, "the third certificate", func() bool { return serialOf(t, f) == 3 })
}

// TestMountedSecretIsFollowed replaces the links as the kubelet does: a new folder, then ..data is renamed over.
func TestMountedSecretIsFollowed(t *testing.T) {
	dir := t.TempDir()
	put := func(serial int64, folder string) {
		certificate, key := newPair(t, serial)
		if err := os.Mkdir(filepath.Join(dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, dir, folder+"/tls.crt", certificate)
		write(t, dir, folder+"/tls.key", key)
		if err := os.Symlink(folder, filepath.Join(dir, "..data_tmp")); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")); err != nil {
			t.Fatal(err)
		}
	}
	put(1, "..1")
	for _, name := range []string{"tls.crt", "tls.key"} {
		if err := os.Symlink("..data/"+name, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	f := follow(t, dir)
	for serial, folder := range map[int64]string{2: "..2", 3: "..3"} {
		put(serial, folder)
		await(t, "the certificate of "+folder, func() bool { return serialOf(t, f) == serial })
		for _, old := range []string{"..1", "..2", "..3"} {
			if old != folder {
				_ = os.RemoveAll(filepath.Join(dir, old)) // as the kubelet does; the last is gone already
			}
		}
	}
}

func TestNoFiles(t *testing.T) {
	if _, err := OpenFiles("nowhere.crt", "nowhere.key", quiet); err == nil {
		t.Error("a missing certificate is no error")
	}
}
