// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"net/http"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
)

// FuzzReview sends any body: there is always an answer, none of them of a panic, and a refusal says why.
func FuzzReview(f *testing.F) {
	plain := newIngress("a", "b", "c.example", "/")
	annotated := newIngress("a", "b", "c.example", "/x(")
	annotated.Annotations = map[string]string{
		"nginx.ingress.kubernetes.io/limit-rps": "many", "nginx.ingress.kubernetes.io/use-regex": "true", "nginx.ingress.kubernetes.io/canary": "true",
	}
	f.Add(reviewOf(plain, nil))
	f.Add(reviewOf(annotated, func(r *admissionv1.AdmissionRequest) { r.Operation = admissionv1.Update }))
	f.Add([]byte(`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"1","kind":{"group":"networking.k8s.io","version":"v1","kind":"Ingress"},` +
		`"operation":"CREATE","object":{"spec":{"rules":[{"http":{"paths":[{"backend":{}}]}}],"tls":[{}],"defaultBackend":{}}}}}`))
	f.Add([]byte(`{"kind":"AdmissionReview"`))
	reviewer, _ := newReviewer(newIngress("a", "owner", "shop.example", "/"))
	reviewer.Options.DeepInspect = true
	f.Fuzz(func(t *testing.T, body []byte) {
		status, text, a := ask(t, NewHandler(reviewer, true, nil, quiet), body)
		switch {
		case a == nil && status != http.StatusBadRequest:
			t.Errorf("status %d: %s", status, text)
		case a != nil && !a.Allowed && a.Result.Message == "":
			t.Error("refused without a reason")
		}
	})
}
