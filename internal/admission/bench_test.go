// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// BenchmarkReview judges one Ingress among many, without the network. What it takes must not depend on how many there are.
func BenchmarkReview(b *testing.B) {
	for _, size := range []int{10, 10000} {
		b.Run(fmt.Sprintf("%d Ingresses", size), func(b *testing.B) {
			reviewer, _ := newReviewer()
			for i := range size {
				reviewer.Index.Replace(nil, newIngress("a", fmt.Sprint("web", i), fmt.Sprintf("host%d.example", i), "/"))
			}
			h := NewHandler(reviewer, true, nil, quiet)
			ing := newIngress("b", "new", "host1.example", "/new")
			ing.Annotations = map[string]string{
				"nginx.ingress.kubernetes.io/proxy-body-size": "8m", "nginx.ingress.kubernetes.io/limit-rps": "50",
				"nginx.ingress.kubernetes.io/enable-cors": "true", "nginx.ingress.kubernetes.io/whitelist-source-range": "10.0.0.0/8",
			}
			body := reviewOf(ing, nil)
			b.ReportAllocs()
			for b.Loop() {
				request := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
				request.Header.Set("Content-Type", "application/json")
				recorder := httptest.NewRecorder()
				h.ServeHTTP(recorder, request)
				if recorder.Code != http.StatusOK {
					b.Fatal(recorder.Body)
				}
			}
		})
	}
}
