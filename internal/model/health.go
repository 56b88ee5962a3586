// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"time"
)

// Health is how the endpoints of a backend are judged. Parts that are nil judge nothing; they never change once they are in a model.
type Health struct {
	Check   *HealthCheck
	Outlier *Outlier
}

// IsZero tells whether nothing is judged.
func (h Health) IsZero() bool { return h == Health{} }

// Panic is the least share of endpoints, in percent, that must be left; while there are fewer, all are used.
func (h Health) Panic() int {
	percent := 0
	if h.Check != nil {
		percent = h.Check.Panic
	}
	if h.Outlier != nil {
		percent = max(percent, h.Outlier.Panic)
	}
	return percent
}

// HealthCheck asks each endpoint, again and again, whether it is well. One that was never asked counts as well.
type HealthCheck struct {
	Protocol CheckProtocol
	// TLS, when not nil, is how the endpoint is spoken to over TLS.
	TLS *CheckTLS
	// Port is asked instead of the endpoint's own; 0 for that.
	Port uint16
	// Path and Host are those of the HTTP request, and Statuses the answers of an endpoint that is well. Without a Host it is the endpoint's address.
	// Host is also sent with gRPC checks and as TLS server name.
	Path, Host string
	Statuses   []StatusRange
	// Service is what a gRPC server is asked about; empty for the server as a whole.
	Service string
	// Interval is from one check of an endpoint to the next, Timeout how long one may take.
	Interval, Timeout time.Duration
	// Unhealthy is how many checks in a row must fail before an endpoint gets no requests, Healthy how many must then pass.
	Healthy, Unhealthy int
	// Panic is the least share of endpoints that must be left, in percent.
	Panic int
}

// CheckProtocol is how an endpoint is asked.
type CheckProtocol uint8

// The protocols of checks.
const (
	CheckHTTP CheckProtocol = iota
	CheckGRPC               // grpc.health.v1.Health
	CheckTCP                // connecting is all
)

func (p CheckProtocol) String() string { return [...]string{"HTTP", "gRPC", "TCP"}[p] }

// CheckTLS is how checks verify an endpoint, and what they show to it.
type CheckTLS struct {
	// CA is PEM; Verify demands a certificate of it for Name.
	CA          string
	Verify      bool
	Name        string // empty for Host of the check
	Certificate *Certificate
}

// StatusRange holds the HTTP statuses from First to Last.
type StatusRange struct{ First, Last int }

func (r StatusRange) String() string {
	if r.First == r.Last {
		return fmt.Sprint(r.First)
	}
	return fmt.Sprintf("%d-%d", r.First, r.Last)
}

// String says in short what is asked how often.
func (c *HealthCheck) String() string {
	words := []string{c.Protocol.String()}
	if c.TLS != nil {
		words = append(words, "over TLS")
	}
	if c.Port != 0 {
		words = append(words, fmt.Sprintf("port %d", c.Port))
	}
	if c.Protocol == CheckHTTP {
		words = append(words, c.Path)
		for _, s := range c.Statuses {
			words = append(words, s.String())
		}
	}
	for _, name := range []string{c.Host, c.Service} {
		if name != "" {
			words = append(words, name)
		}
	}
	words = append(words, fmt.Sprintf("every %s within %s, %d down %d up", c.Interval, c.Timeout, c.Unhealthy, c.Healthy))
	if c.Panic > 0 {
		words = append(words, fmt.Sprintf("panic below %d%%", c.Panic))
	}
	return strings.Join(words, " ")
}

// Outlier takes requests away from endpoints that fail them, for a while.
type Outlier struct {
	// Consecutive is how many failures in a row eject an endpoint; 0 for any number.
	Consecutive int
	// Rate is the share of failures, in percent, that ejects an endpoint when it had at least MinRequests within Window; 0 for any share.
	Rate        int
	Window      time.Duration
	MinRequests int
	// Base is how long the first ejection lasts. Each further one lasts twice as long, up to Longest.
	Base, Longest time.Duration
	// MostPercent of the endpoints may be ejected at once; at most 50.
	MostPercent int
	// Panic is the least share of endpoints that must be left, in percent.
	Panic int
}

// String says in short who is ejected for how long.
func (o *Outlier) String() string {
	var words []string
	if o.Consecutive > 0 {
		words = append(words, fmt.Sprintf("%d failures", o.Consecutive))
	}
	if o.Rate > 0 {
		words = append(words, fmt.Sprintf("%d%% of %d in %s", o.Rate, o.MinRequests, o.Window))
	}
	words = append(words, fmt.Sprintf("out %s to %s, %d%% at most", o.Base, o.Longest, o.MostPercent))
	if o.Panic > 0 {
		words = append(words, fmt.Sprintf("panic below %d%%", o.Panic))
	}
	return strings.Join(words, " ")
}

// EndpointHealth is what is known of one endpoint that gets no requests.
type EndpointHealth struct {
	Backend  BackendID
	Endpoint netip.AddrPort
	State    HealthState
	// Why is what went wrong last; empty when that is not known.
	Why string
	// Since is when it began, Until when it ends by itself; zero when that is not known.
	Since, Until time.Time
}

// HealthReport is what is known of all endpoints, and how it came to be known.
type HealthReport struct {
	// Out are the endpoints that are to get no requests, by backend and address. They get some all the same while too few others are left.
	Out []EndpointHealth
	// ChecksPassed and ChecksFailed count checks since the controller started, Ejections since nginx did.
	ChecksPassed, ChecksFailed, Ejections uint64
}

// HealthState is why an endpoint gets no requests.
type HealthState uint8

// The states.
const (
	Unhealthy HealthState = iota // by checks
	Ejected                      // by failed requests
)

func (s HealthState) String() string { return [...]string{"unhealthy", "ejected"}[s] }

// Panics tells whether so few of all endpoints are left that all are to be used.
func (h Health) Panics(left, all int) bool { return left == 0 || left*100 < h.Panic()*all }

// Equal tells whether both judge alike.
func (h Health) Equal(other Health) bool { return reflect.DeepEqual(h, other) }
