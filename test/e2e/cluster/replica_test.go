// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
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
	*testbed.Process
	e      *environment
	number int
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
	r := &replica{e: e, number: number}
	runtimeDir, err := os.MkdirTemp(e.Dir, "replica") // short: it holds sockets
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(runtimeDir, 0o711); err != nil {
		t.Fatal(err)
	}
	command := exec.Command("ip", append([]string{"netns", "exec", e.Cluster.Netns, filepath.Join(e.Dir, "fairway"), "controller",
		"--kubeconfig", kubeconfig, "--controller-class", webhookController, "--runtime-dir", filepath.Join(runtimeDir, "run"),
		"--http-port", fmt.Sprint(13000 + number), "--https-port", fmt.Sprint(13100 + number), "--healthz-port", fmt.Sprint(13200 + number),
		"--profiling=false", "--post-shutdown-grace-period", "0", "--validating-webhook", r.webhookAddress()}, more...)...)
	command.Env = append(os.Environ(), fmt.Sprintf("POD_NAME=webhook-%d", number), "POD_NAMESPACE=default")
	if r.Process, err = testbed.StartProcess(filepath.Join(runtimeDir, "log"), command); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.End(syscall.SIGTERM)
		r.ShowLog(t, fmt.Sprintf("replica %d", number))
	})
	e.await(t, "readiness of the replica", func() bool {
		select {
		case <-r.Ended():
			t.Fatalf("replica %d has ended", number)
		default:
		}
		return testbed.Ready(e.Cluster.Netns, 13200+number)
	})
	return r
}

// certificate gives what the webhook shows, or nil.
func (r *replica) certificate() *x509.Certificate {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	conn, err := testbed.Dialer{Netns: r.e.Cluster.Netns}.DialContext(ctx, "tcp", r.webhookAddress())
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
