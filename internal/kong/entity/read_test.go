// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package entity

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/fairway-ingress/fairway/internal/model"
)

// everything has an entity of each kind that can be read again, with fields of each type.
func everything() *State {
	meta := func(kind *Kind) Meta { return Meta{ID: NewID(kind, "a"), Tags: []string{"k8s-name:a"}} }
	upstream := &Upstream{
		Meta: meta(Upstreams), Name: "a.b.80.svc", Slots: 100,
		Healthchecks: &Healthchecks{Threshold: new(1.5), Active: &ActiveHealthcheck{HTTPPath: "/up", Concurrency: new(3)}},
	}
	ca := &CACertificate{Meta: meta(CACertificates), Cert: "PEM"}
	service := &Service{Meta: meta(Services), Name: "b.a.80", Host: upstream.Name, Retries: new(0), CACertificates: []string{ca.ID}, TLSVerify: new(true)}
	route := &Route{
		Meta: meta(Routes), Name: "b.a", Hosts: []string{"a.example"}, Paths: []string{"/"}, Headers: map[string][]string{"X": {"y"}}, StripPath: new(false),
		Destinations: []Peer{{IP: "10.0.0.0/8", Port: 5}}, Service: RefTo(service), Priority: 1 << 45, Expression: `http.path ^= "/"`,
	}
	consumer := &Consumer{Meta: meta(Consumers), Username: "ann"}
	plugin := &Plugin{
		Meta: meta(Plugins), Name: "cors", Route: RefTo(route), Consumer: RefTo(consumer), Enabled: new(false),
		Config: map[string]any{"list": []any{"a", 1, nil, true}, "deep": map[string]any{"secret": model.NewSecret("SESAME")}, "n": 1.5},
	}
	return NewState([]Entity{
		upstream, ca, service, route, consumer, plugin, &Target{Meta: meta(Targets), Target: "10.0.0.1:80", Weight: new(0), Upstream: RefTo(upstream)},
		&Certificate{Meta: meta(Certificates), Cert: "PEM", Key: model.NewSecret("KEY")}, &ConsumerGroup{Meta: meta(ConsumerGroups), Name: "g"},
		&SNI{Meta: meta(SNIs), Name: "a.example", Certificate: &Reference{ID: NewID(Certificates, "a")}},
		&KeyAuth{Meta: meta(KeyAuths), Consumer: RefTo(consumer), Key: model.NewSecret("k"), TTL: 5}, &ACL{Meta: meta(ACLs), Consumer: RefTo(consumer), Group: "g"},
		&HMACAuth{Meta: meta(HMACAuths), Username: "ann", Secret: model.NewSecret("h")}, &JWT{Meta: meta(JWTs), Key: "i", Secret: model.NewSecret("j")},
		&OAuth2{Meta: meta(OAuth2s), Name: "o", ClientSecret: model.NewSecret("c"), RedirectURIs: []string{"https://a.example"}},
		&MTLSAuth{Meta: meta(MTLSAuths), SubjectName: "s", CACertificate: RefTo(ca)},
	})
}

func TestReadDocument(t *testing.T) {
	document := everything().Document(Version{3, 9}, Flat)
	state, err := ReadDocument(document)
	if err != nil {
		t.Fatal(err)
	}
	if again := state.Document(Version{3, 9}, Flat); !bytes.Equal(again, document) {
		t.Errorf("what was read is written as\n%s\nwant\n%s", again, document)
	}
	if shown := string(state.Document(Version{3, 9}, Redacted)); strings.Contains(shown, "SESAME") || strings.Contains(shown, "KEY") {
		t.Errorf("what was read shows secrets: %s", shown)
	}
}

func TestReadDocumentOfAGateway(t *testing.T) {
	state, err := ReadDocument([]byte(`{"_format_version":"3.0","_transform":false,"unknown":[1],"upstreams":{},"services":[
		{"id":"1","name":"a","host":"b","port":80.0,"tls_verify":null,"ca_certificates":null,"created_at":5,"ws_id":"w","retries":"many"},
		{"id":"1","name":"twice"},{"name":"without an id"}],
		"routes":[{"id":"2","service":{"id":"1"},"headers":{"A":["b"]},"protocols":["http",5]}],"basicauth_credentials":[{"id":"3","password":"hash"}],
		"oauth2_credentials":[{"id":"4","hash_secret":true,"client_secret":"hash"}]}`))
	if err != nil || len(state.Entities) != 2 {
		t.Fatalf("state %v, error %v", state, err)
	}
	if s := state.Entities[0].(*Service); s.Name != "a" || s.Port != 80 || s.TLSVerify != nil || s.Retries != nil {
		t.Errorf("service %+v", s)
	}
	if r := state.Entities[1].(*Route); r.Service == nil || r.Service.ID != "1" || r.Headers["A"][0] != "b" {
		t.Errorf("route %+v", r)
	}
	if _, err := ReadDocument([]byte("no JSON")); err == nil {
		t.Error("what is no document is read")
	}
}

func FuzzReadDocument(f *testing.F) {
	f.Add(everything().Document(Version{3, 9}, Flat))
	f.Add([]byte(`{"plugins":[{"id":"1","config":{"a":null}}],"routes":[{"id":{},"headers":[],"sources":[{"port":"x"}]}]}`))
	f.Fuzz(func(t *testing.T, document []byte) {
		state, err := ReadDocument(document)
		if err != nil {
			return
		}
		written := state.Document(Version{3, 9}, Flat)
		if !json.Valid(written) {
			t.Fatalf("%q is read and written as %q", document, written)
		}
		again, err := ReadDocument(written)
		if err != nil {
			t.Fatal(err)
		}
		if twice := again.Document(Version{3, 9}, Flat); len(state.Entities) > 0 && !bytes.Equal(twice, written) {
			t.Errorf("%q is written as %q and then as %q", document, written, twice)
		}
	})
}
