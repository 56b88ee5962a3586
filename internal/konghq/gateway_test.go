// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package konghq_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairway-ingress/fairway/internal/golden"
	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/kong/kongtest"
)

// TestAccepted gives the state of each case to a simulated gateway without database, which refuses what Kong refuses. A case with requests.txt says
// what becomes of requests then: each line "METHOD URL [header: value …]" is completed by the answer.
func TestAccepted(t *testing.T) {
	golden.Run(t, "testdata/*/*.txtar", func(t *testing.T, file *golden.Case) {
		c := readCase(t, file)
		if c.Enterprise {
			t.Skip("the simulator does not know Enterprise")
		}
		state, _ := c.build()
		gateway := kongtest.New(kongtest.Options{Version: c.Version + ".0", DBLess: true, Plugins: c.Plugins, Flavor: c.Flavor})
		push(t, gateway, state.Document(c.gateway().Version, entity.Flat))
		if requests := file.Part("requests.txt"); requests != nil {
			file.Compare(t, *update, golden.Part{Name: "requests.txt", Text: answerAll(t, gateway, string(requests))})
		}
	})
}

// TestExpressionsAgree asks the requests of the cases of a gateway of flavor expressions: they take the same ways.
func TestExpressionsAgree(t *testing.T) {
	golden.Run(t, "testdata/*/*.txtar", func(t *testing.T, file *golden.Case) {
		c, requests := readCase(t, file), file.Part("requests.txt")
		if requests == nil || c.Flavor != "traditional_compatible" || !c.gateway().Version.AtLeast(3, 0) {
			t.Skip("it asks nothing that both flavors can answer")
		}
		c.Flavor = "expressions"
		state, _ := c.build()
		gateway := kongtest.New(kongtest.Options{Version: c.Version + ".0", DBLess: true, Plugins: c.Plugins, Flavor: c.Flavor})
		push(t, gateway, state.Document(c.gateway().Version, entity.Flat))
		if diff := cmp.Diff(string(requests), answerAll(t, gateway, string(requests))); diff != "" {
			t.Errorf("(-fields +expressions)\n%s", diff)
		}
	})
}

func push(t *testing.T, gateway http.Handler, document []byte) {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/config", bytes.NewReader(document))
	request.Header.Set("Content-Type", "text/yaml")
	recorder := httptest.NewRecorder()
	gateway.ServeHTTP(recorder, request)
	if recorder.Code != http.StatusCreated {
		answer, _ := io.ReadAll(recorder.Body)
		t.Logf("%s", document)
		t.Fatalf("the gateway refuses the state: %d %s", recorder.Code, answer)
	}
}

func answerAll(t *testing.T, gateway *kongtest.Simulator, lines string) string {
	t.Helper()
	var out strings.Builder
	for line := range strings.Lines(lines) {
		asked, _, _ := strings.Cut(strings.TrimSpace(line), " => ")
		words := strings.Fields(asked)
		if len(words) < 2 {
			t.Fatalf("requests.txt: %q", line)
		}
		scheme, rest, _ := strings.Cut(words[1], "://")
		host, path, _ := strings.Cut(rest, "/")
		request := kongtest.Request{Scheme: scheme, Method: words[0], Host: host, Path: "/" + path, Header: map[string]string{}}
		for i := 2; i+1 < len(words); i += 2 {
			request.Header[strings.TrimSuffix(words[i], ":")] = words[i+1]
		}
		a := gateway.Route(request)
		answer := fmt.Sprint(a.Status)
		if a.Status == http.StatusOK {
			answer = fmt.Sprintf("%s %s host %q", strings.Join(a.Targets, ","), a.Path, a.Host)
		}
		if len(a.Plugins) > 0 {
			answer += " by " + strings.Join(a.Plugins, ",")
		}
		fmt.Fprintf(&out, "%s => %s\n", asked, answer)
	}
	return out.String()
}
