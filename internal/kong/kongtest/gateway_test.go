// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kongtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
)

// gateway is what a test talks to: the simulator, or the real one that the environment names.
type gateway struct {
	t   *testing.T
	url string
	sim *Simulator // nil for a real one
	// unique stands in all names, so that what is on a real gateway is in nobody's way.
	unique string
	token  string
}

const (
	databaseVariable = "KONG_ADMIN_URL"
	dblessVariable   = "KONG_DBLESS_ADMIN_URL"
)

// withDatabase gives a gateway with a database.
func withDatabase(t *testing.T) *gateway { return open(t, databaseVariable, Options{}) }

// withoutDatabase gives a DB-less one.
func withoutDatabase(t *testing.T) *gateway { return open(t, dblessVariable, Options{DBLess: true}) }

// simulated gives a simulator whatever the environment says, for what cannot be asked of a real gateway.
func simulated(t *testing.T, o Options) *gateway { return open(t, "", o) }

func open(t *testing.T, variable string, o Options) *gateway {
	t.Helper()
	g := &gateway{t: t, unique: "fw" + randomText()[:8], token: o.Token}
	if url := os.Getenv(variable); variable != "" && url != "" {
		g.url = strings.TrimSuffix(url, "/")
		return g
	}
	g.sim = New(o)
	server := httptest.NewServer(g.sim)
	t.Cleanup(server.Close)
	g.url = server.URL
	return g
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	text   string
	body   object
}

// do sends JSON: an object, or text as it is.
func (g *gateway) do(method, path string, body any) answer {
	g.t.Helper()
	kind := "application/json"
	text, isText := body.(string)
	if !isText && body != nil {
		text = encoded(body)
	}
	if body == nil {
		kind = ""
	}
	return g.send(method, path, kind, text)
}

func (g *gateway) send(method, path, kind, text string) answer {
	g.t.Helper()
	request, err := http.NewRequestWithContext(g.t.Context(), method, g.url+path, strings.NewReader(text))
	if err != nil {
		g.t.Fatal(err)
	}
	if kind != "" {
		request.Header.Set("Content-Type", kind)
	}
	if g.token != "" {
		request.Header.Set("Kong-Admin-Token", g.token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		g.t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		g.t.Fatal(err)
	}
	a := answer{status: response.StatusCode, header: response.Header, text: string(data)}
	_ = json.Unmarshal(data, &a.body) // pages of nginx are no JSON
	return a
}

// want sends a request, demands a status and gives the body.
func (g *gateway) want(status int, method, path string, body any) object {
	g.t.Helper()
	a := g.do(method, path, body)
	if a.status != status {
		g.t.Fatalf("%s %s %v: status %d, want %d: %s", method, path, body, a.status, status, a.text)
	}
	return a.body
}

// create makes an entity and has it deleted in the end.
func (g *gateway) create(path string, body object) object {
	g.t.Helper()
	o := g.want(http.StatusCreated, http.MethodPost, path, body)
	g.forget(path + "/" + o["id"].(string))
	return o
}

// forget has something deleted in the end, on a real gateway.
func (g *gateway) forget(path string) {
	if g.sim == nil {
		g.t.Cleanup(func() {
			request, err := http.NewRequest(http.MethodDelete, g.url+path, nil)
			if err != nil {
				return
			}
			if response, err := http.DefaultClient.Do(request); err == nil {
				_ = response.Body.Close()
			}
		})
	}
}

// refused demands an error of that status and code, with a text in its fields at that place; no place demands none.
func (g *gateway) refused(status, code int, method, path string, body any, places ...string) object {
	g.t.Helper()
	o := g.want(status, method, path, body)
	if got, _ := o["code"].(float64); int(got) != code {
		g.t.Fatalf("%s %s %v: code %v, want %d: %v", method, path, body, o["code"], code, o)
	}
	for _, place := range places {
		if at(o["fields"], place) == nil {
			g.t.Errorf("%s %s %v: nothing at fields.%s: %v", method, path, body, place, o)
		}
	}
	return o
}

// at follows a path of names through objects.
func at(value any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		o, _ := value.(object)
		value = o[name]
	}
	return value
}

func (g *gateway) name(suffix string) string { return g.unique + "-" + suffix }

func (g *gateway) service(suffix string) object {
	g.t.Helper()
	return g.create("/services", object{"name": g.name(suffix), "host": "example.com"})
}

func ref(o object) object { return object{"id": o["id"]} }

// pair makes a certificate, of an authority if asked, and its key.
func pair(t *testing.T, name string, authority bool) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: authority, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	block := func(kind string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	return block("CERTIFICATE", der), block("PRIVATE KEY", keyDER)
}
