// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package http

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// rule is an Ingress of one host and Prefix path with annotations, as YAML flow.
func rule(name, host, path, service, annotations string) string {
	return fmt.Sprintf(`---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: %s, annotations: {%s}}
spec: {rules: [{host: %q, http: {paths: [{path: %q, pathType: Prefix, backend: {service: {name: %s, port: {number: 80}}}}]}}]}
`, name, annotations, host, path, service)
}

const prefix = "nginx.ingress.kubernetes.io/"

func TestWebSocketsSurviveChanges(t *testing.T) {
	shared.apply(t, rule("ws", "ws.example", "/", "web", ""), "")
	for _, scheme := range []string{"ws", "wss"} {
		t.Run(scheme, func(t *testing.T) {
			port := shared.httpPort
			if scheme == "wss" {
				port = shared.httpsPort
			}
			dialer := websocket.Dialer{
				TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
				NetDialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
					return (&net.Dialer{}).DialContext(ctx, network, fmt.Sprintf("127.0.0.1:%d", port))
				},
			}
			conn, _, err := dialer.Dial(scheme+"://ws.example/chat", nil)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			echo := func(text string) {
				t.Helper()
				if err := conn.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
					t.Fatal(err)
				}
				if err := conn.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
					t.Fatal(err)
				}
				if _, got, err := conn.ReadMessage(); err != nil || string(got) != text {
					t.Fatalf("got %q, %v", got, err)
				}
			}
			echo("first")
			shared.apply(t, rule("ws", "ws.example", "/", "blue", ""), "")
			echo("after a push that moved the route away")
			reloads := shared.reloads
			shared.apply(t, rule("ws", "ws.example", "/", "web", fmt.Sprintf(prefix+`proxy-body-size: "%d"`, 7000+len(scheme))), "")
			if shared.reloads == reloads {
				t.Fatal("there was no reload to survive")
			}
			echo("after a reload")
		})
	}
}

// dialGRPC gives a client of host over TLS.
func dialGRPC(t *testing.T, host string) healthpb.HealthClient {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///"+host, grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{InsecureSkipVerify: true})),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", shared.httpsPort))
		}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return healthpb.NewHealthClient(conn)
}

func TestGRPC(t *testing.T) {
	shared.apply(t, rule("one", "grpc.example", "/", "grpc", prefix+"backend-protocol: GRPC")+
		rule("two", "grpcs.example", "/", "grpcs", prefix+"backend-protocol: GRPCS")+
		rule("none", "none.example", "/", "ghost", prefix+"backend-protocol: GRPC"), "")
	for host, want := range map[string]string{"grpc.example": "grpc", "grpcs.example": "grpcs"} {
		t.Run(want, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			client := dialGRPC(t, host)
			var header metadata.MD
			answer, err := client.Check(ctx, &healthpb.HealthCheckRequest{}, grpc.Header(&header))
			if err != nil || answer.Status != healthpb.HealthCheckResponse_SERVING {
				t.Fatalf("unary: %v, %v\n%s", answer, err, shared.errors.String())
			}
			if got := header.Get("backend"); len(got) != 1 || got[0] != want {
				t.Errorf("answered by %v", got)
			}
			if got := header.Get("saw"); len(got) != 1 || got[0] != host+" "+host {
				t.Errorf("backend saw authority and X-Forwarded-Host %v", got)
			}
			stream, err := client.Watch(ctx, &healthpb.HealthCheckRequest{})
			if err != nil {
				t.Fatal(err)
			}
			messages := 0
			for {
				if _, err := stream.Recv(); err == io.EOF {
					break
				} else if err != nil {
					t.Fatal(err)
				}
				messages++
			}
			if messages != 3 {
				t.Errorf("%d messages of the stream", messages)
			}
		})
	}
	t.Run("no endpoints", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_, err := dialGRPC(t, "none.example").Check(ctx, &healthpb.HealthCheckRequest{})
		if status.Code(err) != codes.Unavailable {
			t.Errorf("got %v", err)
		}
	})
}

// h2Client speaks HTTP/2 over TLS to nginx, whatever the host.
func h2Client() *http.Client {
	return &http.Client{Timeout: time.Minute, Transport: &http.Transport{
		ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, fmt.Sprintf("127.0.0.1:%d", shared.httpsPort))
		},
	}}
}

// unsized hides the length of a body, so that none is announced.
type unsized struct{ io.Reader }

// zeros is an endless body.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestHTTP2(t *testing.T) {
	shared.apply(t, rule("small", "h2.example", "/small", "web", prefix+"proxy-body-size: 1k")+
		rule("any", "h2.example", "/any", "web", prefix+`proxy-body-size: "0"`), "")
	client := h2Client()
	post := func(path string, size int64, announce bool) (int, seen) {
		t.Helper()
		var body io.Reader = io.LimitReader(zeros{}, size)
		request, err := http.NewRequest(http.MethodPost, "https://h2.example"+path, unsized{body})
		if err != nil {
			t.Fatal(err)
		}
		if announce {
			request.ContentLength = size
		}
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if response.ProtoMajor != 2 {
			t.Fatalf("protocol %s", response.Proto)
		}
		var s seen
		_ = json.NewDecoder(response.Body).Decode(&s) // an error page is none
		return response.StatusCode, s
	}
	for _, announce := range []bool{true, false} {
		if code, s := post("/small", 1024, announce); code != 200 || s.Bytes != 1024 {
			t.Errorf("announced %v: at the limit: %d, %d bytes", announce, code, s.Bytes)
		}
		if code, _ := post("/small", 1025, announce); code != 413 {
			t.Errorf("announced %v: above the limit: %d", announce, code)
		}
		sum := sha256.New()
		const size = 100 << 20
		_, _ = io.CopyN(sum, zeros{}, size)
		if code, s := post("/any", size, announce); code != 200 || s.Sum != hex.EncodeToString(sum.Sum(nil)) {
			t.Errorf("announced %v: 100 MiB: %d, %d bytes", announce, code, s.Bytes)
		}
	}
	response, err := client.Get("https://h2.example/any?size=104857600")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if n, err := io.Copy(io.Discard, response.Body); n != 100<<20 || err != nil {
		t.Errorf("download: %d bytes, %v", n, err)
	}
}

func TestIPv6Endpoint(t *testing.T) {
	l, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Skipf("this machine has no IPv6: %v", err)
	}
	server := &http.Server{Handler: serveEcho("six")}
	go func() { _ = server.Serve(l) }()
	defer server.Close()
	shared.apply(t, fmt.Sprintf(`
{apiVersion: v1, kind: Service, metadata: {name: six}, spec: {ports: [{port: 80}]}}
---
{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: six-1, labels: {kubernetes.io/service-name: six}}, addressType: IPv6,
 ports: [{port: %d}], endpoints: [{addresses: ["::1"]}]}
`, l.Addr().(*net.TCPAddr).Port)+rule("six", "six.example", "/", "six", ""), "")
	r, err := (&request{method: "GET", url: "http://six.example/", body: -1}).send(shared)
	if err != nil || r.saw.Backend != "six" {
		t.Errorf("got %+v, %v", r, err)
	}
}
