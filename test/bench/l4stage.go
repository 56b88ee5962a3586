// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/fairway-ingress/fairway/test/testbed"
)

// The programs that are compared.
const (
	nginxStream = "nginx stream"
	haproxyTCP  = "HAProxy, TCP mode"
)

// Hosts of the handshakes.
const (
	passthroughHost = "passthrough.example"
	terminatedHost  = "terminated.example"
)

// l4Stage is all programs and backends.
type l4Stage struct {
	program                      string // built from this source
	web, bulk, datagrams, secure int    // ports of backends
	certificate                  *corev1.Secret
	nginx, haproxy               func() int // processes that do the work
	answering, lasting           l4Fairway  // with one datagram for each of a client, and without a number
	ports                        map[string]int
	stops                        []func()
}

// l4Fairway is the whole program.
type l4Fairway struct {
	pid                  func() int
	web, bulk, datagrams int
	https                int
}

func newL4Stage(dir string) (l *l4Stage, err error) {
	l = &l4Stage{ports: map[string]int{}}
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	if l.certificate, err = testbed.NewTLSSecret("certificate", terminatedHost, 1); err != nil {
		return nil, err
	}
	if l.program, err = buildProgram(dir); err != nil {
		return nil, err
	}
	if err := l.startBackends(dir); err != nil {
		return nil, err
	}
	if err := l.startNginxStream(filepath.Join(dir, "stream")); err != nil {
		return nil, err
	}
	if err := l.startHAProxyTCP(dir); err != nil {
		return nil, err
	}
	if l.answering, err = l.startFairway(filepath.Join(dir, "a"), 1); err != nil {
		return nil, err
	}
	l.lasting, err = l.startFairway(filepath.Join(dir, "b"), -1, "--enable-ssl-passthrough")
	return l, err
}

func (l *l4Stage) close() {
	for _, stop := range l.stops {
		defer stop()
	}
}

// startBackends starts those that the load generator's core has.
func (l *l4Stage) startBackends(dir string) error {
	stop, err := startBackends(dir)
	if err != nil {
		return err
	}
	l.stops = append(l.stops, stop)
	l.web = backendPort
	pair, err := tls.X509KeyPair(l.certificate.Data[corev1.TLSCertKey], l.certificate.Data[corev1.TLSPrivateKeyKey])
	if err != nil {
		return err
	}
	for _, b := range []struct {
		port  *int
		serve func(net.Conn)
	}{
		{&l.bulk, serveBulk},
		{&l.secure, func(conn net.Conn) {
			_ = tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{pair}}).Handshake()
			_, _ = io.Copy(io.Discard, conn)
		}},
	} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		l.stops = append(l.stops, func() { _ = listener.Close() })
		*b.port = listener.Addr().(*net.TCPAddr).Port
		go acceptEach(listener, b.serve)
	}
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return err
	}
	l.stops = append(l.stops, func() { _ = conn.Close() })
	l.datagrams = conn.LocalAddr().(*net.UDPAddr).Port
	go echoDatagrams(conn)
	return nil
}

// reserve gives free ports for names.
func (l *l4Stage) reserve(names ...string) error {
	ports, err := freePorts(len(names))
	for i, port := range ports {
		l.ports[names[i]] = port
	}
	return err
}

func (l *l4Stage) startNginxStream(dir string) error {
	if err := l.reserve("nginx web", "nginx bulk", "nginx answering", "nginx lasting"); err != nil {
		return err
	}
	var master int
	stop, err := startNginx(dir, fmt.Sprintf(`load_module /usr/lib/nginx/modules/ngx_stream_module.so;
worker_processes 1; events { worker_connections 16384; multi_accept on; }
stream { access_log off; proxy_timeout 600s; proxy_connect_timeout 5s;
  server { listen 127.0.0.1:%d backlog=4096; proxy_pass 127.0.0.1:%d; }
  server { listen 127.0.0.1:%d backlog=4096; proxy_pass 127.0.0.1:%d; }
  server { listen 127.0.0.1:%d udp reuseport; proxy_responses 1; proxy_pass 127.0.0.1:%[6]d; }
  server { listen 127.0.0.1:%[7]d udp reuseport; proxy_pass 127.0.0.1:%[6]d; } }
`, l.ports["nginx web"], l.web, l.ports["nginx bulk"], l.bulk, l.ports["nginx answering"], l.datagrams, l.ports["nginx lasting"]), &master)
	if err != nil {
		return err
	}
	l.stops = append(l.stops, stop)
	l.nginx = func() int { return firstChild(master) }
	return pin(l.nginx(), "0")
}

func (l *l4Stage) startHAProxyTCP(dir string) error {
	if err := l.reserve("haproxy web", "haproxy bulk"); err != nil {
		return err
	}
	file := filepath.Join(dir, "tcp.cfg")
	if err := os.WriteFile(file, fmt.Appendf(nil, `global
  nbthread 1
  maxconn 8000
defaults
  mode tcp
  timeout connect 5s
  timeout client 600s
  timeout server 600s
listen web
  bind 127.0.0.1:%d
  server a 127.0.0.1:%d
listen bulk
  bind 127.0.0.1:%d
  server a 127.0.0.1:%d
`, l.ports["haproxy web"], l.web, l.ports["haproxy bulk"], l.bulk), 0o644); err != nil {
		return err
	}
	command, err := l.startPinned(os.Stderr, "haproxy", "-db", "-f", file)
	if err != nil {
		return err
	}
	l.haproxy = func() int { return command.Process.Pid }
	return awaitPort(l.ports["haproxy web"])
}

// startPinned runs a program on the proxies' core.
func (l *l4Stage) startPinned(log io.Writer, arguments ...string) (*exec.Cmd, error) {
	command := exec.Command("taskset", append([]string{"-c", "0"}, arguments...)...)
	command.Stderr = log
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", arguments[0], err)
	}
	l.stops = append(l.stops, func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		_ = command.Wait()
	})
	return command, nil
}

// buildProgram builds what is measured: a program that lies about may be of other source.
func buildProgram(dir string) (string, error) {
	root, err := testbed.RepositoryRoot()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "fairway"), testbed.Build(root, dir)
}

// startFairway runs the controller with files for objects.
func (l *l4Stage) startFairway(dir string, responses int, flags ...string) (l4Fairway, error) {
	ports, err := freePorts(6)
	if err != nil {
		return l4Fairway{}, err
	}
	if err := os.MkdirAll(dir, 0o711); err != nil {
		return l4Fairway{}, err
	}
	f := l4Fairway{web: ports[0], bulk: ports[1], datagrams: ports[2], https: ports[3]}
	objects := filepath.Join(dir, "objects.yaml")
	if err := os.WriteFile(objects, []byte(l.objects(&f, responses)), 0o600); err != nil {
		return l4Fairway{}, err
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return l4Fairway{}, err
	}
	defer log.Close()
	command, err := l.startPinned(log, append([]string{l.program, "controller", "--manifests", objects,
		"--runtime-dir", filepath.Join(dir, "run"), "--http-port", fmt.Sprint(ports[4]), "--https-port", fmt.Sprint(f.https),
		"--healthz-port", fmt.Sprint(ports[5]), "--healthz-host", "127.0.0.1", "--profiling=false",
		"--watch-ingress-without-class", "--allow-local-endpoints",
		"--configmap", "default/settings", "--tcp-services-configmap", "default/tcp", "--udp-services-configmap", "default/udp"}, flags...)...)
	if err != nil {
		return l4Fairway{}, err
	}
	f.pid = func() int { return command.Process.Pid }
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if response, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/readyz", ports[5])); err == nil {
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return f, nil
			}
		}
	}
	text, _ := os.ReadFile(log.Name())
	return f, errors.New("Fairway is not ready after a minute:\n" + string(text))
}

// objects are what Fairway is given.
func (l *l4Stage) objects(f *l4Fairway, responses int) string {
	var out strings.Builder
	add := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n---\n", args...) }
	add(`{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {
  worker-processes: "1", worker-shutdown-timeout: 1s, disable-access-log: "true", proxy-stream-responses: "%d"}}`, responses)
	add(`{apiVersion: v1, kind: ConfigMap, metadata: {name: tcp}, data: {"%d": "default/web:1", "%d": "default/bulk:1"}}`, f.web, f.bulk)
	add(`{apiVersion: v1, kind: ConfigMap, metadata: {name: udp}, data: {"%d": "default/datagrams:1"}}`, f.datagrams)
	for name, port := range map[string]int{"web": l.web, "bulk": l.bulk, "datagrams": l.datagrams, "secure": l.secure} {
		protocol := "TCP"
		if name == "datagrams" {
			protocol = "UDP"
		}
		add(`{apiVersion: v1, kind: Service, metadata: {name: %s}, spec: {ports: [{name: main, port: 1, protocol: %s}]}}`, name, protocol)
		add(`{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: %s, labels: {kubernetes.io/service-name: %[1]s}},
  addressType: IPv4, ports: [{name: main, port: %d, protocol: %s}], endpoints: [{addresses: [127.0.0.1]}]}`, name, port, protocol)
	}
	encoded := base64.StdEncoding.EncodeToString
	add(`{apiVersion: v1, kind: Secret, metadata: {name: certificate}, type: kubernetes.io/tls, data: {tls.crt: %s, tls.key: %s}}`,
		encoded(l.certificate.Data[corev1.TLSCertKey]), encoded(l.certificate.Data[corev1.TLSPrivateKeyKey]))
	for host, service := range map[string]string{passthroughHost: "secure", terminatedHost: "web"} {
		add(`{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: %s, annotations: {nginx.ingress.kubernetes.io/ssl-passthrough: "%t"}},
  spec: {tls: [{hosts: [%s], secretName: certificate}],
    rules: [{host: %[3]s, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: %s, port: {number: 1}}}}]}}]}}`,
			service, host == passthroughHost, host, service)
	}
	return out.String()
}

// contests are the kinds of work.
func (l *l4Stage) contests(length time.Duration) []contest {
	three := func(kind string, fairway int) []l4Proxy {
		return []l4Proxy{
			{nginxStream, l.ports["nginx "+kind], l.nginx}, {haproxyTCP, l.ports["haproxy "+kind], l.haproxy}, {"Fairway", fairway, l.answering.pid},
		}
	}
	two := func(kind string, fairway *l4Fairway) []l4Proxy {
		return []l4Proxy{{nginxStream, l.ports["nginx "+kind], l.nginx}, {"Fairway", fairway.datagrams, fairway.pid}}
	}
	exchange := func(ctx context.Context, port int) (float64, error) { return exchangeDatagrams(ctx, port, length) }
	return []contest{
		{
			name: "TCP, 4 connections of 256 MiB", unit: "GiB", timeUnit: "ms", scale: 1000, sides: three("bulk", l.answering.bulk),
			load: fetchBulk, against: nginxStream, budget: bulkBudget,
		},
		{
			name: "TCP, short connections", unit: "connection", timeUnit: "µs", scale: 1, sides: three("web", l.answering.web),
			load:    func(ctx context.Context, port int) (float64, error) { return fetchOnce(ctx, port, length) },
			against: haproxyTCP, budget: connectionBudget, rate: connectionBudget,
		},
		{
			name: "UDP, a session each", unit: "exchange", timeUnit: "µs", scale: 1, sides: two("answering", &l.answering),
			load: exchange, against: nginxStream,
		},
		{
			name: "UDP, 64 sessions", unit: "exchange", timeUnit: "µs", scale: 1, sides: two("lasting", &l.lasting),
			load: exchange, against: nginxStream,
		},
	}
}
