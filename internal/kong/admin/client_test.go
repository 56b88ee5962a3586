// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package admin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/kong/kongtest"
)

func start(t *testing.T, options kongtest.Options) (*kongtest.Simulator, *Client) {
	t.Helper()
	simulator := kongtest.New(options)
	server := httptest.NewServer(simulator)
	t.Cleanup(server.Close)
	client, err := New(Options{URL: server.URL, Pause: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return simulator, client
}

func service(n int) (Address, []byte) {
	name := fmt.Sprintf("service-%d", n)
	s := &entity.Service{Meta: entity.Meta{ID: entity.NewID(entity.Services, name), Tags: []string{"fairway-test"}}, Name: name, Host: "a.example"}
	return Address{Kind: entity.Services, ID: s.ID}, entity.Encode(s, entity.Body, nil)
}

func classed(err error) string {
	var failure *Error
	if errors.As(err, &failure) {
		return failure.Class.String()
	}
	return fmt.Sprint(err)
}

func TestEntities(t *testing.T) {
	var client *Client
	if url := os.Getenv("KONG_ADMIN_URL"); url != "" {
		var err error
		if client, err = New(Options{URL: url}); err != nil {
			t.Fatal(err)
		}
	} else {
		_, client = start(t, kongtest.Options{EmptyObjects: true, Extra: "later"})
	}
	a, body := service(1)
	t.Cleanup(func() { _ = client.Delete(context.WithoutCancel(t.Context()), a) })
	if _, err := client.Put(t.Context(), a, body); err != nil {
		t.Fatal(err)
	}
	record, err := client.Patch(t.Context(), a, []byte(`{"retries":1}`))
	if err != nil || record.Text("name") != "service-1" || record["retries"] != 1.0 {
		t.Errorf("record %v, error %v", record, err)
	}
	other := Address{Kind: entity.Services, ID: entity.NewID(entity.Services, "x")}
	if _, err := client.Put(t.Context(), other, body[:1]); classed(err) != "invalid" {
		t.Errorf("bad JSON is %v", err)
	}
	_, err = client.Put(t.Context(), a, []byte(`{"host":"a:1","bogus":1}`))
	failure := new(Error)
	if !errors.As(err, &failure) || failure.Code != 2 || failure.Fields["bogus"] != "unknown field" {
		t.Errorf("a wrong field is %v", err)
	}
	_, err = client.Post(t.Context(), a, []byte(`{"host":"a.example","name":"service-1"}`))
	if classed(err) != "conflict" {
		t.Errorf("a name twice is %v", err)
	}
	route := Address{Kind: entity.Routes, ID: entity.NewID(entity.Routes, "r")}
	_, err = client.Put(t.Context(), route, []byte(`{"paths":["/"],"service":{"id":"`+route.ID+`"}}`))
	if classed(err) != "reference" {
		t.Errorf("a reference to nothing is %v", err)
	}
	if list, err := client.List(t.Context(), entity.Services, "", "fairway-test"); err != nil || len(list) != 1 {
		t.Errorf("list %v, error %v", list, err)
	}
	if err := client.Delete(t.Context(), a); err != nil {
		t.Error(err)
	}
	if _, err := client.Get(t.Context(), a); classed(err) != "gone" {
		t.Errorf("after the delete: %v", err)
	}
	if _, err := client.List(t.Context(), entity.Targets, "nobody", ""); classed(err) != "gone" {
		t.Errorf("targets of nobody: %v", err)
	}
}

func TestPages(t *testing.T) {
	_, client := start(t, kongtest.Options{})
	const n = 2300
	for i := range n {
		a, body := service(i)
		if _, err := client.Put(t.Context(), a, body); err != nil {
			t.Fatal(err)
		}
	}
	list, err := client.List(t.Context(), entity.Services, "", "fairway-test")
	if err != nil || len(list) != n {
		t.Errorf("%d services, error %v; want %d", len(list), err, n)
	}
}

func TestRetries(t *testing.T) {
	simulator, client := start(t, kongtest.Options{})
	a, body := service(1)
	for _, c := range []struct {
		fault kongtest.Fault
		class string
	}{
		{kongtest.Fault{Status: 503}, "busy"}, {kongtest.Fault{Status: 429, RetryAfter: "0"}, "busy"},
		{kongtest.Fault{Status: 502, Body: "<html>"}, "server"},
		{kongtest.Fault{Status: 500, Body: `{"message":"An unexpected error occurred"}`}, "server"}, {kongtest.Fault{Cut: true}, "transport"},
		{kongtest.Fault{Cut: true, Applied: true}, "transport"}, {kongtest.Fault{Half: true}, "transport"},
	} {
		left := 2
		simulator.Inject(func(kongtest.Call) *kongtest.Fault {
			if left == 0 {
				return nil
			}
			left--
			return &c.fault
		})
		if _, err := client.Put(t.Context(), a, body); err != nil {
			t.Errorf("after two faults %+v: %v", c.fault, err)
		}
		simulator.Inject(func(kongtest.Call) *kongtest.Fault { return &c.fault })
		if _, err := client.Put(t.Context(), a, body); classed(err) != c.class {
			t.Errorf("fault %+v for ever: %v, want class %s", c.fault, err, c.class)
		}
	}
	simulator.Inject(nil)
	simulator.Forget()
	if _, err := client.Put(t.Context(), a, []byte(`{}`)); classed(err) != "invalid" || len(simulator.Calls()) != 1 {
		t.Errorf("what is invalid is sent %d times: %v", len(simulator.Calls()), err)
	}
}

func TestConcurrency(t *testing.T) {
	var now, most atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n := now.Add(1)
		defer now.Add(-1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
			continue
		}
		time.Sleep(time.Millisecond)
		fmt.Fprint(w, "{}")
	}))
	defer server.Close()
	client, err := New(Options{URL: server.URL, Concurrency: 3})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	for i := range 30 {
		a, body := service(i)
		go func() { _, err := client.Put(t.Context(), a, body); done <- err }()
	}
	for range 30 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if most.Load() > 3 {
		t.Errorf("%d requests at once, want 3 at most", most.Load())
	}
}

func TestHeader(t *testing.T) {
	simulator := kongtest.New(kongtest.Options{Token: "secret"})
	server := httptest.NewServer(simulator)
	defer server.Close()
	token := "old"
	client, err := New(Options{URL: server.URL, Header: func() (http.Header, error) { return http.Header{"Kong-Admin-Token": {token}}, nil }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Gateway(t.Context()); classed(err) != "auth" {
		t.Errorf("a wrong token: %v", err)
	}
	token = "secret"
	if _, err := client.Gateway(t.Context()); err != nil {
		t.Errorf("a renewed token: %v", err)
	}
}

func TestGateway(t *testing.T) {
	_, client := start(t, kongtest.Options{Version: "2.8.5", DBLess: true, Plugins: []string{"key-auth", "cors"}})
	g, err := client.Gateway(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if g.Version != (entity.Version{Major: 2, Minor: 8}) || g.Database || g.Enterprise || g.Flavor != "traditional" ||
		!g.HasPlugin("cors") || g.HasPlugin("jwt") {
		t.Errorf("gateway %+v", g)
	}
	if len(g.StreamPorts) != 1 || g.StreamPorts[0] != 9000 {
		t.Errorf("stream ports %v", g.StreamPorts)
	}
	_, old := start(t, kongtest.Options{Version: "2.7.0"})
	if _, err := old.Gateway(t.Context()); !errors.Is(err, ErrTooOld) {
		t.Errorf("Kong 2.7: %v", err)
	}
}

func TestLoad(t *testing.T) {
	_, client := start(t, kongtest.Options{DBLess: true})
	if hash, err := client.Hash(t.Context()); err != nil || hash != NoHash {
		t.Errorf("hash %s, error %v", hash, err)
	}
	document := []byte(`{"_format_version":"3.0","upstreams":[{"name":"kong"}]}`)
	for _, news := range []bool{true, false} {
		if got, err := client.Load(t.Context(), document); err != nil || got != news {
			t.Errorf("news %v, error %v; want %v", got, err, news)
		}
	}
	_, err := client.Load(t.Context(), []byte(`{"_format_version":"3.0","services":[{"name":"a","id":"6a9ee0b5-0a5e-4b5e-8d7b-2d4bd0000001"}]}`))
	failure := new(Error)
	if !errors.As(err, &failure) || len(failure.Flattened) != 1 || failure.Flattened[0].Reason() != "host: required field missing" {
		t.Errorf("a service without host: %+v", err)
	}
	const lost = `{"_format_version":"3.0","routes":[{"name":"a","paths":["/"],"service":"6a9ee0b5-0a5e-4b5e-8d7b-2d4bd0000001"}]}`
	_, err = client.Load(t.Context(), []byte(lost))
	if !errors.As(err, &failure) || len(failure.Fields) == 0 {
		t.Errorf("a reference to nothing has no detail: %+v", err)
	}
}

func TestURLs(t *testing.T) {
	for url, taken := range map[string]bool{
		"http://127.0.0.1:8001": true, "https://kong-admin.kong.svc:8444/": true, "https://example.com/admin": true,
		"127.0.0.1:8001": false, "ftp://a": false, "http://user:secret@a": false, "http://a?b": false, "": false, "http://": false,
	} {
		if _, err := New(Options{URL: url}); (err == nil) != taken {
			t.Errorf("URL %q: %v", url, err)
		}
	}
}

func FuzzAnswers(f *testing.F) {
	f.Add(400, []byte(`{"code":2,"name":"schema violation","message":"x","fields":{"a":[null,"b"],"c":{"1":"d"}}}`))
	f.Add(400, []byte(`{"code":14,"fields":[],"flattened_errors":{}}`))
	f.Add(502, []byte("<html>"))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		e := readError(request{method: "GET", path: "/"}, &http.Response{StatusCode: status, Header: http.Header{}}, body)
		_ = e.Error()
		if _, _, err := readPage(body); err == nil && len(body) == 0 {
			t.Error("nothing is a page")
		}
	})
}
