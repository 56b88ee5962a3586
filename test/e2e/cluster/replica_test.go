// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/fairway-ingress/fairway/test/testbed"
)

// webhookController is the controller of the replicas' class.
const webhookController = "example.test/webhook"

// replica is a further `fairway controller` in the cluster's network, with an admission webhook. Its ports are made of a number, and lie
// below those that clients in this network get.
type replica struct {
	e       *environment
	number  int
	dir     string
	command *exec.Cmd
	exited  chan struct{}
}

func (r *replica) webhookAddress() string {
	return fmt.Sprintf("%s:%d", replicaAddress, r.webhookPort())
}
func (r *replica) webhookPort() int { return 13400 + r.number }

// replicaAddress is one that the cluster's network takes for its own.
const replicaAddress = "172.20.200.3"

// startReplica starts one that ends with the test, and waits until it is ready.
func (e *environment) startReplica(t *testing.T, number int, kubeconfig string, more ...string) *replica {
	t.Helper()
	r := &replica{e: e, number: number, dir: t.TempDir(), exited: make(chan struct{})}
	if err := os.Chmod(r.dir, 0o711); err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(r.dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	runtimeDir, err := os.MkdirTemp(e.dir, "replica") // short: it holds sockets
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(runtimeDir, 0o711); err != nil {
		t.Fatal(err)
	}
	r.command = exec.Command("ip", append([]string{"netns", "exec", e.cluster.Netns, filepath.Join(e.dir, "fairway"), "controller",
		"--kubeconfig", kubeconfig, "--controller-class", webhookController, "--runtime-dir", filepath.Join(runtimeDir, "run"),
		"--http-port", fmt.Sprint(13000 + number), "--https-port", fmt.Sprint(13100 + number), "--healthz-port", fmt.Sprint(13200 + number),
		"--profiling=false", "--post-shutdown-grace-period", "0", "--validating-webhook", r.webhookAddress()}, more...)...)
	r.command.Stdout, r.command.Stderr = log, log
	r.command.Env = append(os.Environ(), fmt.Sprintf("POD_NAME=webhook-%d", number), "POD_NAMESPACE=default")
	if err := r.command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(r.exited)
		_ = r.command.Wait() // its status is of no interest here
	}()
	t.Cleanup(func() {
		_ = r.command.Process.Signal(syscall.SIGTERM)
		<-r.exited
		if t.Failed() {
			text, _ := os.ReadFile(filepath.Join(r.dir, "log"))
			t.Logf("replica %d:\n%s", number, text)
		}
	})
	e.await(t, "readiness of the replica", func() bool {
		select {
		case <-r.exited:
			t.Fatalf("replica %d has ended", number)
		default:
		}
		client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true, DialContext: testbed.Dialer{Netns: e.cluster.Netns}.DialContext}}
		response, err := client.Get(fmt.Sprintf("http://127.0.0.1:%d/readyz", 13200+number))
		if err != nil {
			return false
		}
		response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
	return r
}

// certificate gives what the webhook shows, or nil.
func (r *replica) certificate() *x509.Certificate {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	conn, err := testbed.Dialer{Netns: r.e.cluster.Netns}.DialContext(ctx, "tcp", r.webhookAddress())
	if err != nil {
		return nil
	}
	defer conn.Close()
	client := tls.Client(conn, &tls.Config{InsecureSkipVerify: true})
	if client.HandshakeContext(ctx) != nil {
		return nil
	}
	return client.ConnectionState().PeerCertificates[0]
}

// await waits until something holds, and fails the test after a generous time.
func (e *environment) await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	await(t, what, holds)
}

func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("did not come true within three minutes: " + what)
		}
	}
}
