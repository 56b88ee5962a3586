// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	"fmt"
	"strconv"

	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
)

// mostWeight bounds the weight of an endpoint.
const mostWeight = 1000

// weightOf gives the weight that a slice asks for its endpoints, 1 unless it says otherwise. 0 leaves them as spares. A value that is none becomes a
// Problem.
func weightOf(slice *discoveryv1.EndpointSlice) (int, *model.Problem) {
	text, found := slice.Annotations[source.WeightAnnotation]
	if !found {
		return 1, nil
	}
	weight, err := strconv.ParseUint(text, 10, 16)
	if err != nil || weight > mostWeight {
		return 1, &model.Problem{
			Object: model.Ref{Kind: "EndpointSlice", Namespace: slice.Namespace, Name: slice.Name},
			Field:  "metadata.annotations[" + source.WeightAnnotation + "]", Reason: model.ReasonInvalidAnnotation,
			Message: fmt.Sprintf("the value %q is no whole number from 0 to %d; the weight of its endpoints is 1", shortened(text), mostWeight),
		}
	}
	return int(weight), nil
}

// weightProblems are those of all slices of a Service.
func weightProblems(slices []*discoveryv1.EndpointSlice) []model.Problem {
	var problems []model.Problem
	for _, slice := range slices {
		if _, problem := weightOf(slice); problem != nil {
			problems = append(problems, *problem)
		}
	}
	return problems
}

// shortened bounds what a message shows of somebody's text.
func shortened(text string) string {
	const most = 60
	if len(text) <= most {
		return text
	}
	return text[:most] + "…"
}
