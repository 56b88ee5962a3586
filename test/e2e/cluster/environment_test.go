// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	netv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	className      = "fairway-test"
	controllerName = "example.test/fairway"
)

// environment is the cluster and the controller that all tests share.
type environment struct {
	dir     string // of cluster and controller; removed at the end
	cluster clusterHandle
	netns   string
	client  kubernetes.Interface

	httpPort, httpsPort, healthzPort int
	controller                       *exec.Cmd
}

var shared *environment

func TestMain(m *testing.M) {
	if os.Getuid() != 0 {
		fmt.Println("the tests on a real control plane need root (network namespaces); all are skipped")
		os.Exit(m.Run())
	}
	e, err := newEnvironment()
	if err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		e.close()
		os.Exit(1)
	}
	shared = e
	code := m.Run()
	if code != 0 {
		e.printLog()
	}
	e.close()
	os.Exit(code)
}

// running gives the shared environment, or skips where there is none.
func running(t *testing.T) *environment {
	t.Helper()
	if shared == nil {
		t.Skip("needs root for network namespaces")
	}
	return shared
}

func newEnvironment() (*environment, error) {
	dir, err := os.MkdirTemp("/tmp", "fairway-e2e-")
	if err != nil {
		return nil, err
	}
	e := &environment{dir: dir, httpPort: 8080, httpsPort: 8443, healthzPort: 10254}
	if err := os.Chmod(dir, 0o711); err != nil { // nginx' workers pass through
		return e, err
	}
	root, err := repositoryRoot()
	if err != nil {
		return e, err
	}
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "fairway"), "./cmd/fairway")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return e, fmt.Errorf("build fairway: %w: %s", err, out)
	}
	if e.cluster, err = startCluster(root, filepath.Join(dir, "cluster")); err != nil {
		return e, err
	}
	e.netns = e.cluster.Netns
	config, err := clientcmd.BuildConfigFromFlags("", e.cluster.Kubeconfig)
	if err != nil {
		return e, err
	}
	config.QPS, config.Burst = 200, 400
	if e.client, err = kubernetes.NewForConfig(config); err != nil {
		return e, err
	}
	class := &netv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: className}, Spec: netv1.IngressClassSpec{Controller: controllerName}}
	if _, err := e.client.NetworkingV1().IngressClasses().Create(context.Background(), class, metav1.CreateOptions{}); err != nil {
		return e, err
	}
	return e, e.launch()
}

// launch starts the controller in the cluster's network and waits until it is ready.
func (e *environment) launch() error {
	log, err := os.OpenFile(filepath.Join(e.dir, "controller.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	// `ip netns exec` becomes the controller, so its process ID is ours.
	e.controller = exec.Command("ip", "netns", "exec", e.netns, filepath.Join(e.dir, "fairway"), "controller",
		"--kubeconfig", e.cluster.InternalKubeconfig, "--controller-class", controllerName, "--runtime-dir", filepath.Join(e.dir, "run"),
		"--http-port", strconv.Itoa(e.httpPort), "--https-port", strconv.Itoa(e.httpsPort),
		"--healthz-port", strconv.Itoa(e.healthzPort), "--healthz-host", "127.0.0.1", "--post-shutdown-grace-period", "0")
	e.controller.Stdout, e.controller.Stderr = log, log
	e.controller.Env = append(os.Environ(), "POD_NAME=fairway-0", "POD_NAMESPACE=default")
	if err := e.controller.Start(); err != nil {
		return err
	}
	deadline := time.Now().Add(60 * time.Second)
	for time.Now().Before(deadline) {
		if status, _, err := e.health("/readyz"); err == nil && status == 200 {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	e.printLog()
	return fmt.Errorf("controller is not ready after a minute")
}

// health asks the controller's own HTTP server.
func (e *environment) health(path string) (int, string, error) {
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true, DialContext: dialer{e.netns}.DialContext}}
	response, err := client.Get(fmt.Sprintf("http://127.0.0.1:%d%s", e.healthzPort, path))
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, string(body), err
}

// reloads sums the reload counter over its reasons.
func (e *environment) reloads(t *testing.T) int {
	t.Helper()
	status, body, err := e.health("/metrics")
	if err != nil || status != 200 {
		t.Fatalf("metrics: status %d, %v", status, err)
	}
	sum, found := 0.0, false
	lines := bufio.NewScanner(strings.NewReader(body))
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "fairway_reload_total{") {
			value, err := strconv.ParseFloat(lines.Text()[strings.LastIndex(lines.Text(), " ")+1:], 64)
			if err != nil {
				t.Fatal(err)
			}
			sum, found = sum+value, true
		}
	}
	if !found {
		t.Fatal("metrics have no fairway_reload_total")
	}
	return int(sum)
}

func (e *environment) nginxPID(t *testing.T) int {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for {
		text, err := os.ReadFile(filepath.Join(e.dir, "run", "nginx.pid"))
		if pid, perr := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && perr == nil {
			return pid
		}
		if time.Now().After(deadline) {
			t.Fatalf("no nginx.pid: %v", err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (e *environment) killController(t *testing.T) {
	t.Helper()
	if err := e.controller.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = e.controller.Wait() // it was killed, so this says so
}

func (e *environment) startController(t *testing.T) {
	t.Helper()
	if err := e.launch(); err != nil {
		t.Fatal(err)
	}
}

func (e *environment) awaitRollout(t *testing.T, namespace, name string) {
	t.Helper()
	deadline := time.Now().Add(90 * time.Second)
	for time.Now().Before(deadline) {
		d, err := e.client.AppsV1().Deployments(namespace).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		want := *d.Spec.Replicas
		s := d.Status
		if s.ObservedGeneration >= d.Generation && s.UpdatedReplicas == want && s.AvailableReplicas == want && s.Replicas == want {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("deployment %s/%s did not roll out", namespace, name)
}

// pods names the pods of a Deployment that are not about to leave.
func (e *environment) pods(t *testing.T, namespace, app string) []string {
	t.Helper()
	list, err := e.client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "app=" + app})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, pod := range list.Items {
		if pod.DeletionTimestamp == nil {
			names = append(names, pod.Name)
		}
	}
	return names
}

func (e *environment) awaitAPI(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(60 * time.Second)
	for time.Now().Before(deadline) {
		if _, err := e.client.Discovery().ServerVersion(); err == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("the API server did not come back")
}

func (e *environment) printLog() {
	text, _ := os.ReadFile(filepath.Join(e.dir, "controller.log"))
	const most = 20000
	if len(text) > most {
		text = text[len(text)-most:]
	}
	fmt.Fprintf(os.Stderr, "controller log:\n%s\n", text)
}

// close stops what was started, in reverse.
func (e *environment) close() {
	if e == nil {
		return
	}
	if e.controller != nil && e.controller.Process != nil {
		_ = e.controller.Process.Signal(syscall.SIGTERM)
		_ = e.controller.Wait()
	}
	e.cluster.stop()
	_ = os.RemoveAll(e.dir)
}

// repositoryRoot is the folder of the main module's go.mod.
func repositoryRoot() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", err
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}
