// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kong

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/kong/kongtest"
	"github.com/fairway-ingress/fairway/internal/model"
)

func secretRef(name string) model.Ref {
	return model.Ref{Kind: "Secret", Namespace: "shop", Name: name}
}

// named is a fresh certificate of a Secret with server names.
func named(t *testing.T, secret string, names ...string) []entity.Entity {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), NotAfter: time.Now().Add(time.Hour), DNSNames: names}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	meta := func(kind *entity.Kind, key string) entity.Meta {
		return entity.Meta{
			ID: entity.NewID(kind, key), Owner: ingress("app-0"),
			Tags: []string{"k8s-kind:Secret", "k8s-namespace:shop", "k8s-name:" + secret},
		}
	}
	c := &entity.Certificate{
		Meta: meta(entity.Certificates, secret), Cert: string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		Key: model.NewSecret(string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))),
	}
	all := []entity.Entity{c}
	for _, name := range names {
		all = append(all, &entity.SNI{Meta: meta(entity.SNIs, name), Name: name, Certificate: entity.RefTo(c)})
	}
	return all
}

// lose has the next rounds know of lost names.
func (b *bench) lose(lost ...model.KongLostName) {
	b.Helper()
	if _, err := b.driver.Apply(b.Context(), &model.Model{Kong: &model.Kong{LostNames: lost}}); err != nil {
		b.Fatal(err)
	}
}

// answering gives "name=Secret" for each server name at a gateway, sorted.
func (b *bench) answering() string {
	owner := map[string]string{}
	for _, c := range b.simulators[0].Entities("certificates") {
		for _, tag := range c["tags"].([]any) {
			if name, ok := strings.CutPrefix(tag.(string), "k8s-name:"); ok {
				owner[c["id"].(string)] = name
			}
		}
	}
	var words []string
	for _, s := range b.simulators[0].Entities("snis") {
		words = append(words, fmt.Sprintf("%s=%s", s["name"], owner[s["certificate"].(map[string]any)["id"].(string)]))
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

func TestLostNamesAreKept(t *testing.T) {
	for name, o := range map[string]kongtest.Options{"database": withDatabase, "document": dbless} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil, o)
			is := func(when, want string) {
				t.Helper()
				if got := b.answering(); got != want {
					t.Errorf("%s: %q, want %q", when, got, want)
				}
			}
			quiet := func(when string) {
				t.Helper()
				if calls := b.writes(0); len(calls) != 0 {
					t.Errorf("%s: the writes %v", when, calls)
				}
			}
			lost := model.KongLostName{Name: "a.example", Secret: secretRef("old"), Owner: ingress("app-0"), Field: "spec.tls[0]"}
			b.want(apps(1), named(t, "old", "a.example", "b.example"))
			b.lose()
			is("at first", "a.example=old b.example=old")
			b.writes(0)

			b.want(apps(1))
			b.lose(lost, model.KongLostName{Secret: secretRef("old"), Owner: ingress("app-1")})
			is("once the Secret is broken", "a.example=old b.example=old")
			quiet("nothing is different")
			b.lose(lost)
			is("once one name is claimed no more", "a.example=old")
			b.writes(0)

			b.driver = b.newDriver(nil)
			b.run(b.driver)
			b.lose(lost)
			is("after a restart", "a.example=old")
			quiet("after a restart")

			b.want(apps(1), named(t, "younger", "a.example"))
			b.lose(lost)
			is("once somebody younger claims the name", "a.example=old")
			b.lose()
			is("once the older one gives it up", "a.example=younger")

			b.want(apps(1))
			b.lose(lost)
			is("what was somebody else's is not kept", "")
			b.want(apps(1), named(t, "old", "a.example"))
			b.lose()
			is("once the Secret is mended", "a.example=old")
			b.want(apps(1))
			b.lose()
			is("once nobody claims the name", "")
		})
	}
}

// TestSharedContent is about two Secrets with one content, one of which is renewed while the other is lost: the id of the one certificate is taken.
func TestSharedContent(t *testing.T) {
	before := named(t, "one", "a.example")
	shared := *before[1].(*entity.SNI)
	shared.Meta = entity.Meta{ID: entity.NewID(entity.SNIs, "b.example"), Tags: []string{"k8s-kind:Secret", "k8s-namespace:shop", "k8s-name:two"}}
	shared.Name = "b.example"
	last := entity.NewState(append(before, &shared))
	state := entity.NewState(named(t, "one", "a.example"))
	lost := []model.KongLostName{{Name: "b.example", Secret: secretRef("two")}}
	got := withNames(last, state, lost)
	if faults := got.Check(); len(faults) > 0 {
		t.Fatalf("%+v", faults)
	}
	var table certificateTable
	table.read(got)
	if old := before[0].(*entity.Certificate); table.certificate(table.names["b.example"]).Cert != old.Cert {
		t.Error("the lost name has the renewed certificate")
	}
	if table.certificate(table.names["a.example"]).Cert == before[0].(*entity.Certificate).Cert {
		t.Error("the renewed certificate is not in force")
	}
	if again := withNames(got, state, lost); len(again.Entities) != len(got.Entities) {
		t.Errorf("another round gives %d entities, want %d", len(again.Entities), len(got.Entities))
	}
}
