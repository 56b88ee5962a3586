// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/nginx"
	"github.com/fairway-ingress/fairway/test/freeport"
)

// proxy is one of the compared programs, running.
type proxy struct {
	name string
	port int
	path string     // asked for
	pid  func() int // the process that does the work; it may change with a reload
	stop func()
}

const backendPort = 9101

// startBackends runs an nginx that answers 64 bytes on two ports, on the load generator's core.
func startBackends(dir string) (func(), error) {
	return startNginx(filepath.Join(dir, "backend"), fmt.Sprintf(`
worker_processes 1; events { worker_connections 4096; }
http { access_log off; keepalive_requests 1000000;
  server { listen 127.0.0.1:%d backlog=4096; listen 127.0.0.1:%d backlog=4096;
    location / { return 200 "0123456789012345678901234567890123456789012345678901234567890123"; } } }
`, backendPort, backendPort+1), nil)
}

// startNginx runs an nginx of its own in dir until the function it gives is called; pid receives the master's.
func startNginx(dir, conf string, pid *int) (func(), error) {
	if err := os.MkdirAll(dir, 0o711); err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, []byte("daemon off; pid "+dir+"/pid;\n"+conf), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.Command("/usr/sbin/nginx", "-c", file, "-e", filepath.Join(dir, "error.log"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if pid != nil {
		*pid = cmd.Process.Pid
	}
	return func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	}, awaitFile(filepath.Join(dir, "pid"))
}

func awaitFile(path string) error {
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return nil
		}
	}
	return errors.New(path + " did not appear")
}

func awaitPort(port int) error {
	var err error
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		var conn net.Conn
		if conn, err = net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			return conn.Close()
		}
	}
	return err
}

// staticConf is what a person would write by hand for the same hosts: the same request and response headers, the same log.
func staticConf(port, hosts int, log string) string {
	var servers strings.Builder
	for i := range hosts {
		fmt.Fprintf(&servers, "server { listen 127.0.0.1:%d%s; server_name %s; location / { proxy_pass http://u; } }\n",
			port, map[bool]string{true: " backlog=4096"}[i == 0], hostName(i))
	}
	access := "access_log off;"
	if log != "" {
		access = "log_format upstreaminfo '" + strings.NewReplacer("$proxy_upstream_name", "ns-svc-80", "$proxy_alternative_upstream_name", "").
			Replace(model.DefaultLogFormat) + "'; access_log " + log + " upstreaminfo;"
	}
	return fmt.Sprintf(`load_module /usr/lib/nginx/modules/ngx_http_headers_more_filter_module.so;
worker_processes 1; pcre_jit on;
events { worker_connections 16384; multi_accept on; }
http {
  %s
  map $http_x_request_id $req_id { default $http_x_request_id; "" $request_id; }
  map $http_upgrade $connection_upgrade { default upgrade; "" ""; }
  server_names_hash_max_size 65536; server_names_hash_bucket_size 128;
  server_tokens off; more_clear_headers Server; tcp_nopush on; sendfile on; reset_timedout_connection on;
  client_max_body_size 1m;
  proxy_http_version 1.1; proxy_buffering off; proxy_request_buffering on; proxy_redirect off;
  proxy_set_header Host $http_host; proxy_set_header X-Request-ID $req_id; proxy_set_header X-Real-IP $remote_addr;
  proxy_set_header X-Forwarded-For $remote_addr; proxy_set_header X-Forwarded-Host $http_host; proxy_set_header X-Forwarded-Port %d;
  proxy_set_header X-Forwarded-Proto http; proxy_set_header X-Forwarded-Scheme http; proxy_set_header X-Scheme http;
  proxy_set_header X-Original-Forwarded-For $http_x_forwarded_for; proxy_set_header X-Original-Forwarded-Host $http_x_forwarded_host;
  proxy_set_header Proxy ""; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $connection_upgrade;
  upstream u { server 127.0.0.1:%d; server 127.0.0.1:%d; keepalive 320; keepalive_requests 10000; keepalive_time 1h; }
  %s
}
`, access, port, backendPort, backendPort+1, servers.String())
}

func hostName(i int) string { return fmt.Sprintf("host%05d.example", i) }

func startStatic(dir string, port, hosts int, log string) (*proxy, error) {
	var master int
	stop, err := startNginx(dir, staticConf(port, hosts, log), &master)
	if err != nil {
		return nil, err
	}
	return &proxy{name: "static nginx", port: port, path: "/", pid: func() int { return firstChild(master) }, stop: stop}, nil
}

// startHAProxy routes hosts by a map, as its own ingress controller does.
func startHAProxy(dir string, port, hosts int) (*proxy, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	var table strings.Builder
	for i := range hosts {
		fmt.Fprintf(&table, "%s u\n", hostName(i))
	}
	hostMap, file := filepath.Join(dir, "hosts.map"), filepath.Join(dir, "haproxy.cfg")
	if err := os.WriteFile(hostMap, []byte(table.String()), 0o644); err != nil {
		return nil, err
	}
	conf := fmt.Sprintf(`global
  nbthread 1
  maxconn 4000
defaults
  mode http
  timeout connect 5s
  timeout client 75s
  timeout server 60s
frontend f
  bind 127.0.0.1:%d
  unique-id-format %%{+X}o%%ci%%cp%%Ts%%rt%%pid
  http-request set-header X-Request-ID %%[unique-id]
  http-request set-header X-Real-IP %%[src]
  http-request set-header X-Forwarded-For %%[src]
  http-request set-header X-Forwarded-Host %%[req.hdr(host)]
  http-request set-header X-Forwarded-Port %d
  http-request set-header X-Forwarded-Proto http
  http-request set-header X-Forwarded-Scheme http
  http-request set-header X-Scheme http
  http-request del-header Proxy
  use_backend %%[req.hdr(host),lower,map(%s)]
backend u
  balance roundrobin
  http-reuse always
  server a 127.0.0.1:%d
  server b 127.0.0.1:%d
`, port, port, hostMap, backendPort, backendPort+1)
	if err := os.WriteFile(file, []byte(conf), 0o644); err != nil {
		return nil, err
	}
	if out, err := exec.Command("haproxy", "-c", "-q", "-f", file).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("haproxy refuses its configuration: %w: %s", err, out)
	}
	cmd := exec.Command("haproxy", "-db", "-f", file)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start haproxy: %w", err)
	}
	p := &proxy{name: "HAProxy", port: port, path: "/", pid: func() int { return cmd.Process.Pid }, stop: func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	}}
	if err := awaitPort(port); err != nil {
		p.stop()
		return nil, err
	}
	return p, nil
}

// startFairway runs the driver with a model of so many hosts and gives the ways through it. Path /second is of a shape of its own, /policies has what
// policyRoute says. Traffic is what of the requests is counted; nil for nothing.
func startFairway(dir string, port, hosts int, log *os.File, traffic *model.TrafficOptions) ([]*proxy, error) {
	driver, err := nginx.New(nginx.Options{
		RuntimeDir: dir, Address: "127.0.0.1", HTTPPort: port, HTTPSPort: port + 1,
		AccessLog: log, ErrorLog: discard{}, Traffic: traffic, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- driver.Run(ctx) }()
	stop := func() { cancel(); <-ended }
	applied, done := context.WithTimeout(ctx, time.Minute)
	defer done()
	if _, err := driver.Apply(applied, fairwayModel(hosts, log != nil)); err != nil {
		stop()
		return nil, err
	}
	pid := func() int {
		text, _ := os.ReadFile(filepath.Join(dir, "nginx.pid"))
		var master int
		_, _ = fmt.Sscan(string(text), &master)
		return firstChild(master)
	}
	same := func(name, path string) *proxy {
		return &proxy{name: name, port: port, path: path, pid: pid, stop: func() {}}
	}
	first := same(defaultShape, "/")
	first.stop = stop
	return []*proxy{first, same(secondShape, "/second"), same(fourPolicies, "/policies")}, nil
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

func fairwayModel(hosts int, log bool) *model.Model {
	m := &model.Model{Settings: model.DefaultSettings(), Hosts: []*model.Host{{Name: model.CatchAll}}}
	m.Settings.Workers, m.Settings.AccessLog, m.Settings.WorkerShutdownTimeout = 1, log, time.Second
	id := model.BackendID{Namespace: "ns", Service: "svc", Port: "80"}
	m.Backends = []*model.Backend{{ID: id, Endpoints: []model.Endpoint{
		model.NewEndpoint(netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), backendPort)),
		model.NewEndpoint(netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), backendPort+1)),
	}}}
	for i := range hosts {
		owner := model.Ref{Kind: "Ingress", Namespace: "ns", Name: hostName(i)}
		plain := &model.Route{Owner: owner, Path: "/", Backend: id, Policy: m.Settings.Route}
		plain.Policy.HTTPSRedirect = false
		second := *plain
		second.Path, second.Policy.Host = "/second", "other.example"
		policies := policyRoute(plain)
		m.Hosts = append(m.Hosts, &model.Host{Name: hostName(i), Matches: []model.Match{
			{Kind: model.Exact, Path: "/second", Route: &second}, {Kind: model.Prefix, Path: "/second/", Route: &second},
			{Kind: model.Exact, Path: "/policies", Route: policies}, {Kind: model.Prefix, Path: "/policies/", Route: policies},
			{Kind: model.Prefix, Path: "/", Route: plain},
		}})
	}
	return m
}

// policyRoute is a route with a rate limit that is never reached, CORS for the origin of the load, an allow list and a canary.
func policyRoute(plain *model.Route) *model.Route {
	r := *plain
	r.Path = "/policies"
	r.Policy.RateLimit = &model.RateLimit{Name: "ns/limited", PerSecond: 1000000, SecondBurst: 5000000}
	r.Policy.CORS = &model.CORS{
		Origins: []string{"https://app.example", "https://*.example.org"}, Methods: "GET, PUT, POST, DELETE, PATCH, OPTIONS",
		Headers: "DNT,Keep-Alive,User-Agent,X-Requested-With,If-Modified-Since,Cache-Control,Content-Type,Range,Authorization", Credentials: true, MaxAge: 1728000,
	}
	r.Policy.Access = &model.Access{Allow: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("127.0.0.0/8")}}
	r.Canaries = []model.Canary{{Owner: r.Owner, Backend: r.Backend, Header: "X-Canary", Weight: 10, WeightTotal: 100}}
	return &r
}

// firstChild gives a process that pid has started, or 0.
func firstChild(pid int) int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%[1]d/task/%[1]d/children", pid))
	var child int
	_, _ = fmt.Sscan(string(text), &child)
	return child
}

// freePorts gives ports that are this process' own as long as it runs.
func freePorts(n int) ([]int, error) {
	var ports []int
	for range n {
		port, _, err := freeport.Reserve()
		if err != nil {
			return nil, err
		}
		ports = append(ports, port)
	}
	return ports, nil
}
