// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// options are the flags of "up"; the runner gets the same ones.
type options struct {
	dir, bin, netns, images string
	port, nodes, owner      int
	lb, clusterIP, keep     bool
	detach                  bool
	apiserverArgs, kcmArgs  string
}

func (o *options) register(fs *flag.FlagSet) {
	fs.StringVar(&o.dir, "dir", "/tmp/cluster", "state directory (keys, etcd data, logs, pods)")
	fs.StringVar(&o.bin, "bin", defaultBin(), "directory of the built programs (apiserver, kcm, echo, ...)")
	fs.StringVar(&o.netns, "netns", "", "name of the cluster's network namespace, at most 9 characters; default: one that is free")
	fs.StringVar(&o.images, "images", "", "YAML file of image mappings that go before the built-in ones")
	fs.IntVar(&o.port, "port", 0, "port on the machine's own 127.0.0.1 that leads to the API server; 0 takes a free one")
	fs.IntVar(&o.owner, "owner-pid", 0, "stop when the process with this id ends, however it ends")
	fs.IntVar(&o.nodes, "nodes", 3, "number of nodes")
	fs.BoolVar(&o.lb, "lb", true, "give Services of type LoadBalancer an address of "+lbNet)
	fs.BoolVar(&o.clusterIP, "cluster-ip", true, "route ClusterIPs, node ports and load balancer addresses (nftables)")
	fs.BoolVar(&o.keep, "keep", false, "keep the etcd data of an earlier run")
	fs.BoolVar(&o.detach, "detach", false, "return once the cluster is ready")
	fs.StringVar(&o.apiserverArgs, "apiserver-args", "", "further kube-apiserver flags, space-separated")
	fs.StringVar(&o.kcmArgs, "kcm-args", "", "further kube-controller-manager flags, space-separated")
}

func (o *options) file(name string) string { return filepath.Join(o.dir, name) }

func (o *options) kubeconfig() string { return o.file("kubeconfig") }

// defaultBin is where build.sh puts programs.
func defaultBin() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	return filepath.Join(cache, "fairway", "cluster")
}

func parseOptions(name string, args []string) *options {
	o := new(options)
	fs := flag.NewFlagSet(name, flag.ExitOnError)
	o.register(fs)
	fs.Parse(args)
	o.dir, _ = filepath.Abs(o.dir)
	return o
}

// child is a supervised process.
type child struct {
	name string
	cmd  *exec.Cmd
	done chan struct{}
}

type supervisor struct {
	*options
	children []*child
	exited   chan *child
	ownNetns bool   // the namespace is ours to remove
	stopped  *child // the API server, while it is stopped on request
}

func up(args []string) error {
	runtime.LockOSThread() // Pdeathsig is tied to the thread that forks
	o := parseOptions("up", args)
	if os.Geteuid() != 0 {
		return errors.New("up needs root (network namespaces)")
	}
	if len(o.netns) > 9 {
		return errors.New("--netns: at most 9 characters")
	}
	if pid := o.pid(); pid != 0 {
		return fmt.Errorf("a cluster is already running in %s (pid %d)", o.dir, pid)
	}
	if o.detach {
		return o.detached(args)
	}
	if err := sweep(); err != nil {
		return err
	}
	if o.netns == "" {
		o.netns = freeNetns()
	}
	s := &supervisor{options: o, exited: make(chan *child, 8)}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	started := time.Now()
	err := s.start()
	if err == nil {
		err = o.writeInfo()
	}
	if err == nil {
		fmt.Printf("ready after %.1fs\nexport KUBECONFIG=%s\n", time.Since(started).Seconds(), o.kubeconfig())
		err = os.WriteFile(o.file("ready"), nil, 0o644)
	}
	if err == nil {
		err = s.supervise(stop)
	}
	s.stop()
	return err
}

// supervise waits for a reason to stop: a signal, the end of the owner, or of a child that nobody stopped.
func (s *supervisor) supervise(stop <-chan os.Signal) error {
	parts := make(chan os.Signal, 8)
	signal.Notify(parts, syscall.SIGUSR1, syscall.SIGUSR2)
	owner := watchOwner(s.owner)
	for {
		select {
		case <-stop:
			return nil
		case <-owner:
			return nil
		case sig := <-parts:
			if err := s.switchAPIServer(sig == syscall.SIGUSR2); err != nil {
				return err
			}
		case c := <-s.exited:
			if c == s.stopped {
				continue
			}
			return fmt.Errorf("%s ended: %v (see %s)", c.name, c.cmd.ProcessState, s.file(c.name+".log"))
		}
	}
}

// start brings up everything in order and returns when the API server is
// ready, the nodes are registered and the default service account exists.
func (s *supervisor) start() error {
	if !s.keep {
		os.RemoveAll(s.file("etcd"))
	}
	os.Remove(s.file("ready"))
	os.RemoveAll(s.file("pods"))
	for _, d := range []string{"etcd", "pods"} {
		if err := os.MkdirAll(s.file(d), 0o700); err != nil {
			return err
		}
	}
	if err := os.WriteFile(s.file("up.pid"), []byte(strconv.Itoa(os.Getpid())), 0o644); err != nil {
		return err
	}
	if err := makeClusterNetns(s.netns); err != nil {
		return err
	}
	s.ownNetns = true
	if err := register(s.netns); err != nil {
		return err
	}
	if err := os.WriteFile(s.file("netns"), []byte(s.netns), 0o644); err != nil {
		return err
	}
	if err := s.proxy(); err != nil {
		return err
	}
	keys := pki{s.file("pki")}
	if err := keys.generate(); err != nil {
		return err
	}
	local := fmt.Sprintf("https://127.0.0.1:%d", s.port)
	inside := "https://127.0.0.1:6443"
	if err := errors.Join(
		keys.kubeconfig(s.kubeconfig(), "admin", local),
		keys.kubeconfig(s.file("internal.kubeconfig"), "admin", inside),
		keys.kubeconfig(s.file("kcm.kubeconfig"), "kcm", inside),
	); err != nil {
		return err
	}

	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := s.run("etcd", self, "etcd", "-data-dir="+s.file("etcd")); err != nil {
		return err
	}
	if err := s.runAPIServer(keys); err != nil {
		return err
	}
	if err := s.waitReady(local, keys.path("ca.crt")); err != nil {
		return err
	}
	if err := s.run("kcm", filepath.Join(s.bin, "kcm"), append([]string{
		"--kubeconfig=" + s.file("kcm.kubeconfig"),
		"--leader-elect=false", "--use-service-account-credentials=true", "--profiling=false",
		"--root-ca-file=" + keys.path("ca.crt"), "--service-account-private-key-file=" + keys.path("sa.key"),
		"--cluster-signing-cert-file=" + keys.path("ca.crt"), "--cluster-signing-key-file=" + keys.path("ca.key"),
		"--node-monitor-grace-period=2m", "--kube-api-qps=200", "--kube-api-burst=400",
		"--controllers=*,-node-ipam-controller,-node-route-controller,-service-lb-controller,-cloud-node-lifecycle-controller," +
			"-ttl-controller,-persistentvolume-attach-detach-controller,-persistentvolume-expander-controller," +
			"-horizontal-pod-autoscaler-controller",
	}, strings.Fields(s.kcmArgs)...)...); err != nil {
		return err
	}
	if err := s.run("runner", self, "runner", "-dir="+s.dir, "-bin="+s.bin, "-netns="+s.netns, "-images="+s.images,
		fmt.Sprintf("-nodes=%d", s.nodes), fmt.Sprintf("-lb=%t", s.lb), fmt.Sprintf("-cluster-ip=%t", s.clusterIP)); err != nil {
		return err
	}
	return s.waitFile(s.file("pods/ready"))
}

// runAPIServer starts the API server, the first time or again.
func (s *supervisor) runAPIServer(keys pki) error {
	return s.run("apiserver", filepath.Join(s.bin, "apiserver"), append([]string{
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

// run starts a child in the cluster namespace, with its output in a log file.
func (s *supervisor) run(name, program string, args ...string) error {
	log, err := os.OpenFile(s.file(name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	c := &child{name: name, cmd: nsCommand(s.netns, program, args...), done: make(chan struct{})}
	c.cmd.Stdout, c.cmd.Stderr = log, log
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := c.cmd.Start(); err != nil {
		return err
	}
	s.children = append(s.children, c)
	go func() {
		c.cmd.Wait()
		close(c.done)
		s.exited <- c
	}()
	return nil
}

// stop ends the children in reverse order and removes the namespaces.
func (s *supervisor) stop() {
	for i := len(s.children) - 1; i >= 0; i-- {
		c := s.children[i]
		c.cmd.Process.Signal(syscall.SIGTERM)
		grace := 10 * time.Second
		if c.name == "apiserver" || c.name == "kcm" {
			grace = time.Second // nothing to lose, and the API server waits for watches
		}
		select {
		case <-c.done:
		case <-time.After(grace):
			c.cmd.Process.Kill()
			<-c.done
		}
	}
	if s.ownNetns {
		removeClusterNetns(s.netns)
		unregister(s.netns)
	}
	os.Remove(s.file("ready"))
	os.Remove(s.file("up.pid"))
}

// proxy makes the API server reachable on the machine's own loopback, so that
// kubectl works from any shell.
func (s *supervisor) proxy() error {
	ln, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", s.port))
	if err != nil {
		return err
	}
	s.port = ln.Addr().(*net.TCPAddr).Port
	go func() {
		for {
			down, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer down.Close()
				var up net.Conn
				if err := inNetns(s.netns, func() (err error) {
					up, err = net.Dial("tcp", "127.0.0.1:6443")
					return err
				}); err != nil {
					return
				}
				defer up.Close()
				go func() { io.Copy(up, down); up.(*net.TCPConn).CloseWrite() }()
				io.Copy(down, up)
			}()
		}
	}()
	return nil
}

func (s *supervisor) waitReady(server, caFile string) error {
	ca, err := os.ReadFile(caFile)
	if err != nil {
		return err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	client := &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	return s.wait("API server", func() bool {
		resp, err := client.Get(server + "/readyz")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

func (s *supervisor) waitFile(name string) error {
	return s.wait("runner", func() bool { _, err := os.Stat(name); return err == nil })
}

func (s *supervisor) wait(what string, ok func() bool) error {
	for deadline := time.Now().Add(3 * time.Minute); time.Now().Before(deadline); {
		if ok() {
			return nil
		}
		select {
		case c := <-s.exited:
			return fmt.Errorf("%s ended: %v (see %s)", c.name, c.cmd.ProcessState, s.file(c.name+".log"))
		case <-time.After(100 * time.Millisecond):
		}
	}
	return fmt.Errorf("%s: not ready in time", what)
}

// pid returns the process id of the running supervisor, or 0.
func (o *options) pid() int {
	b, _ := os.ReadFile(o.file("up.pid"))
	pid, _ := strconv.Atoi(string(bytes.TrimSpace(b)))
	if pid == 0 {
		return 0
	}
	cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if !bytes.Contains(cmdline, []byte("\x00up\x00")) {
		return 0
	}
	return pid
}

func (o *options) detached(args []string) error {
	if err := os.MkdirAll(o.dir, 0o700); err != nil {
		return err
	}
	os.Remove(o.file("ready"))
	log, err := os.Create(o.file("up.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, append(append([]string{"up"}, args...), "--detach=false")...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	done := make(chan struct{})
	go func() { cmd.Wait(); close(done) }()
	for {
		if _, err := os.Stat(o.file("ready")); err == nil {
			out, _ := os.ReadFile(o.file("up.log"))
			os.Stdout.Write(out)
			return nil
		}
		select {
		case <-done:
			out, _ := os.ReadFile(o.file("up.log"))
			return fmt.Errorf("start failed: %s", bytes.TrimSpace(out))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func down(args []string) error {
	o := parseOptions("down", args)
	pid := o.pid()
	if pid != 0 {
		syscall.Kill(pid, syscall.SIGTERM)
		for deadline := time.Now().Add(60 * time.Second); o.pid() == pid; time.Sleep(50 * time.Millisecond) {
			if time.Now().After(deadline) {
				return fmt.Errorf("process %d does not end", pid)
			}
		}
	}
	if ns, err := os.ReadFile(o.file("netns")); err == nil {
		removeClusterNetns(string(ns))
	}
	return nil
}

// execIn replaces this process with a command in the cluster namespace.
func execIn(args []string) error {
	fs := flag.NewFlagSet("exec", flag.ExitOnError)
	dir := fs.String("dir", "/tmp/cluster", "state directory of the cluster")
	fs.Parse(args)
	ns, err := os.ReadFile(filepath.Join(*dir, "netns"))
	if err != nil {
		return err
	}
	if fs.NArg() == 0 {
		return errors.New("exec: no command")
	}
	cmd := nsCommand(string(ns), fs.Arg(0), fs.Args()[1:]...)
	os.Setenv("KUBECONFIG", filepath.Join(*dir, "internal.kubeconfig"))
	return syscall.Exec(cmd.Path, cmd.Args, os.Environ())
}
