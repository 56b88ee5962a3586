// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairway-ingress/fairway/internal/model"
)

// options take two measures: request durations in two buckets and a rest, and response sizes in one and a rest.
func options() *model.TrafficOptions {
	o := &model.TrafficOptions{PerHost: true}
	for _, m := range model.Measures() {
		o.Excluded[m] = m != model.RequestDuration && m != model.ResponseSize
	}
	o.Bounds[model.RequestDuration], o.Bounds[model.ResponseSize] = []float64{.1, 1}, []float64{100}
	return o
}

const labels = `["a.example","ns","i","web","/","","GET","200"]` + "\n"

// set is what a worker writes: sums, then counts.
func set(sums [7]float64, counts ...uint32) string {
	var out []byte
	for _, s := range sums {
		out = binary.NativeEndian.AppendUint64(out, math.Float64bits(s))
	}
	for _, c := range counts {
		out = binary.NativeEndian.AppendUint32(out, c)
	}
	return labels + string(out)
}

func want() model.Traffic {
	t := model.Traffic{Requests: 3, TrafficLabels: model.TrafficLabels{
		Host: "a.example", Namespace: "ns", Ingress: "i", Service: "web", Path: "/", Method: "GET", Status: "200",
	}}
	t.Measures[model.RequestDuration] = model.Distribution{Sum: 1.5, Counts: []uint64{2, 0, 1}}
	t.Measures[model.ResponseSize] = model.Distribution{Sum: 600, Counts: []uint64{1, 2}}
	return t
}

func TestParse(t *testing.T) {
	o := options()
	sums := [7]float64{model.RequestDuration: 1500, model.ResponseSize: 600}
	message := "traffic " + Layout(o) + " 1\n" + set(sums, 3, 2, 0, 1, 1, 2)
	other := "traffic 0123456789abcdef 1\n" + labels + "\n\nnot ours"
	for name, text := range map[string]string{"one": message, "another layout before": other + message} {
		got, err := Parse([]byte(text), o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff([]model.Traffic{want()}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for _, text := range []string{other, ""} {
		if got, err := Parse([]byte(text), o); len(got) != 0 || err != nil {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for n := 1; n < len(message); n++ {
		if got, err := Parse([]byte(message[:n]), o); err == nil || len(got) != 0 {
			t.Fatalf("message without its last %d bytes: %v, %v", len(message)-n, got, err)
		}
	}
}

func TestParseValues(t *testing.T) {
	o := options()
	o.Values = true
	text := "traffic " + Layout(o) + " 1\n" + set([7]float64{}, 3, 0, 0, 0, 0, 0) + "1:250:2 6:300:1 1:1000:1\n"
	got, err := Parse([]byte(text), o)
	if err != nil || len(got) != 1 {
		t.Fatal(got, err)
	}
	if diff := cmp.Diff(map[float64]uint64{.25: 2, 1: 1}, got[0].Measures[model.RequestDuration].Values); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[float64]uint64{300: 1}, got[0].Measures[model.ResponseSize].Values); diff != "" {
		t.Error(diff)
	}
	if _, err := Parse([]byte(strings.Replace(text, "6:", "8:", 1)), o); err == nil {
		t.Error("there is no eighth measure")
	}
}

func FuzzParse(f *testing.F) {
	o := options()
	f.Add("traffic " + Layout(o) + " 1\n" + set([7]float64{}, 3, 2, 0, 1, 1, 2))
	f.Add("traffic " + Layout(o) + " -1\n")
	f.Add("traffic x 1\n[]\n")
	f.Fuzz(func(_ *testing.T, text string) {
		_, _ = Parse([]byte(text), o) // it ends, and does not panic
	})
}
