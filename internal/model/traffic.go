// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package model

// Measure is something that is measured of each request.
type Measure int

// The measures. Lua counts them in this order.
const (
	RequestDuration  Measure = iota // from the first byte of the request to its end
	ConnectDuration                 // until the backend's connection was there; 0 for a kept one
	HeaderDuration                  // until the backend's response header was there
	ResponseDuration                // until the backend's response was complete
	RequestSize                     // bytes from the client, with the header
	ResponseSize                    // bytes to the client, with the header
	BytesSent                       // the same, in other buckets
	measures
)

// Measures are all there are, in order.
func Measures() []Measure {
	list := make([]Measure, measures)
	for i := range list {
		list[i] = Measure(i)
	}
	return list
}

// IsTime tells whether the measure is a time, in seconds; others are bytes.
func (m Measure) IsTime() bool { return m <= ResponseDuration }

// TrafficOptions say what a data plane counts of requests.
type TrafficOptions struct {
	// Bounds are the upper bounds of the buckets of each measure, sorted; seconds or bytes. One more bucket is for what is beyond.
	Bounds [measures][]float64
	// Excluded measures are not taken.
	Excluded [measures]bool
	// PerHost tells requests for different hosts apart. Without, Traffic.Host is empty.
	PerHost bool
	// Undefined counts also requests for hosts that no Ingress names, under the host CatchAll. Without PerHost all are counted.
	Undefined bool
	// StatusClasses makes Traffic.Status "2xx" instead of "200".
	StatusClasses bool
	// Values asks for Distribution.Values.
	Values bool
	// MostSets bounds the memory of a worker between two deliveries; what is beyond is counted together.
	MostSets int
}

// Overflow is the label of what is counted together because there is too much to tell it apart.
const Overflow = "_overflow"

// Traffic is what a data plane counted of requests that are alike since it was last asked.
type Traffic struct {
	TrafficLabels
	Requests uint64
	Measures [measures]Distribution
}

// TrafficLabels say what requests have in common. Each is a word of the model, or of a list, never one that a client chose.
type TrafficLabels struct {
	Host, Namespace, Ingress, Service string
	Path                              string // as the Ingress says it
	Canary                            string // log name of the canary's backend, empty when no canary took them
	Method, Status                    string
}

// Distribution is how a measure is distributed over its buckets.
type Distribution struct {
	Sum    float64
	Counts []uint64 // by bucket, not cumulative; nil for an excluded measure
	// Values are the counts by value, where they were asked for; nil otherwise.
	Values map[float64]uint64
}

// Usage is how much a data plane uses of what is limited.
type Usage struct {
	Zones       []Zone // sorted by name
	Connections Connections
	Shapes      int // that the running configuration has
	// Configuration is a hash of the running configuration, in hexadecimal.
	Configuration string
}

// Zone is shared memory of the data plane.
type Zone struct {
	Name        string
	Bytes, Free int64
}

// Connections are those of clients, and the requests, since the data plane started.
type Connections struct {
	Active, Reading, Writing, Waiting int64
	Accepted, Handled, Requests       uint64
}
