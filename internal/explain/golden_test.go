// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"flag"
	"fmt"
	"maps"
	"math/big"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/fairway-ingress/fairway/internal/golden"
	"github.com/fairway-ingress/fairway/internal/ingress"
	"github.com/fairway-ingress/fairway/internal/source"
	"github.com/fairway-ingress/fairway/internal/source/manifests"
)

var update = flag.Bool("update", false, "rewrite the golden parts of the cases")

// TestGolden runs each case in testdata/<case>.txtar: the questions of questions.txt, asked of cluster.yaml, give answers.txt. A question is
// "url URL", with headers "-H Name:value" after it, "ingress NAMESPACE/NAME", "port NUMBER" or "listeners". A line "NAMESPACE/NAME DNSNAME" of
// certificates.txt makes a Secret.
func TestGolden(t *testing.T) {
	golden.Run(t, "testdata/*.txtar", func(t *testing.T, file *golden.Case) {
		facts := read(t, file)
		var answers strings.Builder
		for question := range strings.Lines(string(file.Part("questions.txt"))) {
			fmt.Fprintf(&answers, "> %s\n%s\n", strings.TrimSpace(question), answer(t, facts, strings.Fields(question)))
		}
		file.Compare(t, *update, golden.Part{Name: "answers.txt", Text: answers.String()})
	})
}

func read(t *testing.T, file *golden.Case) *Facts {
	t.Helper()
	objects, err := manifests.Open("-", manifests.Options{Stdin: bytes.NewReader(file.Part("cluster.yaml"))})
	if err != nil {
		t.Fatal(err)
	}
	snapshot := objects.Snapshot()
	for _, fault := range snapshot.Faults {
		t.Errorf("cluster.yaml line %d: %s", fault.Line, fault.Message)
	}
	for line := range strings.Lines(string(file.Part("certificates.txt"))) {
		words := strings.Fields(line)
		namespace, name, _ := strings.Cut(words[0], "/")
		with := *snapshot
		with.Secrets = map[source.Key]*corev1.Secret{{Namespace: namespace, Name: name}: certificate(t, namespace, name, words[1])}
		snapshot = &with
	}
	result := ingress.NewBuilder(ingress.Options{
		WatchWithoutClass: true,
		TCPServices:       source.Key{Namespace: "default", Name: "tcp-services"},
		UDPServices:       source.Key{Namespace: "default", Name: "udp-services"},
	}).Build(withStreams(snapshot))
	return &Facts{Model: result.Model, Accepted: result.Accepted, Problems: ListProblems(result.Model.Problems), HealthPath: "/healthz"}
}

// withStreams makes sure that the ConfigMaps of TCP and UDP services are there.
func withStreams(snapshot *source.Snapshot) *source.Snapshot {
	with := *snapshot
	with.ConfigMaps = maps.Clone(snapshot.ConfigMaps)
	for _, name := range []string{"tcp-services", "udp-services"} {
		key := source.Key{Namespace: "default", Name: name}
		if with.ConfigMaps[key] == nil {
			with.ConfigMaps[key] = &corev1.ConfigMap{}
		}
	}
	return &with
}

// certificate gives a Secret with a certificate for a DNS name.
func certificate(t *testing.T, namespace, name, dnsName string) *corev1.Secret {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{dnsName}, NotAfter: time.Now().Add(time.Hour)}
	leaf, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	s := &corev1.Secret{Type: corev1.SecretTypeTLS, Data: map[string][]byte{
		"tls.crt": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leaf}),
		"tls.key": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}),
	}}
	s.Namespace, s.Name = namespace, name
	return s
}

func answer(t *testing.T, facts *Facts, words []string) string {
	t.Helper()
	var out bytes.Buffer
	switch words[0] {
	case "url":
		var lines []string
		for i := 3; i < len(words); i += 2 {
			lines = append(lines, words[i])
		}
		header, err := ParseHeader(lines)
		if err != nil {
			t.Fatal(err)
		}
		e, err := facts.ForURL(Request{URL: words[1], Header: header})
		if err != nil {
			return "error: " + err.Error() + "\n"
		}
		encodes(t, e)
		e.Print(&out)
	case "port":
		e, err := facts.ForPort(words[1])
		if err != nil {
			return "error: " + err.Error() + "\n"
		}
		encodes(t, e)
		e.Print(&out)
	case "listeners":
		list := facts.ListListeners()
		encodes(t, list)
		list.Print(&out)
	case "ingress":
		namespace, name, _ := strings.Cut(words[1], "/")
		e, err := facts.ForIngress(namespace, name)
		if err != nil {
			return "error: " + err.Error() + "\n"
		}
		encodes(t, e)
		e.Print(&out)
	default:
		t.Fatalf("no question: %q", words)
	}
	return out.String()
}

func encodes(t *testing.T, value any) {
	t.Helper()
	if _, err := json.Marshal(value); err != nil {
		t.Error(err)
	}
}
