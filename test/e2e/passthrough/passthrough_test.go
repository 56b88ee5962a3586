// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package passthrough

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/pires/go-proxyproto"
)

const passes = `nginx.ingress.kubernetes.io/ssl-passthrough: "true", nginx.ingress.kubernetes.io/server-alias: alias.example`

// client is how one connection is made.
type client struct {
	address string // of this side
	server  string // address to connect to
	wrap    func(net.Conn) net.Conn
	config  *tls.Config // nil for the usual one
}

// get asks over one connection, and gives the name in the certificate that the server showed and the answer.
func (c *controller) get(name string, how client) (certificate, body string, err error) {
	if how.server == "" {
		how.server = "127.0.0.1"
	}
	config := &tls.Config{}
	if how.config != nil {
		config = how.config.Clone()
	}
	config.InsecureSkipVerify, config.ServerName = true, name
	config.VerifyConnection = func(state tls.ConnectionState) error {
		certificate = state.PeerCertificates[0].Subject.CommonName
		return nil
	}
	transport := &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: config,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			dialer := net.Dialer{}
			if how.address != "" {
				dialer.LocalAddr = &net.TCPAddr{IP: net.ParseIP(how.address)}
			}
			conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(how.server, fmt.Sprint(c.HTTPSPort)))
			if err == nil && how.wrap != nil {
				conn = how.wrap(conn)
			}
			return conn, err
		},
	}
	response, err := (&http.Client{Transport: transport, Timeout: 20 * time.Second}).Post("https://"+name+"/x", "text/plain", strings.NewReader("12345"))
	if err != nil {
		return certificate, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return certificate, string(text), err
}

// expect demands who shows a certificate, and how the answer begins.
func (c *controller) expect(name string, how client, certificate, body string) {
	c.T.Helper()
	gotCertificate, gotBody, err := c.get(name, how)
	if err != nil || gotCertificate != certificate || !strings.HasPrefix(gotBody, body) {
		c.T.Errorf("%s: certificate %q, answer %q, error %v; want %q, %q", name, gotCertificate, gotBody, err, certificate, body)
	}
}

// chopped writes what it is given in pieces of so many bytes, a segment each.
type chopped struct {
	net.Conn
	size int
}

func (c chopped) Write(p []byte) (int, error) {
	written := 0
	for len(p) > 0 {
		n, err := c.Conn.Write(p[:min(c.size, len(p))])
		written += n
		if err != nil {
			return written, err
		}
		p = p[n:]
	}
	return written, nil
}

// records writes the first record, which is the hello, as records of so many bytes.
type records struct {
	net.Conn
	size int
	done *bool
}

func (r records) Write(p []byte) (int, error) {
	if *r.done {
		return r.Conn.Write(p)
	}
	*r.done = true
	var out []byte
	n := 5 + int(binary.BigEndian.Uint16(p[3:]))
	for message := p[5:n]; len(message) > 0; {
		size := min(r.size, len(message))
		out = binary.BigEndian.AppendUint16(append(out, p[:3]...), uint16(size))
		out, message = append(out, message[:size]...), message[size:]
	}
	_, err := r.Conn.Write(append(out, p[n:]...))
	return len(p), err
}

func TestPassthrough(t *testing.T) {
	https, plain, echo := startBackends(t)
	c := start(t, objects(https, plain, echo, "", passes))
	own, body, err := c.get("normal.example", client{})
	if err != nil || own == backendName || !strings.HasPrefix(body, "plain for=127.0.0.1 port=443 proto=https") {
		t.Fatalf("normal.example: certificate %q, answer %q, error %v", own, body, err)
	}

	t.Run("names", func(t *testing.T) {
		c.T = t
		c.expect("pass.example", client{}, backendName, "backend pass.example 5")
		c.expect("PASS.example", client{}, backendName, "backend PASS.example 5")
		c.expect("alias.example", client{}, backendName, "backend alias.example 5")
		c.expect("one.wild.example", client{}, backendName, "backend one.wild.example 5")
		if certificate, body, err := c.get("two.one.wild.example", client{}); err != nil || certificate != own || strings.HasPrefix(body, "backend") {
			t.Errorf("a wildcard covers two labels: certificate %q, answer %q, error %v", certificate, body, err)
		}
		if certificate, body, err := c.get("rootless.example", client{}); err == nil {
			t.Errorf("a host without / answers: certificate %q, answer %q", certificate, body)
		}
	})
	t.Run("ways to say hello", func(t *testing.T) {
		c.T = t
		long := &tls.Config{NextProtos: append(longNames(), "http/1.1")}
		for name, how := range map[string]client{
			"byte by byte":           {wrap: func(conn net.Conn) net.Conn { return chopped{conn, 1} }},
			"records of 10 bytes":    {wrap: func(conn net.Conn) net.Conn { return records{conn, 10, new(bool)} }},
			"TLS 1.2":                {config: &tls.Config{MaxVersion: tls.VersionTLS12}},
			"post-quantum key share": {config: &tls.Config{CurvePreferences: []tls.CurveID{tls.X25519MLKEM768, tls.X25519}}},
			"16 KiB":                 {config: long},
			"16 KiB in pieces":       {config: long, wrap: func(conn net.Conn) net.Conn { return chopped{conn, 700} }},
			"IPv6":                   {server: "::1"},
		} {
			t.Run(name, func(t *testing.T) {
				c.T = t
				c.expect("pass.example", how, backendName, "backend pass.example 5")
				if !strings.HasPrefix(name, "16 KiB") { // nginx refuses those, which is its own affair
					c.expect("normal.example", how, own, "plain for=")
				}
			})
		}
	})
	t.Run("the client's address", func(t *testing.T) {
		c.T = t
		c.expect("normal.example", client{address: "127.0.0.7"}, own, "plain for=127.0.0.7 port=443 proto=https")
		c.expect("normal.example", client{server: "::1"}, own, "plain for=::1 port=443 proto=https")
	})
	t.Run("no TLS", func(t *testing.T) {
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", c.HTTPSPort))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: normal.example\r\n\r\n")
		answer := make([]byte, 12)
		if _, err := io.ReadFull(conn, answer); err != nil || string(answer) != "HTTP/1.1 400" {
			t.Errorf("answer %q, error %v", answer, err)
		}
	})
	t.Run("programs", func(t *testing.T) {
		out, err := exec.Command("curl", "-sk", "--resolve", fmt.Sprintf("pass.example:%d:127.0.0.1", c.HTTPSPort), fmt.Sprintf("https://pass.example:%d/", c.HTTPSPort)).CombinedOutput()
		if err != nil || !strings.HasPrefix(string(out), "backend pass.example") {
			t.Errorf("curl: %v: %s", err, out)
		}
		command := exec.Command("openssl", "s_client", "-connect", fmt.Sprintf("127.0.0.1:%d", c.HTTPSPort), "-servername", "pass.example")
		command.Stdin = strings.NewReader("")
		out, err = command.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "CN = "+backendName) {
			t.Errorf("openssl: %v: %s", err, out)
		}
	})
	t.Run("bytes and half-close", func(t *testing.T) { checkEcho(t, c) })
	t.Run("changes", func(t *testing.T) {
		c.T = t
		before := c.Reloads()
		c.Write(objects(https, plain, echo, "", `nginx.ingress.kubernetes.io/backend-protocol: HTTPS`))
		c.Eventually("pass.example ends here", func() bool {
			certificate, body, err := c.get("pass.example", client{})
			return err == nil && certificate == own && strings.HasPrefix(body, "backend pass.example 5")
		})
		c.Write(objects(https, plain, echo, "", passes))
		c.Eventually("pass.example passes through again", func() bool {
			certificate, _, err := c.get("pass.example", client{})
			return err == nil && certificate == backendName
		})
		if after := c.Reloads(); after > before+1 { // one for the shape of HTTPS backends
			t.Errorf("%d reloads", after-before)
		}
	})
	t.Run("PROXY header of a load balancer", func(t *testing.T) {
		c.T = t
		c.Write(objects(https, plain, echo, `use-proxy-protocol: "true", proxy-real-ip-cidr: "127.0.0.1/32"`, passes))
		for _, version := range []byte{1, 2} {
			how := client{wrap: func(conn net.Conn) net.Conn { return introduced{conn, version, new(bool)} }}
			c.Eventually("nginx believes the header", func() bool {
				_, body, err := c.get("normal.example", how)
				return err == nil && strings.HasPrefix(body, "plain for=192.0.2.7 port=443 proto=https")
			})
			c.expect("pass.example", how, backendName, "backend pass.example 5")
			how.address = "127.0.0.9" // who is not in proxy-real-ip-cidr
			c.expect("normal.example", how, own, "plain for=127.0.0.9 port=443 proto=https")
		}
		if _, body, err := c.get("normal.example", client{}); err == nil {
			t.Errorf("a connection without header is served: %q", body)
		}
	})
	t.Run("forwarded headers", func(t *testing.T) {
		c.T = t
		c.Write(objects(https, plain, echo, `use-forwarded-headers: "true", proxy-real-ip-cidr: "127.0.0.1/32"`, passes))
		for address, want := range map[string]string{"127.0.0.1": "for=198.51.100.3", "127.0.0.9": "for=127.0.0.9"} {
			c.Eventually(want, func() bool {
				body, err := c.getForwarded(address)
				return err == nil && strings.Contains(body, want+" ")
			})
		}
	})
}

// introduced begins with a PROXY header of a client 192.0.2.7 that came to port 443.
type introduced struct {
	net.Conn
	version byte
	done    *bool
}

func (i introduced) Write(p []byte) (int, error) {
	if !*i.done {
		*i.done = true
		header := proxyproto.HeaderProxyFromAddrs(i.version, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 1234}, &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 443})
		if _, err := header.WriteTo(i.Conn); err != nil {
			return 0, err
		}
	}
	return i.Conn.Write(p)
}

// getForwarded asks normal.example with an X-Forwarded-For header, from an address.
func (c *controller) getForwarded(address string) (string, error) {
	dialer := tls.Dialer{NetDialer: &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}, Config: &tls.Config{InsecureSkipVerify: true, ServerName: "normal.example"}}
	conn, err := dialer.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", c.HTTPSPort))
	if err != nil {
		return "", err
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: normal.example\r\nX-Forwarded-For: 198.51.100.3\r\nConnection: close\r\n\r\n")
	text, err := io.ReadAll(conn)
	return string(text), err
}

// longNames makes a hello of 16 KiB.
func longNames() []string {
	var names []string
	for range 80 {
		names = append(names, strings.Repeat("p", 200))
	}
	return names
}

// checkEcho sends 64 MiB through, says that it is done, and still gets all of the answer.
func checkEcho(t *testing.T, c *controller) {
	conn, err := tls.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", c.HTTPSPort), &tls.Config{InsecureSkipVerify: true, ServerName: "echo.example"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	sent, got := sha256.New(), sha256.New()
	go func() {
		source := rand.NewChaCha8([32]byte{1})
		_, _ = io.CopyN(io.MultiWriter(conn, sent), source, 64<<20) // a failure shows in the sums
		_ = conn.CloseWrite()
	}()
	n, err := io.Copy(got, conn)
	if err != nil || n != 64<<20 || !bytes.Equal(sent.Sum(nil), got.Sum(nil)) {
		t.Errorf("%d of %d bytes came back, error %v, or others", n, 64<<20, err)
	}
}
