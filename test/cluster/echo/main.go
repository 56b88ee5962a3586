// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Command echo is a test backend. Every port speaks all protocols at once
// (told apart by the first bytes): HTTP/1.1, HTTP/2 without TLS, HTTP/1.1 and
// HTTP/2 over TLS, gRPC over either, WebSocket at /ws. See README.md of the
// cluster module for the query parameters.
package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gorilla/websocket"
	"google.golang.org/grpc"
)

// reply is what the server says about a request.
type reply struct {
	Method     string              `json:"method"`
	Path       string              `json:"path"`
	RawPath    string              `json:"rawPath"` // as sent
	Query      map[string][]string `json:"query,omitempty"`
	Host       string              `json:"host"`
	Proto      string              `json:"proto"`
	Headers    map[string][]string `json:"headers"`
	Trailers   map[string][]string `json:"trailers,omitempty"`
	BodySize   int64               `json:"bodySize"`
	RemoteAddr string              `json:"remoteAddr"`
	LocalAddr  string              `json:"localAddr"`
	TLS        *tlsInfo            `json:"tls,omitempty"`
	pod
}

type pod struct {
	Pod       string `json:"pod"`
	Namespace string `json:"namespace"`
	Service   string `json:"service"`
	Node      string `json:"node"`
}

type tlsInfo struct {
	Version    string `json:"version"`
	SNI        string `json:"sni"`
	ALPN       string `json:"alpn"`
	ClientCert string `json:"clientCert,omitempty"` // subject
}

var self = pod{os.Getenv("POD_NAME"), os.Getenv("POD_NAMESPACE"), os.Getenv("SERVICE_NAME"), os.Getenv("NODE_NAME")}

func describe(r *http.Request) *reply {
	out := &reply{
		Method: r.Method, Path: r.URL.Path, RawPath: r.RequestURI, Query: r.URL.Query(), Host: r.Host, Proto: r.Proto,
		Headers: r.Header, RemoteAddr: r.RemoteAddr, pod: self,
	}
	if a, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		out.LocalAddr = a.String()
	}
	if r.TLS != nil {
		out.TLS = &tlsInfo{Version: tls.VersionName(r.TLS.Version), SNI: r.TLS.ServerName, ALPN: r.TLS.NegotiatedProtocol}
		if len(r.TLS.PeerCertificates) > 0 {
			out.TLS.ClientCert = r.TLS.PeerCertificates[0].Subject.String()
		}
	}
	return out
}

// handler answers HTTP requests; gRPC and WebSocket go their own ways.
type handler struct{ grpc *grpc.Server }

var upgrader = websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.ProtoMajor == 2 && strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc"):
		h.grpc.ServeHTTP(w, r)
	case websocket.IsWebSocketUpgrade(r):
		serveWebSocket(w, r)
	default:
		serveHTTP(w, r)
	}
}

// serveHTTP obeys these query parameters:
//
//	status=N         response status
//	delay=DURATION   wait before the response headers
//	size=N           N bytes of text instead of the JSON description
//	chunks=N         with delay-chunk: send the body in N flushed pieces
//	header=K:V       add a response header (repeatable)
//	trailer=K:V      add a response trailer (repeatable)
//	abort=1          close the connection without an answer
func serveHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	out := describe(r)
	out.BodySize, _ = io.Copy(io.Discard, r.Body)
	out.Trailers = r.Trailer
	if d, err := time.ParseDuration(q.Get("delay")); err == nil {
		select {
		case <-time.After(d):
		case <-r.Context().Done():
			return
		}
	}
	if q.Has("abort") {
		panic(http.ErrAbortHandler)
	}
	for _, h := range q["header"] {
		if k, v, ok := strings.Cut(h, ":"); ok {
			w.Header().Add(k, v)
		}
	}
	for _, h := range q["trailer"] {
		if k, v, ok := strings.Cut(h, ":"); ok {
			w.Header().Add(http.TrailerPrefix+k, v)
		}
	}
	w.Header().Set("X-Echo-Pod", self.Pod)
	status, err := strconv.Atoi(q.Get("status"))
	if err != nil || status < 200 || status > 999 {
		status = http.StatusOK
	}
	var body []byte
	if n, err := strconv.Atoi(q.Get("size")); err == nil && n >= 0 {
		w.Header().Set("Content-Type", "text/plain")
		body = []byte(strings.Repeat("x", n))
	} else {
		w.Header().Set("Content-Type", "application/json")
		body, _ = json.MarshalIndent(out, "", " ")
		body = append(body, '\n')
	}
	if status == http.StatusNoContent || status == http.StatusNotModified {
		w.WriteHeader(status)
		return
	}
	chunks, _ := strconv.Atoi(q.Get("chunks"))
	if chunks < 2 {
		if len(q["trailer"]) == 0 {
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		}
		w.WriteHeader(status)
		w.Write(body)
		return
	}
	gap, _ := time.ParseDuration(q.Get("delay-chunk"))
	w.WriteHeader(status)
	for i := range chunks {
		if i > 0 {
			time.Sleep(gap)
		}
		w.Write(body[len(body)*i/chunks : len(body)*(i+1)/chunks])
		w.(http.Flusher).Flush()
	}
}

// serveWebSocket first sends the description of the upgrade request, then
// echoes messages.
func serveWebSocket(w http.ResponseWriter, r *http.Request) {
	upgrader := upgrader
	upgrader.Subprotocols = websocket.Subprotocols(r)
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer conn.Close()
	conn.WriteJSON(describe(r))
	for {
		kind, msg, err := conn.ReadMessage()
		if err != nil {
			return
		}
		if conn.WriteMessage(kind, msg) != nil {
			return
		}
	}
}

func main() {
	log.SetFlags(log.Ltime | log.Lmicroseconds)
	ports := os.Args[1:]
	if len(ports) == 0 {
		ports = strings.FieldsFunc(os.Getenv("CLUSTER_PORTS"), func(r rune) bool { return r == ',' })
	}
	if len(ports) == 0 {
		ports = []string{"8080/tcp"}
	}
	cert, err := certificate()
	if err != nil {
		log.Fatal(err)
	}
	h := &handler{grpc: newGRPC()}
	server := newServer(h)
	secure := &tls.Config{Certificates: []tls.Certificate{cert}, ClientAuth: tls.RequestClientCert, NextProtos: []string{"h2", "http/1.1"}}
	for _, spec := range ports {
		port, proto, _ := strings.Cut(spec, "/")
		if proto == "udp" {
			pc, err := net.ListenPacket("udp", ":"+port)
			if err != nil {
				log.Fatal(err)
			}
			go serveUDP(pc)
			continue
		}
		ln, err := net.Listen("tcp", ":"+port)
		if err != nil {
			log.Fatal(err)
		}
		log.Printf("listening on %s", ln.Addr())
		go func() {
			if err := server.Serve(newSniffer(ln, secure)); err != http.ErrServerClosed {
				log.Fatal(err)
			}
		}()
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	<-stop
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	server.Shutdown(ctx)
}

func newServer(h http.Handler) *http.Server {
	s := &http.Server{Handler: h, Protocols: new(http.Protocols)}
	s.Protocols.SetHTTP1(true)
	s.Protocols.SetHTTP2(true)
	s.Protocols.SetUnencryptedHTTP2(true)
	return s
}

func serveUDP(pc net.PacketConn) {
	buf := make([]byte, 64<<10)
	for {
		n, from, err := pc.ReadFrom(buf)
		if err != nil {
			return
		}
		b, _ := json.Marshal(struct {
			Data       string `json:"data"`
			RemoteAddr string `json:"remoteAddr"`
			pod
		}{string(buf[:n]), fmt.Sprint(from), self})
		pc.WriteTo(append(b, '\n'), from)
	}
}
