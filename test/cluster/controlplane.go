// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Names of the children, and of their log files.
const (
	etcdMember        = "etcd"
	apiServer         = "apiserver"
	controllerManager = "kcm"
	podRunner         = "runner"
)

// start brings up everything in order and returns when the API server is
// ready, the nodes are registered and the default service account exists.
func (s *supervisor) start(ctx context.Context) error {
	if err := s.makeFiles(); err != nil {
		return err
	}
	name, err := claim(s.netns, s.dirToRemove())
	if err != nil {
		return err
	}
	s.netns, s.claimed = name, true
	if err := makeClusterNetns(s.netns); err != nil {
		return err
	}
	if err := os.WriteFile(s.file(netnsFile), []byte(s.netns), 0o644); err != nil {
		return err
	}
	if err := s.relay(); err != nil {
		return err
	}
	if err := s.makeKeys(); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := s.run(etcdMember, self, "etcd", "-data-dir="+s.file("etcd")); err != nil {
		return err
	}
	if err := s.runAPIServer(); err != nil {
		return err
	}
	if err := s.waitAPIServer(ctx); err != nil {
		return err
	}
	if err := s.runControllerManager(); err != nil {
		return err
	}
	if err := s.run(podRunner, self, "runner", "-dir="+s.dir, "-bin="+s.bin, "-netns="+s.netns, "-images="+s.images,
		fmt.Sprintf("-nodes=%d", s.nodes), fmt.Sprintf("-lb=%t", s.lb), fmt.Sprintf("-cluster-ip=%t", s.clusterIP)); err != nil {
		return err
	}
	if err := s.wait(ctx, "runner", func() bool { _, err := os.Stat(s.file(runnerReady)); return err == nil }); err != nil {
		return err
	}
	return s.writeAccess()
}

// makeFiles leaves of an earlier run at most its etcd data.
func (s *supervisor) makeFiles() error {
	if !s.keep {
		os.RemoveAll(s.file("etcd"))
	}
	os.RemoveAll(s.file("pods"))
	for _, name := range []string{readyFile, infoFile, netnsFile, apiServerStopped} {
		os.Remove(s.file(name))
	}
	for _, d := range []string{"etcd", "pods"} {
		if err := os.MkdirAll(s.file(d), 0o700); err != nil {
			return err
		}
	}
	return os.WriteFile(s.file(pidFile), []byte(identity(os.Getpid())), 0o644)
}

func (s *supervisor) dirToRemove() string {
	if s.removeDir {
		return s.dir
	}
	return ""
}

func (s *supervisor) keys() pki { return pki{s.file("pki")} }

// makeKeys makes certificates and the kubeconfig files that use them.
func (s *supervisor) makeKeys() error {
	keys := s.keys()
	if err := keys.generate(); err != nil {
		return err
	}
	const inside = "https://127.0.0.1:6443"
	return errors.Join(
		keys.kubeconfig(s.kubeconfig(), "admin", s.server()),
		keys.kubeconfig(s.file("internal.kubeconfig"), "admin", inside),
		keys.kubeconfig(s.file("kcm.kubeconfig"), "kcm", inside),
	)
}

// server is where the API server answers on the machine's own network.
func (s *supervisor) server() string { return fmt.Sprintf("https://127.0.0.1:%d", s.port) }

func (s *supervisor) waitAPIServer(ctx context.Context) error {
	ca, err := os.ReadFile(s.keys().path("ca.crt"))
	if err != nil {
		return err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	client := &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: pool}}}
	return s.wait(ctx, "API server", func() bool {
		resp, err := client.Get(s.server() + "/readyz")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

func (s *supervisor) runControllerManager() error {
	keys := s.keys()
	return s.run(controllerManager, filepath.Join(s.bin, "kcm"), append([]string{
		"--kubeconfig=" + s.file("kcm.kubeconfig"),
		"--leader-elect=false", "--use-service-account-credentials=true", "--profiling=false",
		"--root-ca-file=" + keys.path("ca.crt"), "--service-account-private-key-file=" + keys.path("sa.key"),
		"--cluster-signing-cert-file=" + keys.path("ca.crt"), "--cluster-signing-key-file=" + keys.path("ca.key"),
		"--node-monitor-grace-period=2m", "--kube-api-qps=200", "--kube-api-burst=400",
		"--controllers=*,-node-ipam-controller,-node-route-controller,-service-lb-controller,-cloud-node-lifecycle-controller," +
			"-ttl-controller,-persistentvolume-attach-detach-controller,-persistentvolume-expander-controller," +
			"-horizontal-pod-autoscaler-controller",
	}, strings.Fields(s.kcmArgs)...)...)
}

// runAPIServer starts the API server, the first time or again.
func (s *supervisor) runAPIServer() error {
	keys := s.keys()
	return s.run(apiServer, filepath.Join(s.bin, "apiserver"), append([]string{
		"--etcd-servers=http://127.0.0.1:2379",
		"--bind-address=0.0.0.0", "--secure-port=6443", "--advertise-address=" + masterIP,
		"--service-cluster-ip-range=" + serviceNet,
		"--authorization-mode=RBAC", "--allow-privileged=true", "--profiling=false",
		"--client-ca-file=" + keys.path("ca.crt"),
		"--tls-cert-file=" + keys.path("apiserver.crt"), "--tls-private-key-file=" + keys.path("apiserver.key"),
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + keys.path("sa.pub"), "--service-account-signing-key-file=" + keys.path("sa.key"),
		"--requestheader-client-ca-file=" + keys.path("front-proxy-ca.crt"),
		"--requestheader-allowed-names=front-proxy-client",
		"--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + keys.path("front-proxy-client.crt"), "--proxy-client-key-file=" + keys.path("front-proxy-client.key"),
		"--kubelet-preferred-address-types=InternalIP",
		"--kubelet-client-certificate=" + keys.path("kubelet.crt"), "--kubelet-client-key=" + keys.path("kubelet.key"),
	}, strings.Fields(s.apiserverArgs)...)...)
}
