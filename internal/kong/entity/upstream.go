// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package entity

// Upstream is a set of targets and how requests are spread over them. Its name stands as host of services.
type Upstream struct {
	Meta
	Name      string `kong:"name"`
	Algorithm string `kong:"algorithm"` // round-robin unless given
	// HashOn is what requests are hashed by, with the field of its own where it needs one. It goes with consistent-hashing alone.
	HashOn                 string        `kong:"hash_on"`
	HashFallback           string        `kong:"hash_fallback"`
	HashOnHeader           string        `kong:"hash_on_header"`
	HashFallbackHeader     string        `kong:"hash_fallback_header"`
	HashOnCookie           string        `kong:"hash_on_cookie"`
	HashOnCookiePath       string        `kong:"hash_on_cookie_path"`
	HashOnQueryArg         string        `kong:"hash_on_query_arg"`
	HashFallbackQueryArg   string        `kong:"hash_fallback_query_arg"`
	HashOnURICapture       string        `kong:"hash_on_uri_capture"`
	HashFallbackURICapture string        `kong:"hash_fallback_uri_capture"`
	Slots                  int           `kong:"slots"` // 10000 unless given
	Healthchecks           *Healthchecks `kong:"healthchecks"`
	// HostHeader is the Host sent to targets where the route does not preserve the client's.
	HostHeader        string     `kong:"host_header"`
	ClientCertificate *Reference `kong:"client_certificate"`
	UseSRVName        *bool      `kong:"use_srv_name"` // since 3.1
}

// Healthchecks are how targets are found healthy or not; what is nil or zero has Kong's default, which is no checks.
type Healthchecks struct {
	Active    *ActiveHealthcheck  `kong:"active"`
	Passive   *PassiveHealthcheck `kong:"passive"`
	Threshold *float64            `kong:"threshold"`
}

// ActiveHealthcheck asks the targets. Timeout and the intervals are in seconds.
type ActiveHealthcheck struct {
	Type                   string              `kong:"type"`
	Timeout                *float64            `kong:"timeout"`
	Concurrency            *int                `kong:"concurrency"`
	HTTPPath               string              `kong:"http_path"`
	HTTPSVerifyCertificate *bool               `kong:"https_verify_certificate"`
	HTTPSSNI               string              `kong:"https_sni"`
	Headers                map[string][]string `kong:"headers"`
	Healthy                *Healthy            `kong:"healthy"`
	Unhealthy              *Unhealthy          `kong:"unhealthy"`
}

// PassiveHealthcheck looks at the answers to real requests.
type PassiveHealthcheck struct {
	Type      string     `kong:"type"`
	Healthy   *Healthy   `kong:"healthy"`
	Unhealthy *Unhealthy `kong:"unhealthy"`
}

// Healthy is what makes a target healthy.
type Healthy struct {
	HTTPStatuses []int    `kong:"http_statuses,set"`
	Interval     *float64 `kong:"interval"`
	Successes    *int     `kong:"successes"`
}

// Unhealthy is what makes a target unhealthy.
type Unhealthy struct {
	HTTPFailures *int     `kong:"http_failures"`
	HTTPStatuses []int    `kong:"http_statuses,set"`
	Interval     *float64 `kong:"interval"`
	TCPFailures  *int     `kong:"tcp_failures"`
	Timeouts     *int     `kong:"timeouts"`
}

// Target is one address that serves an upstream.
type Target struct {
	Meta
	// Target is host:port, IPv6 in brackets.
	Target string `kong:"target"`
	// Weight is 100 unless given; 0 takes no new requests.
	Weight   *int       `kong:"weight"`
	Upstream *Reference `kong:"upstream"`
}
