// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	netv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/fairway-ingress/fairway/internal/ingress"
	"github.com/fairway-ingress/fairway/internal/metrics"
	"github.com/fairway-ingress/fairway/internal/source"
)

// objects are what a test gives the reviewer.
type objects struct {
	synced chan struct{}
	frame  source.Snapshot
}

func (o *objects) Synced() <-chan struct{} { return o.synced }

func (o *objects) Frame() *source.Snapshot { frame := o.frame; return &frame }

var configMap = source.Key{Namespace: "fairway", Name: "settings"}

// newReviewer gives one that has read everything.
func newReviewer(ingresses ...*netv1.Ingress) (*Reviewer, *objects) {
	o := &objects{synced: make(chan struct{})}
	close(o.synced)
	index := &Index{}
	for _, ing := range ingresses {
		index.Replace(nil, ing)
	}
	return &Reviewer{Objects: o, Index: index, Options: ingress.Options{WatchWithoutClass: true, ConfigMap: configMap}}, o
}

func newIngress(namespace, name, host, path string) *netv1.Ingress {
	prefix := netv1.PathTypePrefix
	return &netv1.Ingress{
		TypeMeta:   metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "Ingress"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: netv1.IngressSpec{Rules: []netv1.IngressRule{{Host: host, IngressRuleValue: netv1.IngressRuleValue{HTTP: &netv1.HTTPIngressRuleValue{
			Paths: []netv1.HTTPIngressPath{{Path: path, PathType: &prefix, Backend: netv1.IngressBackend{
				Service: &netv1.IngressServiceBackend{Name: "web", Port: netv1.ServiceBackendPort{Number: 80}},
			}}},
		}}}}},
	}
}

// reviewOf puts an Ingress into an AdmissionReview, as the API server does.
func reviewOf(ing *netv1.Ingress, change func(*admissionv1.AdmissionRequest)) []byte {
	object, err := json.Marshal(ing)
	if err != nil {
		panic(err)
	}
	request := &admissionv1.AdmissionRequest{
		UID: "4b1f6c52-0b2f-4a0e-9df5-0e0dcb0a3b4f", Kind: metav1.GroupVersionKind{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"},
		Namespace: ing.Namespace, Name: ing.Name, Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: object},
	}
	if change != nil {
		change(request)
	}
	text, err := json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{Kind: "AdmissionReview", APIVersion: "admission.k8s.io/v1"}, Request: request,
	})
	if err != nil {
		panic(err)
	}
	return text
}

// ask sends a body to a handler and gives status and answer; the answer is nil when there was no verdict.
func ask(t *testing.T, h http.Handler, body []byte) (int, string, *admissionv1.AdmissionResponse) {
	t.Helper()
	request := httptest.NewRequest(http.MethodPost, "/networking/v1/ingresses?timeout=10s", bytes.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	return do(t, h, request)
}

func do(t *testing.T, h http.Handler, request *http.Request) (int, string, *admissionv1.AdmissionResponse) {
	t.Helper()
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, request)
	var review admissionv1.AdmissionReview
	if recorder.Code != http.StatusOK {
		return recorder.Code, recorder.Body.String(), nil
	}
	if err := json.Unmarshal(recorder.Body.Bytes(), &review); err != nil || review.Response == nil {
		t.Fatalf("the answer is no AdmissionReview: %v: %s", err, recorder.Body)
	}
	if review.Kind != "AdmissionReview" || review.APIVersion != "admission.k8s.io/v1" {
		t.Errorf("the answer is a %s of %s", review.Kind, review.APIVersion)
	}
	return recorder.Code, recorder.Body.String(), review.Response
}

var quiet = slog.New(slog.DiscardHandler)

func TestVerdicts(t *testing.T) {
	reviewer, _ := newReviewer(newIngress("a", "owner", "shop.example", "/"))
	m := metrics.New(metrics.Options{Class: "class", Requests: metrics.DefaultRequestOptions()})
	h := NewHandler(reviewer, true, m.Admission(), quiet)

	_, _, free := ask(t, h, reviewOf(newIngress("b", "free", "other.example", "/"), nil))
	if !free.Allowed || len(free.Warnings) > 0 || free.UID != "4b1f6c52-0b2f-4a0e-9df5-0e0dcb0a3b4f" {
		t.Errorf("free: %+v", free)
	}
	taken := newIngress("b", "taken", "shop.example", "/")
	_, _, refused := ask(t, h, reviewOf(taken, nil))
	if refused.Allowed || refused.Result.Code != http.StatusBadRequest || len(refused.Result.Details.Causes) != 1 ||
		refused.Result.Details.Causes[0].Type != metav1.CauseTypeFieldValueDuplicate || refused.Result.Details.Causes[0].Field != "spec.rules[0].http.paths[0]" {
		t.Errorf("taken: %+v", refused.Result)
	}
	for _, part := range []string{"Ingress b/taken is refused", "spec.rules[0].http.paths[0]", "/ of the host shop.example", "a/owner", "choose another"} {
		if !strings.Contains(refused.Result.Message, part) {
			t.Errorf("the message %q lacks %q", refused.Result.Message, part)
		}
	}
	warned := newIngress("b", "warned", "warned.example", "/")
	warned.Annotations = map[string]string{"nginx.ingress.kubernetes.io/proxy-read-timeout": "soon"}
	if _, _, a := ask(t, h, reviewOf(warned, nil)); !a.Allowed || len(a.Warnings) != 1 || !strings.Contains(a.Warnings[0], "proxy-read-timeout]: the value") {
		t.Errorf("warned: %+v", a)
	}
	if _, _, a := ask(t, NewHandler(reviewer, false, nil, quiet), reviewOf(warned, nil)); !a.Allowed || len(a.Warnings) != 0 {
		t.Errorf("not warned: %+v", a)
	}
	strict, _ := newReviewer()
	strict.Strict = true
	if _, _, a := ask(t, NewHandler(strict, true, nil, quiet), reviewOf(warned, nil)); a.Allowed || !strings.Contains(a.Result.Message, "proxy-read-timeout") {
		t.Errorf("strict: %+v", a)
	}
	const labels = `controller_class="class",controller_namespace="",controller_pod=""`
	checkMetrics(t, m, `nginx_ingress_controller_check_success{`+labels+`,ingress="free",namespace="b"} 1`,
		`nginx_ingress_controller_check_errors{`+labels+`,ingress="taken",namespace="b"} 1`,
		"nginx_ingress_controller_admission_tested_ingresses{"+labels+"} 1", "nginx_ingress_controller_admission_roundtrip_duration{"+labels+"} ")
}

func checkMetrics(t *testing.T, m *metrics.Metrics, lines ...string) {
	t.Helper()
	recorder := httptest.NewRecorder()
	m.Handler().ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for _, line := range lines {
		if !strings.Contains(recorder.Body.String(), "\n"+line) {
			t.Errorf("metrics lack %s", line)
		}
	}
}

// TestNotJudged lists what is let in without a look, so that nobody is kept from cleaning up.
func TestNotJudged(t *testing.T) {
	reviewer, _ := newReviewer(newIngress("a", "owner", "shop.example", "/"))
	h := NewHandler(reviewer, true, nil, quiet)
	now := metav1.Now()
	leaving := newIngress("b", "taken", "shop.example", "/")
	leaving.DeletionTimestamp = &now
	taken := newIngress("b", "taken", "shop.example", "/")
	for name, body := range map[string][]byte{
		"delete":  reviewOf(taken, func(r *admissionv1.AdmissionRequest) { r.Operation, r.Object.Raw = admissionv1.Delete, nil }),
		"status":  reviewOf(taken, func(r *admissionv1.AdmissionRequest) { r.Operation, r.SubResource = admissionv1.Update, "status" }),
		"leaving": reviewOf(leaving, nil),
	} {
		if _, text, a := ask(t, h, body); a == nil || !a.Allowed {
			t.Errorf("%s: %s", name, text)
		}
	}
	if _, _, a := ask(t, h, reviewOf(taken, nil)); a.Allowed {
		t.Error("the same is let in where it must not be")
	}
}

// TestErrors lists what gets no verdict, or a refusal because of who registered the webhook.
func TestErrors(t *testing.T) {
	reviewer, o := newReviewer()
	h := NewHandler(reviewer, true, nil, quiet)
	good := newIngress("a", "b", "c.example", "/")
	for _, c := range []struct {
		name, body, want string
		status           int
	}{
		{"empty", "", "no AdmissionReview in JSON", 400},
		{"no JSON", "{", "no AdmissionReview in JSON", 400},
		{"other kind", `{"kind":"Ingress","apiVersion":"admission.k8s.io/v1"}`, "admissionReviewVersions: [v1]", 400},
		{"old version", strings.Replace(string(reviewOf(good, nil)), "admission.k8s.io/v1", "admission.k8s.io/v1beta1", 1), "admission.k8s.io/v1beta1", 400},
		{"no request", `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}`, "no request", 400},
		{"no uid", string(reviewOf(good, func(r *admissionv1.AdmissionRequest) { r.UID = "" })), "no uid", 400},
		{"foreign object", string(reviewOf(good, func(r *admissionv1.AdmissionRequest) { r.Kind.Kind = "Service"; r.Kind.Group = "" })), "correct the rules of the ValidatingWebhookConfiguration", 200},
		{"no object", string(reviewOf(good, func(r *admissionv1.AdmissionRequest) { r.Object.Raw = nil })), "no object", 200},
		{"wrong object", string(reviewOf(good, func(r *admissionv1.AdmissionRequest) { r.Object.Raw = []byte(`{"spec":{"rules":"none"}}`) })), "the object is no Ingress", 200},
	} {
		status, text, a := ask(t, h, []byte(c.body))
		if status != c.status || !strings.Contains(text, c.want) || a != nil && a.Allowed {
			t.Errorf("%s: %d %s", c.name, status, text)
		}
	}
	request := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(reviewOf(good, nil)))
	request.Header.Set("Content-Type", "application/yaml")
	if status, text, _ := do(t, h, request); status != http.StatusUnsupportedMediaType || !strings.Contains(text, "application/yaml") {
		t.Errorf("content type: %d %s", status, text)
	}
	if status, _, _ := do(t, h, httptest.NewRequest(http.MethodGet, "/", nil)); status != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d", status)
	}
	o.synced = make(chan struct{})
	if status, text, _ := ask(t, h, reviewOf(good, nil)); status != http.StatusServiceUnavailable || !strings.Contains(text, "still being read") {
		t.Errorf("not synced: %d %s", status, text)
	}
}

// zeros is an endless body.
type zeros struct{ read int }

func (z *zeros) Read(p []byte) (int, error) { z.read += len(p); return len(p), nil }

func TestBodyLimit(t *testing.T) {
	reviewer, _ := newReviewer()
	h := NewHandler(reviewer, true, nil, quiet)
	send := func(body io.Reader, length int64) int {
		request := httptest.NewRequest(http.MethodPost, "/", body)
		request.Header.Set("Content-Type", "application/json")
		request.ContentLength = length
		status, _, _ := do(t, h, request)
		return status
	}
	announced, chunked := &zeros{}, &zeros{}
	if status := send(announced, bodyLimit); status != http.StatusRequestEntityTooLarge || announced.read != 0 {
		t.Errorf("announced: %d after %d bytes", status, announced.read)
	}
	if status := send(chunked, -1); status != http.StatusRequestEntityTooLarge || chunked.read > 2*bodyLimit {
		t.Errorf("chunked: %d after %d bytes", status, chunked.read)
	}
	if status := send(strings.NewReader("{}"), 100); status != http.StatusBadRequest {
		t.Errorf("cut off: %d", status)
	}
	h.bodies.left = 10
	if status := send(strings.NewReader("{}"), 100); status != http.StatusServiceUnavailable {
		t.Errorf("too many at once: %d", status)
	}
	if h.bodies.left != 10 {
		t.Errorf("%d bytes are left of 10", h.bodies.left)
	}
}

// panicking gives no frame.
type panicking struct{ *objects }

func (panicking) Frame() *source.Snapshot { panic("broken") }

func TestPanicIsContained(t *testing.T) {
	reviewer, o := newReviewer()
	reviewer.Objects = panicking{o}
	h := NewHandler(reviewer, true, nil, quiet)
	for range 2 * cap(h.turns) {
		status, text, _ := ask(t, h, reviewOf(newIngress("a", "b", "c.example", "/"), nil))
		if status != http.StatusInternalServerError || strings.Contains(text, "broken") {
			t.Errorf("%d %s", status, text)
		}
	}
	if len(h.turns) != 0 || h.bodies.left != bodiesLimit {
		t.Errorf("%d turns and %d bytes are lost", len(h.turns), bodiesLimit-h.bodies.left)
	}
}

func TestTurns(t *testing.T) {
	reviewer, _ := newReviewer()
	h := NewHandler(reviewer, true, nil, quiet)
	for range cap(h.turns) {
		h.turns <- struct{}{}
	}
	request := httptest.NewRequest(http.MethodPost, "/?timeout=1ms", bytes.NewReader(reviewOf(newIngress("a", "b", "c.example", "/"), nil)))
	request.Header.Set("Content-Type", "application/json")
	if status, text, _ := do(t, h, request); status != http.StatusServiceUnavailable || !strings.Contains(text, "too many reviews") {
		t.Errorf("%d %s", status, text)
	}
}

// TestSettingsFollow judges by the ConfigMap of the moment.
func TestSettingsFollow(t *testing.T) {
	reviewer, o := newReviewer()
	h := NewHandler(reviewer, true, nil, quiet)
	ing := newIngress("a", "b", "c.example", "/a(b)")
	for i, strict := range []string{"", "false", "true"} {
		if strict != "" {
			o.frame.ConfigMaps = map[source.Key]*corev1.ConfigMap{configMap: {Data: map[string]string{"strict-validate-path-type": strict}}}
		}
		if _, _, a := ask(t, h, reviewOf(ing, nil)); a.Allowed != (strict == "false") {
			t.Errorf("step %d: %+v", i, a)
		}
	}
}

func TestManyReasons(t *testing.T) {
	reviewer, _ := newReviewer()
	h := NewHandler(reviewer, true, nil, quiet)
	bad := newIngress("a", "b", "c.example", "/")
	bad.Annotations = map[string]string{}
	for _, key := range []string{"limit-rps", "limit-rpm", "limit-connections", "auth-type", "ssl-passthrough", "from-to-www-redirect", "relative-redirects"} {
		bad.Annotations["nginx.ingress.kubernetes.io/"+key] = strings.Repeat("x", 1000)
	}
	_, _, a := ask(t, h, reviewOf(bad, nil))
	if len(a.Result.Details.Causes) != 7 || !strings.HasSuffix(a.Result.Message, "; and 2 more") {
		t.Errorf("%d causes, %s", len(a.Result.Details.Causes), a.Result.Message)
	}
	unknown := newIngress("a", "b", "c.example", "/")
	unknown.Annotations = map[string]string{}
	for i := range 40 {
		unknown.Annotations["nginx.ingress.kubernetes.io/"+strings.Repeat("y", 50+i)] = "\n"
	}
	_, _, a = ask(t, h, reviewOf(unknown, nil))
	if len(a.Warnings) != mostWarnings || !strings.Contains(a.Warnings[mostWarnings-1], "and 26 more") {
		t.Errorf("%d warnings, the last %q", len(a.Warnings), a.Warnings[len(a.Warnings)-1])
	}
	for _, w := range a.Warnings {
		if len(w) > longestWarning || strings.Contains(w, "\n") {
			t.Errorf("warning %q", w)
		}
	}
}
