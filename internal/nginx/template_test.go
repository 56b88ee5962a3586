// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package nginx

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fairway-ingress/fairway/internal/model"
)

// TestTemplate puts a template in place, breaks it in several ways and takes it away.
func TestTemplate(t *testing.T) {
	m := newModel(backend(t, "one"))
	h := start(t, m)
	header := func() string {
		// A connection of its own: one that was kept would be an old worker's, which ends it.
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
		response, err := client.Get(fmt.Sprintf("http://127.0.0.1:%d/", h.options.HTTPPort))
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		return response.Header.Get("X-Template")
	}
	use := func(text string) error { return h.driver.UseTemplate(context.Background(), text) }
	good := "{{ template \"nginx.conf\" . }}\n{{ define \"compression\" }}\n    more_set_headers 'X-Template: {{ .Settings.Route.BodyLimit }}';{{ end }}"
	if err := use(good); err != nil {
		t.Fatal(err)
	}
	if change := h.apply(m); strings.Join(change.Reasons, ",") != ReasonTemplate {
		t.Errorf("reasons %v", change.Reasons)
	}
	if got := header(); got != "1048576" {
		t.Errorf("the header is %q", got)
	}
	for name, bad := range map[string]string{
		"no template":      "{{ template }}",
		"unknown part":     "{{ template \"nothing\" . }}",
		"unknown field":    "{{ template \"nginx.conf\" . }}{{ .Settings.Nothing }}",
		"refused":          "{{ template \"nginx.conf\" . }}\nno_such_directive;",
		"without the hash": "events {}\nhttp {}\n",
		"blanks":           " \n",
	} {
		if err := use(bad); err == nil {
			t.Errorf("%s: it is taken", name)
		}
		notices := h.driver.Notices()
		if len(notices) != 1 || notices[0].Reason != model.ReasonUnavailable || !strings.Contains(notices[0].Message, "the last good one stays in force") {
			t.Errorf("%s: %v", name, notices)
		}
		if change := h.apply(m); change.Reload {
			t.Errorf("%s: a reload", name)
		}
		if got := header(); got != "1048576" {
			t.Errorf("%s: the header is %q", name, got)
		}
	}
	if err := use(""); err != nil {
		t.Fatal(err)
	}
	if change := h.apply(m); !change.Reload || header() != "" || h.driver.Notices() != nil {
		t.Errorf("the template is still there: %+v, %q, %v", change, header(), h.driver.Notices())
	}
}

// TestSerialReloads checks that a reload waits for the workers of the one before, when asked to.
func TestSerialReloads(t *testing.T) {
	m := newModel(backend(t, "one"))
	m.Settings.Worker.SerialReloads = true
	m.Settings.WorkerShutdownTimeout = time.Minute
	h := start(t, m)
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", h.options.HTTPPort))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n")
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, " 100 ") {
		t.Fatalf("%q, %v", line, err)
	}
	// A worker has the request now and has to wait for its body.
	with := func(streams int) *model.Model {
		other := *m
		other.Settings.Connections.Streams = streams
		return &other
	}
	h.apply(with(7))
	if _, err := h.driver.Apply(context.Background(), with(8)); err == nil || !strings.Contains(err.Error(), "enable-serial-reloads") {
		t.Fatalf("a second reload although a worker still has a request: %v", err)
	}
	fmt.Fprint(conn, "0123456789")
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		if _, err := h.driver.Apply(context.Background(), with(8)); err == nil {
			return
		} else if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}
