// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fairway-ingress/fairway/test/freeport"
	"github.com/fairway-ingress/fairway/test/testbed"
)

// asFairway makes this test binary the program itself.
const asFairway = "FAIRWAY_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asFairway) != "" {
		main()
	}
	os.Exit(m.Run())
}

// program is a running controller.
type program struct {
	command   *exec.Cmd
	log       *bytes.Buffer // to be read when it has ended
	dir       string
	http, own int // ports
}

// startProgram runs the controller on the folder objects in dir, with dir/run as runtime directory.
func startProgram(t *testing.T, dir string, arguments ...string) *program {
	t.Helper()
	p := &program{log: &bytes.Buffer{}, dir: dir, http: freeport.Take(t), own: freeport.Take(t)}
	all := append([]string{
		"controller", "--manifests", filepath.Join(dir, "objects"), "--runtime-dir", filepath.Join(dir, "run"), "--watch-ingress-without-class",
		"--allow-local-endpoints", "--bind-address", "127.0.0.1", "--healthz-host", "127.0.0.1", "--profiling=false",
		"--http-port", strconv.Itoa(p.http), "--https-port", strconv.Itoa(freeport.Take(t)), "--healthz-port", strconv.Itoa(p.own),
	}, arguments...)
	p.command = exec.Command(os.Args[0], all...)
	p.command.Env = append(os.Environ(), asFairway+"=1")
	p.command.Stdout, p.command.Stderr = p.log, p.log
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// patience is how long a test waits for what must come.
const patience = time.Minute

func get(port int, host, path string) (int, string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d%s", port, path), nil)
	if err != nil {
		return 0, err.Error()
	}
	request.Host = host
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err.Error()
	}
	return response.StatusCode, string(body)
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if is() {
			return
		}
	}
	t.Fatalf("not within %s: %s", patience, what)
}

// served writes an Ingress for shop.example whose one endpoint is a server.
func served(t *testing.T, dir string, server *httptest.Server) {
	t.Helper()
	port := server.Listener.Addr().(*net.TCPAddr).Port
	text := fmt.Sprintf(`apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop}
spec: {rules: [{host: shop.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {ports: [{port: 80}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: shop, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{port: %d}]
endpoints: [{addresses: [127.0.0.1]}]
`, port)
	next := filepath.Join(dir, ".next")
	if err := os.WriteFile(next, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, filepath.Join(dir, "objects", "web.yaml")); err != nil {
		t.Fatal(err)
	}
}

func answering(t *testing.T, text string) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }))
	t.Cleanup(s.Close)
	return s
}

// needsNginx skips where it can't run, and gives a folder with an empty folder objects.
func needsNginx(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("starts nginx")
	}
	if _, err := os.Stat("/usr/lib/nginx/modules/ngx_http_lua_module.so"); err != nil {
		t.Skip("nginx with Lua is not installed")
	}
	dir := testbed.Dir(t)
	if err := os.Mkdir(filepath.Join(dir, "objects"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestController follows one controller from its start to its end, with a real nginx.
func TestController(t *testing.T) {
	dir := needsNginx(t)
	served(t, dir, answering(t, "blue"))
	p := startProgram(t, dir, "--shutdown-grace-period", "3")
	t.Cleanup(func() { _ = p.command.Process.Kill() }) // ended already when all went well
	eventually(t, "ready", func() bool { status, _ := get(p.own, "", "/readyz"); return status == 200 })
	if status, body := get(p.http, "shop.example", "/"); status != 200 || body != "blue" {
		t.Errorf("ready, but the route answers %d %s", status, body)
	}
	served(t, dir, answering(t, "green"))
	eventually(t, "the new endpoint", func() bool { _, body := get(p.http, "shop.example", "/"); return body == "green" })

	for _, c := range []struct{ command, want string }{
		{"explain url http://shop.example/x", "proxied by HTTP to backend shop/web/80"},
		{"explain url http://shop.example/x -o json", `"owner":"Ingress shop/web"`},
		{"explain ingress shop/web", "shop.example prefix /"},
		{"get model", "host shop.example"},
		{"get hosts", "shop/web"},
		{"get backends -o json", `"name":"shop/web/80"`},
	} {
		var stdout, stderr bytes.Buffer
		arguments := append(strings.Fields("fairway "+c.command), "--runtime-dir", filepath.Join(dir, "run"))
		if status := run(arguments, nil, &stdout, &stderr); status != 0 || !strings.Contains(stdout.String(), c.want) {
			t.Errorf("%s exits with %d, without %q:\n%s%s", c.command, status, c.want, stdout.String(), stderr.String())
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "run", controllerSocket)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("socket: %v, %v", info, err)
	}
	second := startProgram(t, dir)
	if err := second.command.Wait(); err == nil || !strings.Contains(second.log.String(), "is used by another controller: give each its own") {
		t.Errorf("a second controller in the runtime directory: %v\n%s", err, second.log)
	}
	stop(t, p)
}

// stop demands the order of a stop: not ready first, still serving during the grace period, then the end with status 0.
func stop(t *testing.T, p *program) {
	t.Helper()
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	eventually(t, "not ready", func() bool { status, _ := get(p.own, "", "/healthz"); return status == 500 })
	if status, body := get(p.http, "shop.example", "/"); status != 200 || body != "green" {
		t.Errorf("in the grace period the route answers %d %s", status, body)
	}
	if err := p.command.Wait(); err != nil {
		t.Errorf("the controller ended with %v", err)
	}
	if status, _ := get(p.http, "shop.example", "/"); status != 0 {
		t.Errorf("the controller has ended, but its port answers %d", status)
	}
	if t.Failed() {
		t.Logf("log:\n%s", p.log)
	}
}

// TestSecondSignal stops at once what would have waited, and leaves nothing behind.
func TestSecondSignal(t *testing.T) {
	dir := needsNginx(t)
	p := startProgram(t, dir, "--shutdown-grace-period", "600")
	t.Cleanup(func() { _ = p.command.Process.Kill() }) // ended already when all went well
	eventually(t, "ready", func() bool { status, _ := get(p.own, "", "/readyz"); return status == 200 })
	ended := make(chan error, 1)
	go func() { ended <- p.command.Wait() }()
	deadline := time.Now().Add(patience)
	for over := false; !over; {
		_ = p.command.Process.Signal(syscall.SIGINT) // it has ended, or takes notice of this one or of one after it
		select {
		case err := <-ended:
			if over = true; err == nil || p.command.ProcessState.ExitCode() != 1 {
				t.Errorf("ended with %v, want status 1\n%s", err, p.log)
			}
		case <-time.After(2 * sameSignal):
			if time.Now().After(deadline) {
				t.Fatal("it does not end")
			}
		}
	}
	eventually(t, "the end of nginx", func() bool { status, _ := get(p.http, "", "/"); return status == 0 })
}
