// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import "github.com/fairway-ingress/fairway/internal/model"

// budget decides how finely requests are told apart, so that the number of series stays within RequestOptions.MaxSeries, other families of the
// predecessor and a reserve for all others included. One set of labels costs one series of the counter and some 90 of histograms.
//
// Two fifths of what is left are for counters. Sets of labels beyond that are counted together under the label "_overflow", by class of status.
// The rest is for histograms: the first half of it goes to full sets of labels as they come, the other to one set for each further Ingress, whose other
// labels are "_overflow"; what is beyond goes into one set that is "_overflow" altogether. So a percentile by Ingress stays
// right for longest, and nothing is ever lost from a sum. A set that has its place keeps it while its Ingress exists.
type budget struct {
	most         int        // series; 0 for no bound
	perHistogram int        // series of one set of labels
	others       func() int // series of other families
}

// reserve is for families that are not counted here: Go, process, fairway_* and single gauges.
const reserve = 400

// classes is how many sets of labels what overflows may take.
const classes = 8

func (b budget) left() int { return max(b.most-b.others()-reserve, 0) }

// counters is how many sets of labels the counter may have.
func (b budget) counters() int { return max(b.left()*2/5-classes, 0) }

// histograms is how many sets of labels histograms may have, those that overflow left aside.
func (b budget) histograms() int {
	if b.perHistogram == 0 {
		return 0
	}
	return max(b.left()*3/5/b.perHistogram-1, 0)
}

// counter gives the labels under which requests are counted, when there are `taken` sets.
func (b budget) counter(labels model.TrafficLabels, taken int) model.TrafficLabels {
	if b.most == 0 || taken < b.counters() {
		return labels
	}
	return overflowOf(class(labels.Status))
}

// histogram gives the labels under which requests are measured, when there are `taken` sets. known tells whether a set is there.
func (b budget) histogram(labels model.TrafficLabels, taken int, known func(model.TrafficLabels) bool) model.TrafficLabels {
	most := b.histograms()
	if b.most == 0 || taken < most/2 {
		return labels
	}
	ingress := overflowOf(model.Overflow)
	ingress.Namespace, ingress.Ingress = labels.Namespace, labels.Ingress
	if known(ingress) || taken < most {
		return ingress
	}
	return overflowOf(model.Overflow)
}

func overflowOf(status string) model.TrafficLabels {
	const o = model.Overflow
	return model.TrafficLabels{Host: o, Namespace: o, Ingress: o, Service: o, Path: o, Canary: o, Method: o, Status: status}
}

// class gives "2xx" for a status, or Overflow for what is none.
func class(status string) string {
	if len(status) == 3 && status[0] >= '1' && status[0] <= '5' {
		return status[:1] + "xx"
	}
	return model.Overflow
}
