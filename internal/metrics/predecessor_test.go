// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/fairway-ingress/fairway/internal/model"
)

func scrape(m *Metrics) string {
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return w.Body.String()
}

// lack complains about lines that are there.
func lack(t *testing.T, m *Metrics, parts ...string) {
	t.Helper()
	text := scrape(m)
	for _, part := range parts {
		if strings.Contains(text, "\n"+part) {
			t.Errorf("there is a line %q", part)
		}
	}
}

const controller = `controller_class="c",controller_namespace="n",controller_pod="p"`

func options() Options {
	return Options{Namespace: "n", Class: "c", Pod: "p", Version: "1.2.3", Requests: DefaultRequestOptions()}
}

func TestReloads(t *testing.T) {
	o := options()
	o.Usage = func(context.Context) (model.Usage, error) {
		return model.Usage{
			Configuration: "000000000001f4ff", Shapes: 3, Zones: []model.Zone{{Name: "z", Bytes: 100, Free: 40}},
			Connections: model.Connections{Active: 7, Accepted: 9, Requests: 11},
		}, nil
	}
	m := New(o)
	m.Round(Round{Model: &model.Model{}, Change: model.Change{Reload: true, Reasons: []string{"Start"}}}, epoch)
	expect(t, m, prefix+"config_last_reload_successful{"+controller+"} 1", prefix+"success{"+controller+"} 1", prefix+"config_hash{"+controller+"} 31",
		prefix+"config_last_reload_successful_timestamp_seconds{"+controller+"} 1.7e+09", prefix+"nginx_process_connections{"+controller+`,state="active"} 7`,
		prefix+"nginx_process_requests_total{"+controller+"} 11", "fairway_shapes 3", `fairway_shared_memory_free_bytes{zone="z"} 40`)
	m.Round(Round{Model: &model.Model{}, Err: errors.New("refused")}, epoch.Add(time.Hour))
	expect(t, m, prefix+"config_last_reload_successful{"+controller+"} 0", prefix+"errors{"+controller+"} 1", prefix+"config_hash{"+controller+"} 0")
	m.Round(Round{Model: &model.Model{}}, epoch.Add(2*time.Hour)) // what was refused is gone again; nothing had to be done
	expect(t, m, prefix+"config_last_reload_successful{"+controller+"} 1", prefix+"success{"+controller+"} 1",
		prefix+"config_last_reload_successful_timestamp_seconds{"+controller+"} 1.7e+09")
}

// TestSilentDataPlane leaves out what only the data plane knows.
func TestSilentDataPlane(t *testing.T) {
	o := options()
	o.Usage = func(context.Context) (model.Usage, error) { return model.Usage{}, errors.New("no answer") }
	o.Traffic = func(context.Context) ([]model.Traffic, error) {
		return []model.Traffic{traffic("a", "GET", "200")}, errors.New("cut off")
	}
	m := New(o)
	lack(t, m, "fairway_shapes", prefix+"nginx_process_connections")
	if counted, _ := sums(t, m); counted != 1 {
		t.Errorf("%d requests are counted; what came before the error counts", counted)
	}
}

func TestOrphans(t *testing.T) {
	m := New(options())
	line := func(name, kind string) string {
		return prefix + "orphan_ingress{" + controller + `,ingress="` + name + `",namespace="ns",type="` + kind + `"} `
	}
	problem := func(name, field, reason string) model.Problem {
		return model.Problem{Object: model.Ref{Kind: "Ingress", Namespace: "ns", Name: name}, Field: field, Reason: reason}
	}
	m.Round(Round{Accepted: ingresses("a", "b", "c"), Model: &model.Model{Problems: []model.Problem{
		problem("a", "spec.rules[0].http.paths[0]", model.ReasonMissingService), problem("b", "spec.rules[0].http.paths[0]", model.ReasonNoEndpoints),
		problem("c", "spec.defaultBackend", model.ReasonMissingService),
	}}}, epoch)
	expect(t, m, line("a", "no-service")+"1", line("b", "no-endpoint")+"1")
	lack(t, m, line("c", "no-service"), line("a", "no-endpoint"))
	m.Round(Round{Accepted: ingresses("a"), Model: &model.Model{}}, epoch)
	expect(t, m, line("a", "no-service")+"0")
	lack(t, m, line("b", "no-endpoint"))
}

func TestCertificates(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	x := &x509.Certificate{
		SerialNumber: big.NewInt(7), NotBefore: epoch, NotAfter: epoch.Add(time.Hour), Subject: pkix.Name{CommonName: "us", Organization: []string{"We"}},
	}
	der, err := x509.CreateCertificate(rand.Reader, x, x, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	chain := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	o := options()
	o.Fallback = &model.Certificate{ID: "own", Chain: chain}
	m := New(o)
	m.Round(Round{Model: &model.Model{
		Certificates: []*model.Certificate{{ID: "x", Owner: model.Ref{Kind: "Secret", Namespace: "ns", Name: "tls"}, Chain: chain}},
		ServerNames:  []model.ServerName{{Name: "a.example", Certificates: []model.CertificateID{"x"}}, {Name: "plain.example"}},
	}}, epoch)
	expiry := prefix + `ssl_expire_time_seconds{class="c",host="a.example",identifier="-7",namespace="ns",secret_name="tls"} 1.7000036e+09`
	expect(t, m, expiry, prefix+`ssl_expire_time_seconds{class="c",host="_",identifier="-7",namespace="",secret_name=""} 1.7000036e+09`,
		prefix+`ssl_certificate_info{class="c",host="a.example",identifier="-7",issuer_common_name="us",issuer_organization="We",namespace="ns",`+
			`public_key_algorithm="ECDSA",secret_name="tls",serial_number="7"} 1`)
	lead := m.Leadership("lease")
	lack(t, m, prefix+"ssl_expire_time_seconds") // nobody leads yet
	lead(true)
	expect(t, m, expiry)
	lead(false)
	lack(t, m, prefix+"ssl_expire_time_seconds")
}

func TestProcesses(t *testing.T) {
	o := options()
	o.Master = os.Getpid
	text := scrape(New(o))
	if !strings.Contains(text, prefix+"nginx_process_num_procs{"+controller+"} 1\n") {
		t.Errorf("this process is not counted: %s", text)
	}
	o.Master = func() int { return 0 }
	lack(t, New(o), prefix+"nginx_process_num_procs")
}

func TestNativeHistograms(t *testing.T) {
	o := options()
	o.Requests.BucketFactor = 1.1
	m := New(o)
	set := traffic("a", "GET", "200")
	set.Measures[model.RequestDuration].Values = map[float64]uint64{.004: 2, .3: 1}
	m.old.requests.add([]model.Traffic{set})
	families, err := m.Gatherer().Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != prefix+"request_duration_seconds" {
			continue
		}
		h := f.GetMetric()[0].GetHistogram()
		if h.GetSampleCount() != 3 || len(h.GetPositiveSpan()) == 0 || len(h.GetBucket()) != len(o.Requests.TimeBuckets) {
			t.Errorf("%v has not both kinds of buckets for 3 requests", h)
		}
		if n := len(f.GetMetric()[0].GetLabel()); n != 11 {
			t.Errorf("%d labels", n)
		}
		return
	}
	t.Error("no such family")
}

func TestCheckOptions(t *testing.T) {
	for want, change := range map[string]func(*RequestOptions){
		"":                             func(*RequestOptions) {},
		"--metrics-per-undefined-host": func(o *RequestOptions) { o.PerHost, o.PerUndefinedHost = false, true },
		"2 does not come after 2":      func(o *RequestOptions) { o.TimeBuckets = []float64{1, 2, 2} },
		"--length-buckets: 300 bounds": func(o *RequestOptions) { o.LengthBuckets = make([]float64, 300) },
		"--metrics-max-series is -1":   func(o *RequestOptions) { o.MaxSeries = -1 },
	} {
		o := DefaultRequestOptions()
		change(o)
		if err := o.Check(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	o := DefaultRequestOptions()
	o.Exclude = []string{"request_size", prefix + "bytes_sent", "build_info"}
	if unknown := o.Unknown(); len(unknown) != 1 || unknown[0] != "build_info" {
		t.Errorf("unknown: %v", unknown)
	}
	excluded := o.Traffic().Excluded
	for _, m := range model.Measures() {
		if excluded[m] != (m == model.RequestSize || m == model.BytesSent) {
			t.Errorf("measure %d excluded: %v", m, excluded[m])
		}
	}
}
