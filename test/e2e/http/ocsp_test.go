// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package http

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	xocsp "golang.org/x/crypto/ocsp"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/nginx"
	"github.com/fairway-ingress/fairway/internal/ocsp"
)

// responder is an authority that answers questions about its certificates.
type responder struct {
	*authority
	server   *httptest.Server
	status   atomic.Int64 // what it says, as package ocsp counts
	lifetime time.Duration
	asked    atomic.Int64
	hold     atomic.Pointer[chan struct{}] // keeps answers back until it is closed
}

func newResponder(t *testing.T, lifetime time.Duration) *responder {
	made, err := newAuthority("status", nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &responder{authority: made, lifetime: lifetime}
	r.server = httptest.NewServer(r)
	t.Cleanup(r.server.Close)
	return r
}

func (r *responder) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	r.asked.Add(1)
	if hold := r.hold.Load(); hold != nil {
		<-*hold
	}
	body, _ := io.ReadAll(request.Body)
	question, err := xocsp.ParseRequest(body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	now := time.Now()
	answer, err := xocsp.CreateResponse(r.certificate, r.certificate, xocsp.Response{
		Status: int(r.status.Load()), SerialNumber: question.SerialNumber, ThisUpdate: now.Add(-time.Minute), NextUpdate: now.Add(r.lifetime),
		RevokedAt: now.Add(-time.Minute),
	}, r.key)
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	_, _ = w.Write(answer)
}

// secret is the manifest of a certificate that names the responder.
func (r *responder) secret(t *testing.T, name, host string) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(5000 + serials.Add(1)), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), OCSPServer: []string{r.server.URL},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, r.certificate, key.Public(), r.key)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	chain := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), r.pem...)
	return pair{chain, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})}.secret(name)
}

// running is the shared driver, which runs already.
type running struct{ *nginx.Driver }

func (running) Run(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// stapling applies a model, again whenever there is an answer, as the controller does.
type stapling struct {
	driver  *ocsp.Driver
	reloads atomic.Int64
}

func newStapling(t *testing.T, m *model.Model, allowLocal bool) *stapling {
	t.Helper()
	s := &stapling{driver: ocsp.New(running{shared.driver}, ocsp.Options{
		AllowLocal: allowLocal, Retry: 50 * time.Millisecond, Log: slog.New(slog.NewTextHandler(&shared.errors, nil)),
	})}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{}, 2)
	go func() { _ = s.driver.Run(ctx); done <- struct{}{} }()
	if _, err := s.driver.Apply(ctx, m); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer func() { done <- struct{}{} }()
		for {
			select {
			case <-ctx.Done():
				return
			case <-s.driver.Restarted():
				change, err := s.driver.Apply(ctx, m)
				if err == nil && change.Reload {
					s.reloads.Add(1)
				}
			}
		}
	}()
	t.Cleanup(func() { cancel(); <-done; <-done })
	return s
}

// stapled gives what is stapled for a name, nil when nothing is.
func stapled(t *testing.T, name string, issuer *x509.Certificate) *xocsp.Response {
	t.Helper()
	conn, err := tls.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", shared.httpsPort), &tls.Config{ServerName: name, InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	state := conn.ConnectionState()
	if len(state.OCSPResponse) == 0 {
		return nil
	}
	said, err := xocsp.ParseResponseForCert(state.OCSPResponse, state.PeerCertificates[0], issuer)
	if err != nil {
		t.Fatal(err)
	}
	return said
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s\n%s", what, shared.errors.String())
		}
	}
}

const withOCSP = `enable-ocsp: "true"`

func TestOCSP(t *testing.T) {
	r := newResponder(t, time.Hour)
	hold := make(chan struct{})
	r.hold.Store(&hold)
	cluster := withTLS("web", "stapled.example", "certificate") + r.secret(t, "certificate", "stapled.example")
	shared.apply(t, cluster, "")
	s := newStapling(t, shared.build(t, cluster, withOCSP), true)
	eventually(t, "the responder is asked", func() bool { return r.asked.Load() > 0 })
	if said := stapled(t, "stapled.example", r.certificate); said != nil { // does not wait for the answer
		t.Errorf("stapled %v before there was an answer", said)
	}
	r.hold.Store(nil)
	close(hold)
	eventually(t, "an answer is stapled", func() bool { return stapled(t, "stapled.example", r.certificate) != nil })
	for range 4 { // by both workers
		if said := stapled(t, "stapled.example", r.certificate); said == nil || said.Status != xocsp.Good {
			t.Errorf("stapled %v", said)
		}
	}
	if n := s.reloads.Load(); n != 0 {
		t.Errorf("%d reloads", n)
	}
	for _, settings := range []string{"", `enable-ocsp: "on"`} {
		shared.apply(t, cluster, settings)
		if said := stapled(t, "stapled.example", r.certificate); said != nil {
			t.Errorf("with %q stapled %v", settings, said)
		}
	}
}

// TestOCSPIsAskedAgain checks that an answer is fetched anew before it ends, and not stapled after it has.
func TestOCSPIsAskedAgain(t *testing.T) {
	r := newResponder(t, 4*time.Second)
	cluster := withTLS("web", "again.example", "certificate") + r.secret(t, "certificate", "again.example")
	newStapling(t, shared.build(t, cluster, withOCSP), true)
	eventually(t, "an answer is stapled", func() bool { return stapled(t, "again.example", r.certificate) != nil })
	first := stapled(t, "again.example", r.certificate)
	eventually(t, "a later answer is stapled", func() bool {
		said := stapled(t, "again.example", r.certificate)
		if said == nil {
			t.Fatal("the answer ended before there was another")
		}
		return said.NextUpdate.After(first.NextUpdate)
	})
	hold := make(chan struct{})
	r.hold.Store(&hold)
	t.Cleanup(func() { close(hold) })
	eventually(t, "nothing is stapled", func() bool { return stapled(t, "again.example", r.certificate) == nil })
}

func TestOCSPOfRevokedCertificate(t *testing.T) {
	r := newResponder(t, 4*time.Second)
	cluster := withTLS("web", "revoked.example", "certificate") + r.secret(t, "certificate", "revoked.example")
	newStapling(t, shared.build(t, cluster, withOCSP), true)
	eventually(t, "an answer is stapled", func() bool { return stapled(t, "revoked.example", r.certificate) != nil })
	r.status.Store(xocsp.Revoked)
	eventually(t, "nothing is stapled", func() bool { return stapled(t, "revoked.example", r.certificate) == nil })
}

// TestOCSPOfLocalResponder checks that a tenant's certificate does not make the controller connect to its own host.
func TestOCSPOfLocalResponder(t *testing.T) {
	r := newResponder(t, time.Hour)
	cluster := withTLS("web", "local.example", "certificate") + r.secret(t, "certificate", "local.example")
	before := len(shared.errors.String())
	newStapling(t, shared.build(t, cluster, withOCSP), false)
	if awaitErrors(before, "127.0.0.1 is an address that is not to be reached") == "" {
		t.Error("the log does not say why nobody is asked")
	}
	if n := r.asked.Load(); n != 0 {
		t.Errorf("asked %d times", n)
	}
	if stapled(t, "local.example", r.certificate) != nil {
		t.Error("something is stapled")
	}
}
