// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package http

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"
)

// rawBackend gives manifests of a Service at address, which a test serves itself.
func rawBackend(name string, address net.Addr) string {
	port := address.(*net.TCPAddr).Port
	return fmt.Sprintf(`
{apiVersion: v1, kind: Service, metadata: {name: %[1]s}, spec: {ports: [{port: 80}]}}
---
{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: %[1]s-1, labels: {kubernetes.io/service-name: %[1]s}}, addressType: IPv4,
 ports: [{port: %[2]d}], endpoints: [{addresses: ["127.0.0.1"]}]}
`, name, port)
}

func listenRaw(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// dialRaw connects to nginx' plain port and sends text.
func dialRaw(t *testing.T, text string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", shared.httpPort))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	return conn
}

// TestRequestBuffering: off lets the backend see a request before its body is complete, on does not.
func TestRequestBuffering(t *testing.T) {
	began := make(chan string, 4)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		began <- r.Host
		_, _ = io.Copy(io.Discard, r.Body) // nginx is asked for nothing here
	}))
	t.Cleanup(server.Close) // after the connections
	shared.apply(t, rawBackend("own", server.Listener.Addr())+
		rule("off", "off.example", "/", "own", prefix+`proxy-request-buffering: "off"`)+rule("on", "on.example", "/", "own", prefix+`proxy-request-buffering: "on"`), "")
	half := "POST / HTTP/1.1\r\nHost: %s\r\nContent-Length: 10\r\n\r\n12345"
	dialRaw(t, fmt.Sprintf(half, "off.example"))
	select {
	case <-began:
	case <-time.After(5 * time.Second):
		t.Fatal("the backend did not see the beginning of the request")
	}
	conn := dialRaw(t, fmt.Sprintf(half, "on.example"))
	select {
	case host := <-began:
		t.Fatalf("the backend saw the request of %s before its body was complete", host)
	case <-time.After(200 * time.Millisecond):
	}
	if _, err := io.WriteString(conn, "67890"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-began:
	case <-time.After(5 * time.Second):
		t.Fatal("the backend did not see the complete request")
	}
}

// TestResponseBuffering: on lets a backend finish though the client does not read, off does not.
func TestResponseBuffering(t *testing.T) {
	const size = 64 << 20 // more than the kernel's buffers hold
	finished := make(chan string, 4)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		writeZeros(w, size)
		finished <- r.Host
	}))
	t.Cleanup(server.Close) // after the connections
	shared.apply(t, rawBackend("own", server.Listener.Addr())+
		rule("off", "off.example", "/", "own", prefix+`proxy-buffering: "off"`)+rule("on", "on.example", "/", "own", prefix+`proxy-buffering: "on"`), "")
	for _, host := range []string{"off.example", "on.example"} {
		dialRaw(t, "GET / HTTP/1.1\r\nHost: "+host+"\r\n\r\n")
	}
	select {
	case host := <-finished:
		if host != "on.example" {
			t.Errorf("%s was read ahead", host)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("nothing was read ahead")
	}
	select {
	case host := <-finished:
		t.Errorf("%s was read ahead too", host)
	case <-time.After(100 * time.Millisecond):
	}
}

// TestSendTimeout: a backend that does not read is 504.
func TestSendTimeout(t *testing.T) {
	l := listenRaw(t)
	shared.apply(t, rawBackend("own", l.Addr())+rule("deaf", "deaf.example", "/", "own", prefix+`proxy-send-timeout: "1", `+prefix+`proxy-next-upstream: "off", `+prefix+`proxy-body-size: "0"`), "")
	client := &http.Client{Timeout: 10 * time.Second}
	request, err := http.NewRequest(http.MethodPost, fmt.Sprintf("http://127.0.0.1:%d/", shared.httpPort), bytes.NewReader(make([]byte, 32<<20)))
	if err != nil {
		t.Fatal(err)
	}
	request.Host = "deaf.example"
	begin := time.Now()
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if took := time.Since(begin); response.StatusCode != http.StatusGatewayTimeout || took > 5*time.Second {
		t.Errorf("status %d after %s", response.StatusCode, took)
	}
}

// TestConnectTimeout: an endpoint whose queue of connections is full does not answer; then it is 504.
func TestConnectTimeout(t *testing.T) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	address := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: name.(*syscall.SockaddrInet4).Port}
	for range 8 { // nobody accepts; once one waits in vain, the queue is full
		conn, err := net.DialTimeout("tcp", address.String(), 200*time.Millisecond)
		if err != nil {
			break
		}
		defer conn.Close()
	}
	shared.apply(t, rawBackend("own", address)+rule("full", "full.example", "/", "own", prefix+`proxy-connect-timeout: "1", `+prefix+`proxy-next-upstream: "off"`), "")
	begin := time.Now()
	r, err := (&request{method: "GET", url: "http://full.example/", body: -1}).send(shared)
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); r.status != 504 || took > 4*time.Second {
		t.Errorf("status %d after %s", r.status, took)
	}
}

// TestBufferCombinations lets nginx judge random combinations of sizes, in annotations over settings: whatever people write, the configuration
// must be taken, and a response still come through.
func TestBufferCombinations(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	sizes := []string{"1k", "2k", "4k", "4096b", "6k", "8k", "12k", "16k", "32k", "100k", "1m", "0", "1g", "9g", "x", "1"}
	numbers := []string{"1", "2", "3", "4", "8", "100", "-1", "1024", "4096"}
	combination := func(separator, prefix string) string {
		var list []string
		for key, values := range map[string][]string{
			"proxy-buffer-size": sizes, "proxy-busy-buffers-size": sizes, "proxy-max-temp-file-size": sizes, "client-body-buffer-size": sizes, "proxy-buffers-number": numbers,
			"proxy-buffering": {"on", "off"},
		} {
			if random.IntN(2) == 0 {
				list = append(list, fmt.Sprintf("%s%s: %q", prefix, key, values[random.IntN(len(values))]))
			}
		}
		return strings.Join(list, separator)
	}
	for round := range 4 {
		var cluster strings.Builder
		for i := range 50 {
			cluster.WriteString(rule(fmt.Sprintf("r%d", i), fmt.Sprintf("r%d.example", i), "/", "web", combination(", ", prefix)))
		}
		settings := combination("\n", "")
		shared.apply(t, cluster.String(), settings)
		for i := range 10 {
			r, err := (&request{method: "GET", url: fmt.Sprintf("http://r%d.example/?size=200000", i*5), body: -1}).send(shared)
			if err != nil || r.status != 200 || len(r.body) != 200000 {
				t.Fatalf("round %d, r%d: %v, %+v\n%s\n%s", round, i*5, err, r.status, settings, cluster.String())
			}
		}
	}
}
