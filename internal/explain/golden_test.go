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
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	corev1 "k8s.io/api/core/v1"

	"github.com/fairway-ingress/fairway/internal/ingress"
	"github.com/fairway-ingress/fairway/internal/source"
	"github.com/fairway-ingress/fairway/internal/source/manifests"
)

var update = flag.Bool("update", false, "rewrite the golden parts of the cases")

// TestGolden runs each case in testdata/<case>.txtar: the questions of questions.txt, asked of cluster.yaml, give answers.txt. A question is
// "url URL", with headers "-H Name:value" after it, "ingress NAMESPACE/NAME", "port NUMBER" or "listeners". A line "NAMESPACE/NAME DNSNAME" of certificates.txt makes a Secret.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { golden(t, file) })
	}
}

func golden(t *testing.T, file string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(bytes.TrimSpace(archive.Comment)) == 0 {
		t.Error("the case does not say why it exists")
	}
	facts := read(t, archive)
	var answers strings.Builder
	for question := range strings.Lines(string(part(archive, "questions.txt"))) {
		fmt.Fprintf(&answers, "> %s\n%s\n", strings.TrimSpace(question), answer(t, facts, strings.Fields(question)))
	}
	if *update {
		archive.Files = slices.DeleteFunc(archive.Files, func(f txtar.File) bool { return f.Name == "answers.txt" })
		archive.Files = append(archive.Files, txtar.File{Name: "answers.txt", Data: []byte(answers.String())})
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(part(archive, "answers.txt")), answers.String()); diff != "" {
		t.Errorf("answers.txt (-case +given); go test ./internal/explain -update rewrites it:\n%s", diff)
	}
}

func read(t *testing.T, archive *txtar.Archive) *Facts {
	t.Helper()
	objects, err := manifests.Open("-", manifests.Options{Stdin: bytes.NewReader(part(archive, "cluster.yaml"))})
	if err != nil {
		t.Fatal(err)
	}
	snapshot := objects.Snapshot()
	for _, fault := range snapshot.Faults {
		t.Errorf("cluster.yaml line %d: %s", fault.Line, fault.Message)
	}
	for line := range strings.Lines(string(part(archive, "certificates.txt"))) {
		words := strings.Fields(line)
		namespace, name, _ := strings.Cut(words[0], "/")
		with := *snapshot
		with.Secrets = map[source.Key]*corev1.Secret{{Namespace: namespace, Name: name}: certificate(t, namespace, name, words[1])}
		snapshot = &with
	}
	result := ingress.NewBuilder(ingress.Options{
		WatchWithoutClass: true, TCPServices: source.Key{Namespace: "default", Name: "tcp-services"}, UDPServices: source.Key{Namespace: "default", Name: "udp-services"},
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

func part(archive *txtar.Archive, name string) []byte {
	for _, f := range archive.Files {
		if f.Name == name {
			return f.Data
		}
	}
	return nil
}
