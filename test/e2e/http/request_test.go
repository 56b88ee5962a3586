// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package http

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/pires/go-proxyproto"
)

// request is one that is written byte by byte, so that nothing between the case and nginx tidies it.
type request struct {
	method, url string
	header      []string
	host        string // "" the URL's, "-" none
	sni         string // "" the URL's host, "-" none
	show        string // name of a client certificate; "" none
	tls         tlsOptions
	proxy       *proxyproto.Header // that comes first; nil for none
	from        string             // "" for any address
	body        int                // bytes; -1 no body
	chunked     bool
	times       int
	jar         bool // with the case's cookies
	meanwhile   bool
	until       bool
}

func newRequest(method, target string) (*request, error) {
	if !strings.HasPrefix(target, "http://") && !strings.HasPrefix(target, "https://") {
		return nil, fmt.Errorf("%q is no request: METHOD http://host/path", method+" "+target)
	}
	return &request{method: method, url: target, body: -1, times: 1}, nil
}

// option takes a ">" line.
func (r *request) option(text string) error {
	word, rest, _ := strings.Cut(text, " ")
	if known, err := r.tls.option(word, rest); known {
		return err
	}
	var err error
	switch {
	case word == "times":
		r.times, err = strconv.Atoi(rest)
	case word == "jar":
		r.jar = true
	case word == "until":
		r.until = true
	case word == "meanwhile":
		r.meanwhile = true
	case word == "body":
		r.body, err = strconv.Atoi(rest)
	case word == "chunked":
		r.chunked = true
		r.body, err = strconv.Atoi(rest)
	case word == "sni":
		r.sni = rest
	case word == "show":
		r.show = rest
	case word == "proxy":
		r.proxy, err = proxyHeader(strings.Fields(rest))
	case word == "from":
		r.from = rest
	case word == "Host:":
		r.host = rest
	case strings.Contains(word, ":"):
		r.header = append(r.header, text)
	default:
		err = fmt.Errorf("%q is no option of a request", text)
	}
	return err
}

// response is what came back.
type response struct {
	status      int
	header      http.Header
	body        string
	saw         seen // zero when no backend answered
	certificate string
	cipher      string
	resumed     bool
	record      int  // length of the longest TLS record
	continued   bool // 100 Continue came first
	log, errors string
	copies      string // see awaitCopies
	before      string // the backend that answered the request before
	took        time.Duration
}

func (r *request) send(s *stage) (*response, error) {
	u, err := url.Parse(r.url)
	if err != nil {
		// The path may be deliberately odd; only the host is needed.
		scheme, rest, _ := strings.Cut(r.url, "://")
		host, _, _ := strings.Cut(rest, "/")
		u = &url.URL{Scheme: scheme, Host: host}
	}
	_, target, _ := strings.Cut(strings.SplitN(r.url, "://", 2)[1], "/")
	port := s.httpPort
	if u.Scheme == "https" {
		port = s.httpsPort
	}
	conn, err := r.dial(port)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	out := &response{}
	if u.Scheme == "https" {
		records := &recorder{Conn: conn}
		defer func() { out.record = records.longest }()
		client := tls.Client(records, r.tlsConfig(s, u.Hostname()))
		if err := client.Handshake(); err != nil && r.tls.ciphers != nil {
			return &response{cipher: "none"}, nil
		} else if err != nil {
			return nil, fmt.Errorf("handshake: %w", err)
		}
		out.cipher = tls.CipherSuiteName(client.ConnectionState().CipherSuite)
		out.resumed = client.ConnectionState().DidResume
		out.certificate = client.ConnectionState().PeerCertificates[0].SerialNumber.String()
		conn = client
	}
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		return nil, err
	}
	start := time.Now()
	go func() { _, _ = conn.Write(r.bytes(u.Host, "/"+target)) }() // an early answer may end the connection
	if err := out.read(conn, r.method); err != nil {
		return nil, err
	}
	out.took = time.Since(start)
	return out, nil
}

// dial connects to a port, and sends the PROXY header.
func (r *request) dial(port int) (net.Conn, error) {
	dialer := net.Dialer{Timeout: 5 * time.Second}
	if r.from != "" {
		dialer.LocalAddr = &net.TCPAddr{IP: net.ParseIP(r.from)}
	}
	conn, err := dialer.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil || r.proxy == nil {
		return conn, err
	}
	if _, err := r.proxy.WriteTo(conn); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// proxyHeader reads VERSION CLIENT DESTINATION:PORT.
func proxyHeader(words []string) (*proxyproto.Header, error) {
	if len(words) != 3 {
		return nil, fmt.Errorf("a PROXY header is VERSION CLIENT DESTINATION:PORT")
	}
	client, err := netip.ParseAddr(words[1])
	if err != nil {
		return nil, err
	}
	destination, err := netip.ParseAddrPort(words[2])
	if err != nil {
		return nil, err
	}
	return proxyproto.HeaderProxyFromAddrs(words[0][0]-'0',
		net.TCPAddrFromAddrPort(netip.AddrPortFrom(client, 40000)), net.TCPAddrFromAddrPort(destination)), nil
}

// tlsConfig gives what the client has for the handshake.
func (r *request) tlsConfig(s *stage, host string) *tls.Config {
	config := &tls.Config{InsecureSkipVerify: true, ServerName: r.serverName(host)}
	if r.show != "" {
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { // whatever authorities the server names
			certificate := s.pki.clients[r.show]
			return &certificate, nil
		}
	}
	r.tls.apply(config, s.sessions)
	return config
}

func cipherSuites(names string) ([]uint16, error) {
	var ids []uint16
	for name := range strings.FieldsSeq(names) {
		found := false
		for _, suite := range append(tls.CipherSuites(), tls.InsecureCipherSuites()...) {
			if suite.Name == name {
				ids, found = append(ids, suite.ID), true
			}
		}
		if !found {
			return nil, fmt.Errorf("%q is no cipher suite", name)
		}
	}
	return ids, nil
}

func (r *request) serverName(host string) string {
	switch r.sni {
	case "":
		return host
	case "-":
		return ""
	}
	return r.sni
}

func (r *request) bytes(host, target string) []byte {
	var out bytes.Buffer
	version := "1.1"
	if r.host == "-" {
		version = "1.0"
	}
	fmt.Fprintf(&out, "%s %s HTTP/%s\r\n", r.method, target, version)
	if r.host != "" {
		host = r.host
	}
	if r.host != "-" {
		fmt.Fprintf(&out, "Host: %s\r\n", host)
	}
	for _, h := range r.header {
		fmt.Fprintf(&out, "%s\r\n", h)
	}
	fmt.Fprint(&out, "Connection: close\r\n")
	body := bytes.Repeat([]byte("x"), max(r.body, 0))
	switch {
	case r.chunked:
		fmt.Fprintf(&out, "Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(body), body)
	case r.body >= 0:
		fmt.Fprintf(&out, "Content-Length: %d\r\n\r\n%s", len(body), body)
	default:
		fmt.Fprint(&out, "\r\n")
	}
	return out.Bytes()
}

func (r *response) read(conn net.Conn, method string) error {
	in := bufio.NewReader(conn)
	answer, err := http.ReadResponse(in, &http.Request{Method: method})
	for err == nil && answer.StatusCode == http.StatusContinue {
		r.continued = true
		answer, err = http.ReadResponse(in, &http.Request{Method: method})
	}
	if err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return fmt.Errorf("read body: %w", err)
	}
	r.status, r.header, r.body = answer.StatusCode, answer.Header, string(body)
	_ = json.Unmarshal(body, &r.saw) // not every answer is a backend's
	return nil
}

// check gives what is wrong, or "".
func (e expectation) check(r *response) string {
	compare := func(got, want string) string {
		if got != want {
			return fmt.Sprintf("%s is %q, want %q", e.verb, got, want)
		}
		return ""
	}
	switch e.verb {
	case "backend":
		switch {
		case e.text == "same":
			return compare(r.saw.Backend, r.before)
		case e.text == "other" && r.saw.Backend == r.before:
			return "backend is again " + r.before
		case e.text == "other":
			return ""
		}
		return compare(r.saw.Backend, e.text)
	case "cookie":
		name, attributes, _ := strings.Cut(e.text, ":")
		return compare(r.cookie(name), strings.TrimSpace(attributes))
	case "path":
		return compare(r.saw.URI, e.text)
	case "method":
		return compare(r.saw.Method, e.text)
	case "host":
		return compare(r.saw.Host, e.text)
	case "proto":
		return compare(r.saw.Proto, e.text)
	case "bytes":
		return compare(fmt.Sprint(r.saw.Bytes), e.text)
	case "got":
		name, value, _ := strings.Cut(e.text, ":")
		return compare(strings.Join(r.saw.Header.Values(name), ", "), strings.TrimSpace(value))
	case "header":
		name, value, _ := strings.Cut(e.text, ":")
		got := strings.Join(r.header.Values(name), ", ")
		if beginning, more := strings.CutSuffix(value, "..."); more && strings.HasPrefix(got, strings.TrimSpace(beginning)) {
			return ""
		}
		return compare(got, strings.TrimSpace(value))
	case "size":
		return compare(fmt.Sprint(len(r.body)), e.text)
	case "tries":
		_, upstream, _ := strings.Cut(r.log, "] [] ") // behind the names of the backends come the endpoints
		return compare(fmt.Sprint(strings.Count(upstream, "127.0.0.")), e.text)
	case "copy":
		return compare(cmp.Or(r.copies, "none"), e.text)
	case "continued":
		return compare(fmt.Sprint(r.continued), e.text)
	case "after", "within":
		bound, err := time.ParseDuration(e.text)
		if err != nil || e.verb == "after" && r.took < bound || e.verb == "within" && r.took > bound {
			return fmt.Sprintf("the answer took %s, want %s %s", r.took, e.verb, e.text)
		}
	case "tls":
		if !strings.Contains(r.saw.TLS+"\n", e.text) {
			return fmt.Sprintf("the backend saw the TLS %q, which lacks %q", r.saw.TLS, e.text)
		}
	case "cipher":
		return compare(r.cipher, e.text)
	case "resumed":
		return compare(fmt.Sprint(r.resumed), e.text)
	case "record":
		word, bound, _ := strings.Cut(e.text, " ")
		n, err := strconv.Atoi(bound)
		if err != nil || word == "over" && r.record <= n || word == "under" && r.record >= n {
			return fmt.Sprintf("the longest record has %d bytes, want %s", r.record, e.text)
		}
	case "certificate":
		return compare(r.certificate, e.text)
	case "refused":
		return "there was an answer"
	case "body":
		if !strings.Contains(r.body, e.text) {
			return fmt.Sprintf("body lacks %q", e.text)
		}
	case "lacks":
		if strings.Contains(r.body, e.text) || strings.Contains(fmt.Sprint(r.header), e.text) {
			return fmt.Sprintf("the answer contains %q", e.text)
		}
	case "errors":
		unwanted, without := strings.CutPrefix(e.text, "without ")
		if strings.Contains(r.errors, unwanted) == without {
			return fmt.Sprintf("error log %q", r.errors)
		}
	case "log":
		if e.text == "none" {
			return compare(r.log, "")
		}
		if !strings.Contains(r.log, e.text) {
			return fmt.Sprintf("log %q lacks %q", r.log, e.text)
		}
	default:
		status, err := strconv.Atoi(e.verb)
		if err != nil {
			return fmt.Sprintf("%q is no expectation", e.verb)
		}
		if r.status != status {
			return fmt.Sprintf("status is %d, want %d", r.status, status)
		}
	}
	return ""
}

// cookie gives the attributes of a cookie, with Expires in seconds from now, to the next hundred.
func (r *response) cookie(name string) string {
	var list []string
	for _, line := range r.header.Values("Set-Cookie") {
		pair, attributes, _ := strings.Cut(line, "; ")
		if !strings.HasPrefix(pair, name+"=") {
			continue
		}
		before, rest, found := strings.Cut(attributes, "Expires=")
		if found {
			date, after, _ := strings.Cut(rest, ";")
			at, err := http.ParseTime(date)
			if err == nil {
				date = fmt.Sprintf("%+d", time.Until(at).Round(100*time.Second)/time.Second)
			}
			attributes = before + "Expires=" + date + strings.TrimSuffix(";"+after, ";")
		}
		list = append(list, attributes)
	}
	return strings.Join(list, " AND ")
}
