// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	netv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestDiff(t *testing.T) {
	made := func(name string, second int64) *netv1.Ingress {
		return &netv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, CreationTimestamp: metav1.Unix(second, 0)}}
	}
	a, b, c, d, e := made("a", 1), made("b", 2), made("c", 3), made("d", 4), made("e", 5)
	otherB, againC := made("b", 2), made("c", 9)
	text := func(i *netv1.Ingress) string {
		if i == nil {
			return "-"
		}
		return i.Name
	}
	for _, c := range []struct {
		title         string
		before, after []*netv1.Ingress
		want          []string
	}{
		{"nothing", nil, nil, nil},
		{"all the same", []*netv1.Ingress{a, b}, []*netv1.Ingress{a, b}, nil},
		{"the first", nil, []*netv1.Ingress{a, b}, []string{"- a", "- b"}},
		{"all gone", []*netv1.Ingress{a, b}, nil, []string{"a -", "b -"}},
		{"one changed", []*netv1.Ingress{a, b, c}, []*netv1.Ingress{a, otherB, c}, []string{"b b"}},
		{"one in the middle, one at the end", []*netv1.Ingress{a, c}, []*netv1.Ingress{a, b, c, d}, []string{"- b", "- d"}},
		{"one gone, one come", []*netv1.Ingress{a, b, d}, []*netv1.Ingress{a, d, e}, []string{"b -", "- e"}},
		{"deleted and made again", []*netv1.Ingress{b, c, d}, []*netv1.Ingress{b, d, againC}, []string{"c -", "- c"}},
	} {
		t.Run(c.title, func(t *testing.T) {
			var got []string
			Diff(c.before, c.after, func(old, new *netv1.Ingress) { got = append(got, text(old)+" "+text(new)) })
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
