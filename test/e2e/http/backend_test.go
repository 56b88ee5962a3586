// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package http

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/fcgi"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
)

// seen is what a backend says of a request that reached it.
type seen struct {
	Backend string      `json:"backend"`
	Method  string      `json:"method"`
	URI     string      `json:"uri"` // as on the wire
	Host    string      `json:"host"`
	Proto   string      `json:"proto"`
	Header  http.Header `json:"header"`
	Bytes   int64       `json:"bytes"`
	Sum     string      `json:"sum"` // SHA-256 of the body
	Client  string      `json:"client"`
}

// arrived counts the requests that reached a backend of serveEcho.
var arrived atomic.Int64

// serveEcho answers with what it saw; the query can ask for a status, a delay, headers, reflected headers, a size, and the header Echo-Status for a
// status too.
func serveEcho(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		arrived.Add(1)
		if websocket.IsWebSocketUpgrade(r) {
			echoWebSocket(w, r)
			return
		}
		sum := sha256.New()
		n, err := io.Copy(sum, r.Body)
		if err != nil {
			return // the client went away
		}
		q := r.URL.Query()
		if d, err := time.ParseDuration(q.Get("delay")); err == nil {
			time.Sleep(d)
		}
		for _, header := range q["header"] {
			key, value, _ := strings.Cut(header, ":")
			w.Header().Add(key, value)
		}
		for _, name := range q["reflect"] { // what it saw of a header comes back as another
			w.Header().Set("Saw-"+name, strings.Join(r.Header.Values(name), ", "))
		}
		if size, err := strconv.Atoi(q.Get("size")); err == nil {
			writeZeros(w, size)
			return
		}
		status := http.StatusOK
		if s, err := strconv.Atoi(cmp.Or(q.Get("status"), r.Header.Get("Echo-Status"))); err == nil {
			status = s
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(seen{
			Backend: name, Method: r.Method, URI: r.RequestURI, Host: r.Host, Proto: r.Proto, Header: r.Header,
			Bytes: n, Sum: hex.EncodeToString(sum.Sum(nil)), Client: r.RemoteAddr,
		}) // the client is gone: nothing to be done
	}
}

// alwaysAnswered are the statuses of servers s403, s404 and so on, which give no other answer.
var alwaysAnswered = []int{403, 404, 429, 500, 502, 503, 504}

// serveFastCGI is serveEcho for FastCGI: it says what it saw of each parameter as a header Param-NAME.
func serveFastCGI(name string) http.HandlerFunc {
	echo := serveEcho(name)
	return func(w http.ResponseWriter, r *http.Request) {
		for param, value := range fcgi.ProcessEnv(r) {
			r.Header.Set("Param-"+param, value)
		}
		r.RequestURI = r.URL.RequestURI()
		echo(w, r)
	}
}

func writeZeros(w io.Writer, size int) {
	chunk := make([]byte, 64<<10)
	for size > 0 {
		n, err := w.Write(chunk[:min(size, len(chunk))])
		if err != nil {
			return
		}
		size -= n
	}
}

func echoWebSocket(w http.ResponseWriter, r *http.Request) {
	upgrader := websocket.Upgrader{}
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer conn.Close()
	for {
		kind, text, err := conn.ReadMessage()
		if err != nil || conn.WriteMessage(kind, text) != nil {
			return
		}
	}
}

// health is a gRPC server whose answer says which backend it is, in a header.
type health struct {
	healthpb.UnimplementedHealthServer
	name string
}

func (h health) Check(ctx context.Context, r *healthpb.HealthCheckRequest) (*healthpb.HealthCheckResponse, error) {
	host := ""
	if md, ok := metadata.FromIncomingContext(ctx); ok {
		host = strings.Join(append(md.Get(":authority"), md.Get("x-forwarded-host")...), " ")
	}
	_ = grpc.SetHeader(ctx, metadata.Pairs("backend", h.name, "saw", host)) // only fails after the header was sent
	return &healthpb.HealthCheckResponse{Status: healthpb.HealthCheckResponse_SERVING}, nil
}

func (h health) Watch(_ *healthpb.HealthCheckRequest, stream healthpb.Health_WatchServer) error {
	for range 3 {
		if err := stream.Send(&healthpb.HealthCheckResponse{Status: healthpb.HealthCheckResponse_SERVING}); err != nil {
			return err
		}
	}
	return nil
}

// startBackends starts the servers that all cases share; they end with the process.
func startBackends() (map[string]netip.AddrPort, error) {
	addresses := map[string]netip.AddrPort{}
	listen := func(name string) (net.Listener, error) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err == nil {
			addresses[name] = netip.MustParseAddrPort(l.Addr().String())
		}
		return l, err
	}
	pair, err := newPair("backend.example", "ECDSA", 1)
	if err != nil {
		return nil, err
	}
	certificate, err := tls.X509KeyPair(pair.chain, pair.key)
	if err != nil {
		return nil, err
	}
	config := &tls.Config{Certificates: []tls.Certificate{certificate}}
	for _, name := range []string{"web", "blue", "green", "slow", "tls"} {
		l, err := listen(name)
		if err != nil {
			return nil, err
		}
		if name == "tls" {
			l = tls.NewListener(l, config)
		}
		handler := serveEcho(name)
		if name == "slow" {
			echo := handler
			handler = func(w http.ResponseWriter, r *http.Request) {
				time.Sleep(50 * time.Millisecond)
				echo(w, r)
			}
		}
		go func() { _ = (&http.Server{Handler: handler}).Serve(l) }()
	}
	for _, status := range alwaysAnswered {
		l, err := listen(fmt.Sprintf("s%d", status))
		if err != nil {
			return nil, err
		}
		go func() {
			_ = (&http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })}).Serve(l)
		}()
	}
	fast, err := listen("fcgi")
	if err != nil {
		return nil, err
	}
	go func() { _ = fcgi.Serve(fast, serveFastCGI("fcgi")) }()
	for _, name := range []string{"grpc", "grpcs"} {
		l, err := listen(name)
		if err != nil {
			return nil, err
		}
		var options []grpc.ServerOption
		if name == "grpcs" {
			grpcConfig := config.Clone()
			grpcConfig.NextProtos = []string{"h2"}
			options = append(options, grpc.Creds(credentials.NewTLS(grpcConfig)))
		}
		s := grpc.NewServer(options...)
		healthpb.RegisterHealthServer(s, health{name: name})
		go func() { _ = s.Serve(l) }()
	}
	// A port where nobody listens: connections are refused.
	l, err := listen("refused")
	if err != nil {
		return nil, err
	}
	return addresses, l.Close()
}

// backendManifests gives Services and EndpointSlices for the shared servers.
func backendManifests(addresses map[string]netip.AddrPort) string {
	var out strings.Builder
	for name, address := range addresses {
		fmt.Fprintf(&out, `---
{apiVersion: v1, kind: Service, metadata: {name: %[1]s}, spec: {ports: [{name: main, port: 80, targetPort: %[3]d}]}}
---
{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: %[1]s-1, labels: {kubernetes.io/service-name: %[1]s}},
 addressType: IPv4, ports: [{name: main, port: %[3]d}], endpoints: [{addresses: [%[2]s]}]}
`, name, address.Addr(), address.Port())
	}
	return out.String()
}
