// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/fairway-ingress/fairway/internal/ingress"
	"github.com/fairway-ingress/fairway/internal/source/manifests"
)

// TestExamples builds the model of the manifests that the demo serves: nothing in them may be refused.
func TestExamples(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../examples/demo")); err != nil {
		t.Fatal(err)
	}
	if err := writeSecret(filepath.Join(dir, "generated-tls.yaml"), filepath.Join(dir, "generated-tls.crt"), "secure.localhost"); err != nil {
		t.Fatal(err)
	}
	snapshot, err := manifests.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range snapshot.Faults {
		t.Errorf("%s:%d: %s", fault.File, fault.Line, fault.Message)
	}
	builder := ingress.NewBuilder(ingress.Options{AllowLocalEndpoints: true})
	m := builder.Build(snapshot).Model
	for _, problem := range m.Problems {
		t.Errorf("%+v", problem)
	}
	for _, want := range []struct{ host, path, backend string }{
		{"hello.localhost", "/", "demo/hello/80"},
		{"hello.localhost", "/next/page", "demo/hello-next/80"},
		{"hello.localhost", "/nextdoor", "demo/hello/80"},
		{"hello.localhost", "/next/exactly", "demo/hello/80"},
		{"any.wild.localhost", "/", "demo/hello-next/80"},
		{"rewrite.localhost", "/api/orders/7", "demo/hello/80"},
		{"chat.localhost", "/", "demo/chat/80"},
	} {
		_, match := m.Find(want.host, want.path)
		if match == nil || match.Route.Backend.String() != want.backend {
			t.Errorf("%s%s: match %+v, want backend %s", want.host, want.path, match, want.backend)
		}
	}
	if len(m.Certificates) != 1 {
		t.Errorf("%d certificates, want the one of demo-tls", len(m.Certificates))
	}
}

func TestBackend(t *testing.T) {
	server := httptest.NewServer(backend{name: "hello"})
	defer server.Close()
	conn, response, err := websocket.DefaultDialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(server.URL, "http"), nil)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	defer conn.Close()
	if response.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("status %d", response.StatusCode)
	}
	if err := conn.WriteMessage(websocket.TextMessage, []byte("ahoy")); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"welcome to hello\n", "echo ahoy\n"} {
		_, message, err := conn.ReadMessage()
		if err != nil {
			t.Fatal(err)
		}
		if string(message) != want {
			t.Errorf("heard %q, want %q", message, want)
		}
	}
}

func TestTryPrintsShellWords(t *testing.T) {
	got := try{args: []string{"curl", "-H", "Host: it's", "http://127.0.0.1:8080/"}}.String()
	if want := `curl -H 'Host: it'\''s' http://127.0.0.1:8080/`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
