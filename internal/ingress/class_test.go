// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	"testing"

	netv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-ingress/fairway/internal/source"
)

// A cluster may forbid reading IngressClasses; then spec.ingressClassName says nothing and the annotation decides.
func TestWithoutTheRightToReadClasses(t *testing.T) {
	name := "any"
	ing := func(annotations map[string]string) *netv1.Ingress {
		return &netv1.Ingress{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web", Annotations: annotations}, Spec: netv1.IngressSpec{IngressClassName: &name},
		}
	}
	for _, test := range []struct {
		classes     map[string]*netv1.IngressClass
		annotations map[string]string
		want        int
	}{
		{nil, map[string]string{classAnnotation: "nginx"}, 1},
		{nil, nil, 0},
		{map[string]*netv1.IngressClass{}, map[string]string{classAnnotation: "nginx"}, 0},
	} {
		snapshot := &source.Snapshot{IngressClasses: test.classes, Ingresses: []*netv1.Ingress{ing(test.annotations)}}
		if got := len(NewBuilder(Options{}).Build(snapshot).Accepted); got != test.want {
			t.Errorf("classes %v, annotations %v: %d accepted, want %d", test.classes, test.annotations, got, test.want)
		}
	}
}
