// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package konghq_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairway-ingress/fairway/internal/ingress"
	"github.com/fairway-ingress/fairway/internal/konghq"
	"github.com/fairway-ingress/fairway/internal/source"
)

const lostCluster = `
kind: Ingress
metadata: {name: a}
spec:
  tls:
  - {hosts: [a.example, "bad_host"], secretName: none}
  - {secretName: half}
---
kind: Ingress
metadata: {name: b}
spec:
  tls:
  - {hosts: [a.example, b.example], secretName: good}
---
kind: Ingress
metadata: {name: c}
spec:
  tls:
  - {hosts: [b.example, a.example, c.example], secretName: half}
---
kind: TCPIngress
metadata: {name: d}
spec:
  tls:
  - {hosts: [d.example], secretName: none}
---
kind: Secret
metadata: {name: half}
stringData: {tls.crt: 'x'}
---
kind: Secret
metadata: {name: good, annotations: {test/certificate: 'a.example,b.example'}}
`

// TestLostNames lists the names whose Secret holds no certificate: once each, for the oldest who claims it, and not where somebody older has one.
func TestLostNames(t *testing.T) {
	snapshot := readCluster(t, []byte(lostCluster))
	options := ingress.Options{ControllerClass: konghq.DefaultControllerClass, IngressClass: konghq.DefaultIngressClass}
	result := ingress.NewBuilder(options).Build(snapshot)
	konghq.NewBuilder(&konghq.Options{DefaultCertificate: source.Key{Namespace: "default", Name: "half"}}).Build(snapshot, result)
	var got []string
	for _, l := range result.Model.Kong.LostNames {
		got = append(got, fmt.Sprintf("%s by %s: %q of %s", l.Field, l.Owner, l.Name, l.Secret))
	}
	want := []string{
		`spec.tls[0] by Ingress default/a: "a.example" of Secret default/none`,
		`spec.tls[1] by Ingress default/a: "" of Secret default/half`,
		`spec.tls[0] by Ingress default/c: "c.example" of Secret default/half`,
		`spec.tls[0] by TCPIngress default/d: "d.example" of Secret default/none`,
		` by Secret default/half: "*" of Secret default/half`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	names := ""
	for _, n := range result.Model.Kong.ServerNames {
		names += n.Name + " "
	}
	if names != "a.example b.example " {
		t.Errorf("the names with a certificate are %s", names)
	}
}
