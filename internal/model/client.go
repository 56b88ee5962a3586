// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"net/netip"
	"time"
)

// Client says who is taken for the client of a request, and whose word counts for it.
type Client struct {
	// ProxyProtocol makes every connection begin with a PROXY header, which says where it comes from.
	ProxyProtocol bool
	// ForwardedHeaders believes X-Forwarded-Proto, -Port and -Host; these and RealIP believe the header For.
	ForwardedHeaders, RealIP bool
	// FullForwardedFor, with ForwardedHeaders, tells backends the whole list of addresses.
	FullForwardedFor bool
	// Trusted are the networks of senders that are believed; sorted, none for nobody.
	Trusted []netip.Prefix
	// For and Host name the headers that list addresses and name the host. Late is the one that carries the addresses within
	// nginx when there are both a PROXY header and For.
	For, Host, Late string
	// HeaderTimeout is how long the listener of TLS passthrough waits for a PROXY header.
	HeaderTimeout time.Duration
}

// BelievesFor tells whether the header For can say who the client is.
func (c Client) BelievesFor() bool { return c.ForwardedHeaders || c.RealIP }

// TLS is what the admin says of TLS with clients, besides versions and ciphers.
type TLS struct {
	// SessionCache is the size of the cache of sessions in bytes, 0 for none; SessionTimeout is how long one can be resumed.
	SessionCache   int64
	SessionTimeout time.Duration
	// Tickets lets clients keep their sessions. TicketKey is the base64 of 80 bytes that encrypts them: 16 of a name, 32 for HMAC, 32 for AES;
	// empty for one that nginx makes.
	Tickets   bool
	TicketKey Secret
	// BufferSize is the size of a TLS record in bytes.
	BufferSize int64
	// EarlyData takes requests in the first flight of TLS 1.3.
	EarlyData bool
	// Curves are the groups of the key exchange in OpenSSL's words.
	Curves string
	// RejectUnknown refuses handshakes for server names that no Ingress has, and without a name.
	RejectUnknown bool
	// OCSP tells clients what the authority says of the certificate.
	OCSP bool
	// DHParamsFrom is the Secret that holds DHParams, PEM of Diffie-Hellman parameters; zero and empty for none.
	DHParamsFrom Ref
	DHParams     string
}

// StreamProxy is about TCP and UDP services.
type StreamProxy struct {
	// Retry asks another endpoint when a connection cannot be opened, Tries in all within RetryWithin; 0 is no bound.
	Retry       bool
	RetryWithin time.Duration
	Tries       int
	// Responses is how many datagrams of an endpoint are due for each of a client, less than 0 for no number; Timeout is how long a session may be idle.
	Responses int
	Timeout   time.Duration
	// LeastConnections chooses the endpoint with the fewest connections, instead of each in turn.
	LeastConnections bool
	// MaxConnections is how many connections, or sessions, a port has at most; 0 is no bound.
	MaxConnections int
}

// SpanExport says where spans go and how many.
type SpanExport struct {
	// Collector and Port are where OTLP is spoken; Service is the name that spans have there. An empty Collector is none.
	Collector string
	Port      int
	Service   string
	// QueueSize spans wait at most, Batch of which go at a time, every Delay.
	QueueSize, Batch int
	Delay            time.Duration
	Sampler          Sampler
	// Ratio is the share that RatioSampler takes.
	Ratio float64
	// ParentBased follows whoever began the trace.
	ParentBased bool
}

// Sampler says which traces are recorded.
type Sampler uint8

// The samplers.
const (
	AlwaysOnSampler Sampler = iota
	AlwaysOffSampler
	RatioSampler
)

// defaultClient and the like are what an empty ConfigMap gives.
func defaultClient() Client {
	return Client{
		Trusted: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")},
		For:     "X-Forwarded-For", Host: "X-Forwarded-Host", Late: "X-Forwarded-For-Proxy-Protocol", HeaderTimeout: 5 * time.Second,
	}
}

func defaultTLS() TLS {
	return TLS{SessionCache: 10 << 20, SessionTimeout: 10 * time.Minute, BufferSize: 4 << 10, Curves: "auto"}
}

func defaultStreamProxy() StreamProxy {
	return StreamProxy{Retry: true, RetryWithin: 600 * time.Second, Tries: 3, Responses: 1, Timeout: 600 * time.Second, MaxConnections: 16384}
}

func defaultSpanExport() SpanExport {
	return SpanExport{Port: 4317, Service: "nginx", QueueSize: 2048, Batch: 512, Delay: 5 * time.Second, Ratio: 0.01, ParentBased: true}
}
