// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package udp

// mostTurns bounds the length of a round. Weights whose sum is above are made smaller.
const mostTurns = 1 << 10

// turns gives a round: indices of endpoints, each as often as its weight says and those of one endpoint as far from each other as may be. Equal
// weights are a turn each. The round is made once, so that lanes need to share nothing but a position in it.
func turns(endpoints []Endpoint) []int {
	weights := make([]int, len(endpoints))
	sum, divisor := 0, 0
	for i, e := range endpoints {
		weights[i] = max(e.Weight, 1)
		sum += weights[i]
		divisor = commonDivisor(divisor, weights[i])
	}
	if sum == 0 {
		return nil
	}
	if sum/divisor > mostTurns {
		divisor = 1
		for i := range weights {
			weights[i] = max(weights[i]*mostTurns/sum, 1)
		}
	}
	length := 0
	for i := range weights {
		weights[i] /= divisor
		length += weights[i]
	}
	round, due := make([]int, 0, length), make([]int, len(weights))
	for range length {
		best := 0
		for i, w := range weights {
			if due[i] += w; due[i] > due[best] {
				best = i
			}
		}
		due[best] -= length
		round = append(round, best)
	}
	return round
}

func commonDivisor(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
