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
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"

	"github.com/fairway-ingress/fairway/test/freeport"
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
	TLS     string      `json:"tls"` // "TLS 1.3 TLS_AES_128_GCM_SHA256 sni=NAME certificate=COMMON NAME"; empty without
}

// arrivals is what backends of serveEcho got, in the order in which they had read it.
var arrivals journal

type journal struct {
	sync.Mutex
	begun int
	list  []seen
}

func (j *journal) begin() {
	j.Lock()
	defer j.Unlock()
	j.begun++
}

func (j *journal) add(s seen) {
	j.Lock()
	defer j.Unlock()
	j.list = append(j.list, s)
}

// count is how many requests have begun to arrive.
func (j *journal) count() int {
	j.Lock()
	defer j.Unlock()
	return j.begun
}

// since gives what arrived as a whole after the first n.
func (j *journal) since(n int) []seen {
	j.Lock()
	defer j.Unlock()
	return slices.Clone(j.list[n:])
}

// serveEcho answers with what it saw; the query can ask for a status, a delay, headers, reflected headers, a size, and the header Echo-Status for a
// status too.
func serveEcho(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		arrivals.begin()
		if websocket.IsWebSocketUpgrade(r) {
			echoWebSocket(w, r)
			return
		}
		sum := sha256.New()
		n, err := io.Copy(sum, r.Body)
		if err != nil {
			return // the client went away
		}
		saw := seen{
			Backend: name, Method: r.Method, URI: r.RequestURI, Host: r.Host, Proto: r.Proto, Header: r.Header.Clone(),
			Bytes: n, Sum: hex.EncodeToString(sum.Sum(nil)), Client: r.RemoteAddr, TLS: describeTLS(r.TLS),
		}
		arrivals.add(saw)
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
		_ = json.NewEncoder(w).Encode(saw) // the client is gone: nothing to be done
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

// describeTLS says what a backend saw of the connection.
func describeTLS(c *tls.ConnectionState) string {
	if c == nil {
		return ""
	}
	text := fmt.Sprintf("%s %s sni=%s certificate=", tls.VersionName(c.Version), tls.CipherSuiteName(c.CipherSuite), c.ServerName)
	if len(c.PeerCertificates) > 0 {
		text += c.PeerCertificates[0].Subject.CommonName
	}
	return text
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
func startBackends(certificates *pki) (map[string]netip.AddrPort, error) {
	addresses := map[string]netip.AddrPort{}
	listen := func(name string) (net.Listener, error) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err == nil {
			addresses[name] = netip.MustParseAddrPort(l.Addr().String())
		}
		return l, err
	}
	made, _, err := certificates.authorities["backends"].issue("backend", time.Now().Add(24*time.Hour), "backend.example", "tls.default.svc", "grpcs.default.svc")
	if err != nil {
		return nil, err
	}
	certificate, err := tls.X509KeyPair(made.chain, made.key)
	if err != nil {
		return nil, err
	}
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, ClientAuth: tls.RequestClientCert}
	made, _, err = certificates.authorities["beneath"].issue("deep", time.Now().Add(24*time.Hour), "deep.example")
	if err != nil {
		return nil, err
	}
	deep, err := tls.X509KeyPair(slices.Concat(made.chain, certificates.authorities["beneath"].pem, certificates.authorities["between"].pem), made.key)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"web", "blue", "green", "slow", "tls", "deep"} {
		l, err := listen(name)
		if err != nil {
			return nil, err
		}
		switch name {
		case "tls":
			l = tls.NewListener(l, config)
		case "deep":
			l = tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{deep}})
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
	if err := startMoods(addresses); err != nil {
		return nil, err
	}
	// A port where nobody listens: connections are refused.
	port, _, err := freeport.Reserve()
	addresses["refused"] = netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), uint16(port))
	return addresses, err
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
