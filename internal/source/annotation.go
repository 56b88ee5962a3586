// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package source

// Annotations of objects other than Ingresses. Those of Ingresses are in package annotation.
const (
	// WeightAnnotation of an EndpointSlice is the weight of each of its endpoints.
	WeightAnnotation = "fairway.dev/weight"
)
