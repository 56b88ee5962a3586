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
	Algorithm      string        `json:"algorithm,omitempty"`
	Slots          int           `json:"slots,omitempty"`
	HashOn         *Hash         `json:"hashOn,omitempty"`
	HashOnFallback *Hash         `json:"hashOnFallback,omitempty"`
	Healthchecks   *Healthchecks `json:"healthchecks,omitempty"`
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

// Healthchecks say how endpoints are found healthy or not.
type Healthchecks struct {
	Active    *ActiveHealthcheck  `json:"active,omitempty"`
	Passive   *PassiveHealthcheck `json:"passive,omitempty"`
	Threshold *int                `json:"threshold,omitempty"`
}

// ActiveHealthcheck asks the endpoints.
type ActiveHealthcheck struct {
	Type                   string              `json:"type,omitempty"`
	Concurrency            *int                `json:"concurrency,omitempty"`
	Timeout                *int                `json:"timeout,omitempty"`
	HTTPPath               string              `json:"httpPath,omitempty"`
	HTTPSSNI               string              `json:"httpsSni,omitempty"`
	HTTPSVerifyCertificate *bool               `json:"httpsVerifyCertificate,omitempty"`
	Headers                map[string][]string `json:"headers,omitempty"`
	Healthy                *Healthy            `json:"healthy,omitempty"`
	Unhealthy              *Unhealthy          `json:"unhealthy,omitempty"`
}

// PassiveHealthcheck looks at the answers to real requests.
type PassiveHealthcheck struct {
	Type      string     `json:"type,omitempty"`
	Healthy   *Healthy   `json:"healthy,omitempty"`
	Unhealthy *Unhealthy `json:"unhealthy,omitempty"`
}

// Healthy is what makes an endpoint healthy.
type Healthy struct {
	HTTPStatuses []int `json:"httpStatuses,omitempty"`
	Interval     *int  `json:"interval,omitempty"`
	Successes    *int  `json:"successes,omitempty"`
}

// Unhealthy is what makes an endpoint unhealthy.
type Unhealthy struct {
	HTTPFailures *int  `json:"httpFailures,omitempty"`
	HTTPStatuses []int `json:"httpStatuses,omitempty"`
	TCPFailures  *int  `json:"tcpFailures,omitempty"`
	Timeouts     *int  `json:"timeouts,omitempty"`
	Interval     *int  `json:"interval,omitempty"`
}

// KongIngress is deprecated; of its parts only upstream, in Kong's own words, has an effect.
type KongIngress struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Upstream          json.RawMessage            `json:"upstream,omitempty"`
	Proxy             map[string]json.RawMessage `json:"proxy,omitempty"`
	Route             map[string]json.RawMessage `json:"route,omitempty"`
}
