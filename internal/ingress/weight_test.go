// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	"strconv"
	"strings"
	"testing"

	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-ingress/fairway/internal/source"
)

// FuzzWeight demands that a weight is in its bounds, and that whatever is not the number it shows is a Problem that says so in one line.
func FuzzWeight(f *testing.F) {
	for _, text := range []string{"", "0", "1", "05", "1000", "1001", "-1", "+3", "1e3", "0x10", " 7", "7\n", "99999999999999999999", "½", strings.Repeat("1", 200)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		slice := &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Name: "s", Annotations: map[string]string{source.WeightAnnotation: text}}}
		weight, problem := weightOf(slice)
		if weight < 0 || weight > mostWeight {
			t.Fatalf("%q: weight %d", text, weight)
		}
		if problem == nil {
			if strconv.Itoa(weight) != strings.TrimLeft(text, "0") && strings.Trim(text, "0") != "" {
				t.Errorf("%q: weight %d", text, weight)
			}
			return
		}
		if weight != 1 || strings.Contains(problem.Message, "\n") || len(problem.Message) > 400 {
			t.Errorf("%q: weight %d, %+v", text, weight, problem)
		}
	})
}
