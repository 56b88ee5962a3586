// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kongapi

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// KongUpstreamPolicy says how requests are spread over the endpoints of the Services that name it.
type KongUpstreamPolicy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              KongUpstreamPolicySpec `json:"spec,omitempty"`
}

// KongUpstreamPolicySpec is the policy.
type KongUpstreamPolicySpec struct {
	Algorithm      string `json:"algorithm,omitempty"`
	Slots          int    `json:"slots,omitempty"`
	HashOn         *Hash  `json:"hashOn,omitempty"`
	HashOnFallback *Hash  `json:"hashOnFallback,omitempty"`
	// Healthchecks are those of Kong's upstreams, with names like httpPath for http_path; what Kong does not have is passed over.
	Healthchecks map[string]any `json:"healthchecks,omitempty"`
}

// Hash is what requests are hashed by: one of the fields, and the path of the cookie beside it.
type Hash struct {
	Input      string `json:"input,omitempty"`
	Header     string `json:"header,omitempty"`
	Cookie     string `json:"cookie,omitempty"`
	CookiePath string `json:"cookiePath,omitempty"`
	QueryArg   string `json:"queryArg,omitempty"`
	URICapture string `json:"uriCapture,omitempty"`
}

// KongIngress is deprecated; of its parts only upstream, in Kong's own words, has an effect.
type KongIngress struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Upstream          json.RawMessage            `json:"upstream,omitempty"`
	Proxy             map[string]json.RawMessage `json:"proxy,omitempty"`
	Route             map[string]json.RawMessage `json:"route,omitempty"`
}
