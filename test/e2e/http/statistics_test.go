// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package http

import (
	"math"
	"testing"
)

// significance is how unlikely an outcome must be before a test takes it for a fault: a sound balancer fails once in a million runs.
const significance = 1e-6

// checkDistribution compares how often things happened with how often they were expected to, by Pearson's chi-square. Their number must be odd.
func checkDistribution(t *testing.T, what string, got []int, expected []float64) {
	t.Helper()
	statistic := 0.0
	for i, e := range expected {
		statistic += (float64(got[i]) - e) * (float64(got[i]) - e) / e
	}
	if p := chiSquareTail(statistic, len(expected)-1); p < significance {
		t.Errorf("%s: got %v, expected %.0f; that happens by chance with a probability of %.2g", what, got, expected, p)
	}
}

// chiSquareTail is the probability of a greater value than x with an even number of degrees of freedom: that of fewer than degrees/2 events of
// a Poisson process with the mean x/2.
func chiSquareTail(x float64, degrees int) float64 {
	if degrees%2 != 0 {
		panic("an odd number of degrees of freedom")
	}
	term, sum := 1.0, 0.0
	for i := range degrees / 2 {
		sum += term
		term *= x / 2 / float64(i+1)
	}
	return math.Exp(-x/2) * sum
}

// TestChiSquareTail compares with values of tables.
func TestChiSquareTail(t *testing.T) {
	for _, c := range []struct {
		x       float64
		degrees int
		want    float64
	}{{5.991, 2, 0.05}, {9.488, 4, 0.05}, {13.277, 4, 0.01}, {15.507, 8, 0.05}, {27.631, 2, 1e-6}} {
		if got := chiSquareTail(c.x, c.degrees); math.Abs(got-c.want) > c.want/100 {
			t.Errorf("x %g with %d degrees: %g, want %g", c.x, c.degrees, got, c.want)
		}
	}
}

// shares gives what n things come to when they are shared by weights.
func shares(n int, weights ...int) []float64 {
	sum := 0
	for _, w := range weights {
		sum += w
	}
	list := make([]float64, len(weights))
	for i, w := range weights {
		list[i] = float64(n) * float64(w) / float64(sum)
	}
	return list
}
