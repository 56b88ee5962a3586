// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package http

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// demanding is an Ingress for a host that demands certificates of an authority of the shared pki, which stands in a Secret of the authority's name.
func demanding(host, authority, annotations string) string {
	if annotations != "" {
		annotations = ", " + annotations
	}
	return rule(strings.ReplaceAll(host, ".", "-"), host, "/", "web", prefix+"auth-tls-secret: default/"+authority+annotations)
}

func (p *pki) secret(authority string) string {
	return secretOf(authority, map[string][]byte{"ca.crt": p.authorities[authority].pem})
}

// tlsClient makes connections with one memory of sessions, whatever the server name, as no honest client does.
type tlsClient struct {
	config tls.Config
}

// oneSession gives whatever session it got last, to any server.
type oneSession struct{ state *tls.ClientSessionState }

func (o *oneSession) Get(string) (*tls.ClientSessionState, bool)  { return o.state, o.state != nil }
func (o *oneSession) Put(_ string, state *tls.ClientSessionState) { o.state = state }

func newClient(certificate string, version uint16) *tlsClient {
	c := &tlsClient{tls.Config{InsecureSkipVerify: true, ClientSessionCache: &oneSession{}, MaxVersion: version}}
	if certificate != "" {
		c.config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			certificate := shared.pki.clients[certificate]
			return &certificate, nil
		}
	}
	return c
}

// connect gives a connection with a server name.
func (c *tlsClient) connect(t *testing.T, name string) *tls.Conn {
	t.Helper()
	config := c.config.Clone()
	config.ServerName = name
	conn, err := tls.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", shared.httpsPort), config)
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, shared.errors.String())
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// askOver sends a request for a host over a connection, and gives the status and what the backend was told about the certificate.
func askOver(t *testing.T, conn *tls.Conn, host string) (status int, verified string) {
	t.Helper()
	fmt.Fprintf(conn, "GET /x?header=X-Verified: HTTP/1.1\r\nHost: %s\r\n\r\n", host)
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("%s: %v", host, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"SUCCESS", "NONE", "FAILED"} {
		if strings.Contains(string(body), `"Ssl-Client-Verify":["`+word) {
			verified = word
		}
	}
	return response.StatusCode, verified
}

func (c *tlsClient) expect(t *testing.T, name string, status int, verified string, resumed bool) {
	t.Helper()
	conn := c.connect(t, name)
	gotStatus, gotVerified := askOver(t, conn, name)
	if got := conn.ConnectionState().DidResume; gotStatus != status || gotVerified != verified || got != resumed {
		t.Errorf("%s: status %d, certificate %q, resumed %v; want %d, %q, %v", name, gotStatus, gotVerified, got, status, verified, resumed)
	}
}

// TestSessionsBelongToDemands resumes sessions of one host on others: what was shown to one, or was not asked by it, must not count for another.
func TestSessionsBelongToDemands(t *testing.T) {
	shared.apply(t, rule("plain", "plain.example", "/", "web", "")+rule("plain2", "plain2.example", "/", "web", "")+
		demanding("m.example", "clients", "")+demanding("same.example", "clients", "")+demanding("others.example", "others", "")+
		demanding("optional.example", "clients", prefix+"auth-tls-verify-client: optional")+shared.pki.secret("clients")+shared.pki.secret("others"), "")
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		t.Run(tls.VersionName(version), func(t *testing.T) {
			t.Run("resumption works", func(t *testing.T) {
				if version == tls.VersionTLS12 {
					t.Skip("Go resumes those only by tickets; see TestSessionsByID")
				}
				c := newClient("alice", version)
				c.expect(t, "m.example", 200, "SUCCESS", false)
				c.expect(t, "m.example", 200, "SUCCESS", true)
				p := newClient("", version)
				p.expect(t, "plain.example", 200, "", false)
				p.expect(t, "plain.example", 200, "", true)
			})
			for _, other := range []string{"plain.example", "optional.example", "others.example"} {
				t.Run("from "+other, func(t *testing.T) {
					c := newClient("", version)
					c.expect(t, other, map[bool]int{true: 400, false: 200}[other == "others.example"], map[bool]string{true: "NONE"}[other == "optional.example"], false)
					c.expect(t, "m.example", 400, "", false)
				})
			}
			t.Run("with a certificate of another authority", func(t *testing.T) {
				c := newClient("mallory", version)
				c.expect(t, "others.example", 200, "SUCCESS", false)
				c.expect(t, "m.example", 400, "", false)
			})
			t.Run("to a plain host", func(t *testing.T) {
				c := newClient("alice", version)
				c.expect(t, "m.example", 200, "SUCCESS", false)
				c.expect(t, "plain.example", 200, "", false)
			})
			t.Run("of a bad certificate", func(t *testing.T) {
				c := newClient("mallory", version)
				c.expect(t, "m.example", 400, "", false)
				c.expect(t, "m.example", 400, "", version == tls.VersionTLS13)
			})
		})
	}
}

// TestSessionsByID resumes sessions of TLS 1.2 by their ID.
func TestSessionsByID(t *testing.T) {
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("needs openssl, as Go's client does not do this")
	}
	ingresses := rule("plain", "plain.example", "/", "web", "") + demanding("m.example", "ca", "") + demanding("same.example", "ca", "") +
		demanding("others.example", "others", "") + shared.pki.secret("others")
	apply := func(entries map[string][]byte) { shared.apply(t, ingresses+secretOf("ca", entries), "") }
	apply(map[string][]byte{"ca.crt": shared.pki.authorities["clients"].pem})
	dir := t.TempDir()
	alice := shared.pki.pairs["alice"]
	for name, text := range map[string][]byte{"alice.pem": append(alice.chain[:len(alice.chain):len(alice.chain)], alice.key...)} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// connect resumes the session in one file, if it is named, and gives the status of a request.
	connect := func(name string, options ...string) (status string, resumed bool) {
		t.Helper()
		command := exec.Command("openssl", append([]string{"s_client", "-connect", fmt.Sprintf("127.0.0.1:%d", shared.httpsPort), "-servername", name,
			"-tls1_2", "-no_ticket", "-ign_eof"}, options...)...)
		command.Dir = dir
		command.Stdin = strings.NewReader("GET / HTTP/1.1\r\nHost: " + name + "\r\nConnection: close\r\n\r\n")
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("openssl: %v\n%s", err, out)
		}
		_, after, _ := strings.Cut(string(out), "HTTP/1.1 ")
		return after[:3], strings.Contains(string(out), "\nReused, ")
	}
	expect := func(status string, resumed bool, name string, options ...string) {
		t.Helper()
		if gotStatus, gotResumed := connect(name, options...); gotStatus != status || gotResumed != resumed {
			t.Errorf("%s %v: status %s, resumed %v; want %s, %v", name, options, gotStatus, gotResumed, status, resumed)
		}
	}
	expect("200", false, "m.example", "-cert", "alice.pem", "-sess_out", "m")
	expect("200", true, "m.example", "-sess_in", "m")
	expect("200", true, "same.example", "-sess_in", "m")
	expect("200", false, "plain.example", "-sess_in", "m")
	expect("400", false, "others.example", "-sess_in", "m")
	expect("200", false, "plain.example", "-sess_out", "plain")
	expect("200", true, "plain.example", "-sess_in", "plain")
	expect("400", false, "m.example", "-sess_in", "plain")
	apply(map[string][]byte{"ca.crt": shared.pki.authorities["clients"].pem, "ca.crl": shared.pki.revocations})
	expect("400", false, "m.example", "-sess_in", "m")
}

// TestSessionsEndWithDemands: a session that was made before the Secret changed is not resumed.
func TestSessionsEndWithDemands(t *testing.T) {
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		t.Run(tls.VersionName(version), func(t *testing.T) {
			ingress := demanding("m.example", "ca", "")
			apply := func(entries map[string][]byte) { shared.apply(t, ingress+secretOf("ca", entries), "") }
			apply(map[string][]byte{"ca.crt": shared.pki.authorities["clients"].pem})
			reloads := shared.reloads
			c := newClient("revoked", version)
			c.expect(t, "m.example", 200, "SUCCESS", false)
			c.expect(t, "m.example", 200, "SUCCESS", version == tls.VersionTLS13)
			apply(map[string][]byte{"ca.crt": shared.pki.authorities["clients"].pem, "ca.crl": shared.pki.revocations})
			for range 4 { // both workers
				newClient("alice", version).expect(t, "m.example", 200, "SUCCESS", false)
			}
			c.expect(t, "m.example", 400, "", false)
			apply(map[string][]byte{"ca.crt": shared.pki.authorities["others"].pem})
			newClient("alice", version).expect(t, "m.example", 400, "", false)
			newClient("mallory", version).expect(t, "m.example", 200, "SUCCESS", false)
			if shared.reloads != reloads {
				t.Errorf("%d reloads", shared.reloads-reloads)
			}
		})
	}
}

// TestOpenConnectionsObeyChanges: a connection that is open while demands change is judged anew, and need not be made again if its certificate is still good.
func TestOpenConnectionsObeyChanges(t *testing.T) {
	ingress := demanding("m.example", "ca", "")
	clients, others := shared.pki.authorities["clients"].pem, shared.pki.authorities["others"].pem
	apply := func(entries map[string][]byte) {
		t.Helper()
		shared.apply(t, ingress+secretOf("ca", entries), "")
	}
	apply(map[string][]byte{"ca.crt": clients})
	connect := func(certificate string) *tls.Conn { return newClient(certificate, 0).connect(t, "m.example") }
	alice, deep, revoked := connect("alice"), connect("deep"), connect("revoked")
	expect := func(conn *tls.Conn, status int) {
		t.Helper()
		if got, _ := askOver(t, conn, "m.example"); got != status {
			t.Errorf("status %d, want %d", got, status)
		}
	}
	for _, conn := range []*tls.Conn{alice, deep, revoked} {
		expect(conn, 200)
	}
	apply(map[string][]byte{"ca.crt": append(others[:len(others):len(others)], clients...)})
	for _, conn := range []*tls.Conn{alice, deep, revoked} {
		expect(conn, 200)
		expect(conn, 200)
	}
	apply(map[string][]byte{"ca.crt": clients, "ca.crl": shared.pki.revocations})
	expect(alice, 200)
	expect(revoked, 421)
	apply(map[string][]byte{"ca.crt": others})
	expect(alice, 421)
	if _, err := alice.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("after 421 the connection is still open: %v", err)
	}

	// Demands that come to a host, and go from it.
	shared.apply(t, rule("m-example", "m.example", "/", "web", ""), "")
	plain := connect("alice")
	expect(plain, 200)
	apply(map[string][]byte{"ca.crt": clients})
	expect(plain, 421)
	known := connect("alice")
	expect(known, 200)
	shared.apply(t, rule("m-example", "m.example", "/", "web", ""), "")
	expect(known, 200)
}

// TestSharedConnections sends requests for several hosts over one HTTP/2 connection, as browsers do when a certificate is for all.
func TestSharedConnections(t *testing.T) {
	shared.apply(t, rule("plain", "plain.example", "/", "web", "")+demanding("m.example", "clients", "")+demanding("same.example", "clients", "")+
		shared.pki.secret("clients"), "")
	for _, test := range []struct {
		name, certificate string
		status            map[string]int
	}{
		{"plain.example", "alice", map[string]int{"plain.example": 200, "m.example": 421}},
		{"m.example", "alice", map[string]int{"plain.example": 421, "m.example": 200, "same.example": 200}},
		{"m.example", "mallory", map[string]int{"plain.example": 421, "m.example": 400, "same.example": 400}},
	} {
		config := newClient(test.certificate, 0).config.Clone()
		config.ServerName = test.name
		transport := &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: config, DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, fmt.Sprintf("127.0.0.1:%d", shared.httpsPort))
		}}
		for range 2 {
			for host, want := range test.status {
				request, err := http.NewRequest(http.MethodGet, "https://shared.example/", nil) // one host for the transport is one connection
				if err != nil {
					t.Fatal(err)
				}
				request.Host = host
				response, err := transport.RoundTrip(request)
				if err != nil {
					t.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, response.Body)
				response.Body.Close()
				if response.StatusCode != want || response.ProtoMajor != 2 {
					t.Errorf("%s over a connection for %s with the certificate of %s: %s %d, want %d", host, test.name, test.certificate, response.Proto, response.StatusCode, want)
				}
			}
		}
		transport.CloseIdleConnections()
	}
}

// TestClientsOrderOfCiphers sends a hello by hand, as Go's client has no say in the order of its ciphers.
func TestClientsOrderOfCiphers(t *testing.T) {
	shared.apply(t, rule("client", "client.example", "/", "web", prefix+`ssl-prefer-server-ciphers: "false"`)+rule("server", "server.example", "/", "web", ""), "")
	const aes128, aes256 = tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384
	for _, test := range []struct {
		name string
		list []uint16
		want uint16
	}{
		{"client.example", []uint16{aes256, aes128}, aes256}, {"client.example", []uint16{aes128, aes256}, aes128},
		{"server.example", []uint16{aes256, aes128}, aes128}, {"server.example", []uint16{aes128, aes256}, aes128},
	} {
		if got := chosenCipher(t, test.name, test.list); got != test.want {
			t.Errorf("%s offered %x chooses %x, want %x", test.name, test.list, got, test.want)
		}
	}
}

// chosenCipher sends a hello of TLS 1.2 with ciphers in an order, and reads the one of the server's answer.
func chosenCipher(t *testing.T, name string, list []uint16) uint16 {
	t.Helper()
	u16 := func(n int) []byte { return []byte{byte(n >> 8), byte(n)} }
	sized := func(b ...byte) []byte { return append(u16(len(b)), b...) }
	var ciphers, hello []byte
	for _, c := range list {
		ciphers = append(ciphers, u16(int(c))...)
	}
	extension := func(kind int, body []byte) []byte { return append(u16(kind), sized(body...)...) }
	extensions := append(extension(0, sized(append([]byte{0}, sized([]byte(name)...)...)...)), extension(10, sized(0, 29, 0, 23))...)
	extensions = append(extensions, extension(13, sized(8, 4, 4, 1, 4, 3))...)
	hello = append(hello, 3, 3)
	hello = append(hello, make([]byte, 33)...) // random, no session
	hello = append(hello, sized(ciphers...)...)
	hello = append(hello, 1, 0)
	hello = append(hello, sized(extensions...)...)
	message := append([]byte{1, 0}, sized(hello...)...)
	conn, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", shared.httpsPort), 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write(append([]byte{22, 3, 1}, sized(message...)...)); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 5+4+2+32+1)
	if _, err := io.ReadFull(conn, answer); err != nil || answer[0] != 22 {
		t.Fatalf("%s: no hello: %x, %v", name, answer, err)
	}
	rest := make([]byte, int(answer[43])+2)
	if _, err := io.ReadFull(conn, rest); err != nil {
		t.Fatal(err)
	}
	return uint16(rest[len(rest)-2])<<8 | uint16(rest[len(rest)-1])
}
