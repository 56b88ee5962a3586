// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// cluster is the stage of `make demo-cluster`: a Kubernetes API server with pods in network namespaces of their own. The controller runs
// inside; its two ports are led out to this machine's 127.0.0.1.
type cluster struct {
	options
	dir         string // of the cluster
	netns       string // its network namespace
	program     string
	up          *process
	certificate string
	listeners   []net.Listener
}

// onCluster brings up the control plane and applies the manifests.
func onCluster(ctx context.Context, o options, dir string) (stage, error) {
	if os.Getuid() != 0 {
		return nil, errors.New("the control plane needs root, for its network namespaces")
	}
	if _, err := exec.LookPath("kubectl"); err != nil {
		return nil, fmt.Errorf("kubectl is not installed: %w", err)
	}
	c := &cluster{options: o, dir: filepath.Join(dir, "cluster"), program: filepath.Join(o.cluster, "cluster"), certificate: filepath.Join(dir, "tls.crt")}
	log, err := os.Create(filepath.Join(dir, "cluster.log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	begin := time.Now()
	fmt.Println("starting a Kubernetes control plane …")
	c.up, err = start(log, c.program, "up", "--dir", c.dir, "--bin", o.cluster)
	if err != nil {
		return nil, err
	}
	if err := c.fill(ctx, dir); err != nil {
		c.close()
		printTail(log.Name())
		return nil, err
	}
	fmt.Printf("control plane with pods after %s\n", time.Since(begin).Round(10*time.Millisecond))
	return c, nil
}

// fill waits for the API server, applies the manifests, waits for the pods and leads the ports out.
func (c *cluster) fill(ctx context.Context, dir string) error {
	for deadline := time.Now().Add(90 * time.Second); c.kubectl(ctx, nil, "get", "serviceaccount", "default") != nil; {
		select {
		case <-c.up.done:
			return fmt.Errorf("the control plane ended: %w", c.up.err)
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return errors.New("the control plane is not ready after 90 s")
		}
	}
	name, err := os.ReadFile(filepath.Join(c.dir, "netns"))
	if err != nil {
		return err
	}
	c.netns = strings.TrimSpace(string(name))
	secret := filepath.Join(dir, "tls.yaml")
	if err := writeSecret(secret, c.certificate, "secure.localhost"); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"create", "namespace", "demo"},
		{"apply", "-f", secret},
		{"apply", "-f", c.clusterManifests},
		{"-n", "demo", "wait", "--for=condition=Available", "--timeout=60s", "deployment", "--all"},
	} {
		if err := c.kubectl(ctx, os.Stderr, args...); err != nil {
			return fmt.Errorf("kubectl %v: %w", args, err)
		}
	}
	for _, port := range []int{c.httpPort, c.httpsPort, c.healthPort} {
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		listener, err := net.Listen("tcp", address)
		if err != nil {
			return err
		}
		c.listeners = append(c.listeners, listener)
		go c.lead(listener, address) // ends with the listener
	}
	return nil
}

func (c *cluster) kubeconfig() string { return filepath.Join(c.dir, "kubeconfig") }

func (c *cluster) kubectl(ctx context.Context, errors io.Writer, args ...string) error {
	command := exec.CommandContext(ctx, "kubectl", append([]string{"--kubeconfig", c.kubeconfig()}, args...)...)
	command.Stderr = errors
	return command.Run()
}

// lead passes connections on to the same address inside the cluster's network.
func (c *cluster) lead(listener net.Listener, address string) {
	for {
		outer, err := listener.Accept()
		if err != nil {
			return
		}
		go func() { // ends when both sides have closed
			defer outer.Close()
			inner, err := c.dial(context.Background(), "tcp", address)
			if err != nil {
				return
			}
			defer inner.Close()
			var both sync.WaitGroup
			for _, pair := range [][2]net.Conn{{inner, outer}, {outer, inner}} {
				both.Go(func() {
					_, _ = io.Copy(pair[0], pair[1])
					if half, ok := pair[0].(*net.TCPConn); ok {
						_ = half.CloseWrite()
					}
				})
			}
			both.Wait()
		}()
	}
}

// dial opens a connection inside the cluster's network: a socket belongs for good to the namespace of the thread that made it.
func (c *cluster) dial(ctx context.Context, network, address string) (net.Conn, error) {
	type result struct {
		conn net.Conn
		err  error
	}
	results := make(chan result)
	go func() {
		// The thread is never unlocked, so it ends with this goroutine and nobody else meets it in the wrong namespace.
		runtime.LockOSThread()
		there, err := os.Open(filepath.Join("/run/netns", c.netns))
		if err != nil {
			results <- result{nil, err}
			return
		}
		defer there.Close()
		if err := unix.Setns(int(there.Fd()), unix.CLONE_NEWNET); err != nil {
			results <- result{nil, fmt.Errorf("enter network namespace %s: %w", c.netns, err)}
			return
		}
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		results <- result{conn, err}
	}()
	r := <-results
	return r.conn, r.err
}

func (c *cluster) controller(args []string) []string {
	return append([]string{c.program, "exec", "--dir", c.dir, "--", "env", "POD_NAMESPACE=demo", "POD_NAME=fairway",
		c.fairway, "controller", "--kubeconfig", filepath.Join(c.dir, "internal.kubeconfig")}, args...)
}

func (c *cluster) tries() []try {
	return []try{
		{"a host; the reply names the pod", c.get("hello.localhost", "/"), "hello-"},
		{"a path of it: the other Service", c.get("hello.localhost", "/next/page"), "hello-next-"},
		{"a canary: 30 of 100 requests go to the new version; repeat it", c.get("canary.localhost", "/"), "hello-"},
		{"always the canary, by a header", c.get("canary.localhost", "/", "-H", "X-Canary: always"), "hello-next-"},
		{"HTTPS, over HTTP/2", c.getTLS("secure.localhost", "/", "-i", "--cacert", c.certificate), "HTTP/2 200"},
		{"a WebSocket", c.webSocket("hello.localhost"), "101 Switching Protocols"},
	}
}

func (c *cluster) edit() string {
	return fmt.Sprintf(`  export KUBECONFIG=%s
  kubectl -n demo get pods,ingresses

  # another backend for a path
  kubectl -n demo patch ingress hello --type=json -p '[{"op":"replace","path":"/spec/rules/0/http/paths/1/backend/service/name","value":"hello"}]'

  # no pods: 503 for these routes alone; then many
  kubectl -n demo scale deployment hello --replicas=0
  kubectl -n demo scale deployment hello --replicas=5

  # a rolling update, without a failed request
  kubectl -n demo rollout restart deployment hello
`, c.kubeconfig())
}

func (c *cluster) close() {
	for _, listener := range c.listeners {
		listener.Close()
	}
	c.up.stop(30 * time.Second)
}
