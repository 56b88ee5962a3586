// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"sync"
	"syscall"
	"time"

	coordv1 "k8s.io/api/coordination/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// runner plays scheduler and kubelet for all nodes of the cluster, plus
// service proxy, load balancer controller and cluster DNS. It runs inside the
// cluster's network namespace.
type runner struct {
	*options
	client  kubernetes.Interface
	factory informers.SharedInformerFactory
	images  *imageTable
	nodes   []*node
	spawner chan func()

	mu       sync.Mutex
	workers  map[types.UID]*worker
	binding  map[types.UID]string // pods being bound, by node
	podIPs   map[string]bool
	lastIP   int
	stopping bool
}

type node struct {
	name, ip, ns string
	object       *v1.Node
}

func runRunner(args []string) error {
	o := parseOptions("runner", args)
	cfg, err := clientcmd.BuildConfigFromFlags("", o.file("internal.kubeconfig"))
	if err != nil {
		return err
	}
	cfg.QPS = -1
	cfg.UserAgent = "cluster-runner"
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	images, err := loadImages(o.bin, o.images)
	if err != nil {
		return err
	}
	r := &runner{
		options: o, client: client, images: images,
		factory: informers.NewSharedInformerFactory(client, 0),
		spawner: make(chan func()),
		workers: map[types.UID]*worker{}, binding: map[types.UID]string{}, podIPs: map[string]bool{},
		lastIP: 255,
	}
	go func() { // every fork happens on this thread, which outlives its children
		runtime.LockOSThread()
		for fn := range r.spawner {
			fn()
		}
	}()

	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer cancel()
	if err := r.registerNodes(ctx); err != nil {
		return err
	}
	r.factory.Core().V1().Secrets().Informer()
	r.factory.Core().V1().ConfigMaps().Informer()
	pods := r.factory.Core().V1().Pods().Informer()
	handle := func(obj any) { r.podChanged(ctx, obj.(*v1.Pod)) }
	pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    handle,
		UpdateFunc: func(_, obj any) { handle(obj) },
		DeleteFunc: func(obj any) {
			if d, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = d.Obj
			}
			if pod, ok := obj.(*v1.Pod); ok {
				r.podGone(pod)
			}
		},
	})
	if r.clusterIP {
		newProxier(r).watch(ctx)
	}
	if r.lb {
		newBalancer(r).watch(ctx)
	}
	serveDNS := newDNS(r)
	r.factory.Start(ctx.Done())
	r.factory.WaitForCacheSync(ctx.Done())
	if err := serveDNS(); err != nil {
		return err
	}
	go r.heartbeat(ctx)

	// Pods cannot be created before their namespace's service account exists.
	for ctx.Err() == nil {
		if _, err := client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{}); err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if err := os.WriteFile(o.file("pods/ready"), nil, 0o644); err != nil {
		return err
	}
	<-ctx.Done()
	r.shutdown()
	return nil
}

// registerNodes creates the Node objects and a network namespace for each.
func (r *runner) registerNodes(ctx context.Context) error {
	for i := 1; i <= r.options.nodes; i++ {
		n := &node{name: fmt.Sprintf("node-%d", i), ip: fmt.Sprintf("172.18.%d.%d", (i+10)/256, (i+10)%256), ns: fmt.Sprintf("%s-n%d", r.netns, i)}
		if err := makeLeafNetns(r.netns, n.ns, fmt.Sprintf("n%d", i), n.ip); err != nil {
			return err
		}
		capacity := v1.ResourceList{
			v1.ResourceCPU: resource.MustParse("64"), v1.ResourceMemory: resource.MustParse("256Gi"),
			v1.ResourcePods: resource.MustParse("5000"), v1.ResourceEphemeralStorage: resource.MustParse("1Ti"),
		}
		now := metav1.Now()
		object := &v1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: n.name, Labels: map[string]string{
				v1.LabelHostname: n.name, v1.LabelOSStable: "linux", v1.LabelArchStable: runtime.GOARCH,
				v1.LabelTopologyRegion: "test", v1.LabelTopologyZone: "zone-" + string(rune('a'+(i-1)%3)),
			}},
			Status: v1.NodeStatus{
				Capacity: capacity, Allocatable: capacity,
				Addresses:       []v1.NodeAddress{{Type: v1.NodeInternalIP, Address: n.ip}, {Type: v1.NodeHostName, Address: n.name}},
				DaemonEndpoints: v1.NodeDaemonEndpoints{KubeletEndpoint: v1.DaemonEndpoint{Port: 10250}},
				NodeInfo:        v1.NodeSystemInfo{KubeletVersion: "v1.36.3", OSImage: "none", OperatingSystem: "linux", Architecture: runtime.GOARCH, ContainerRuntimeVersion: "process://1"},
				Conditions: []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue, Reason: "KubeletReady",
					LastHeartbeatTime: now, LastTransitionTime: now}},
			},
		}
		status := object.Status
		var err error
		if n.object, err = r.client.CoreV1().Nodes().Create(ctx, object, metav1.CreateOptions{}); apierrors.IsAlreadyExists(err) {
			n.object, err = r.client.CoreV1().Nodes().Get(ctx, n.name, metav1.GetOptions{})
		}
		if err != nil {
			return err
		}
		n.object.Status = status
		if n.object, err = r.client.CoreV1().Nodes().UpdateStatus(ctx, n.object, metav1.UpdateOptions{}); err != nil {
			return err
		}
		r.nodes = append(r.nodes, n)
		if err := r.serveKubelet(n); err != nil {
			return err
		}
	}
	return nil
}

// heartbeat renews the node leases.
func (r *runner) heartbeat(ctx context.Context) {
	leases := r.client.CoordinationV1().Leases(v1.NamespaceNodeLease)
	seconds := int32(40)
	for ctx.Err() == nil {
		for _, n := range r.nodes {
			now := metav1.NowMicro()
			lease, err := leases.Get(ctx, n.name, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				_, err = leases.Create(ctx, &coordv1.Lease{
					ObjectMeta: metav1.ObjectMeta{Name: n.name},
					Spec:       coordv1.LeaseSpec{HolderIdentity: &n.name, LeaseDurationSeconds: &seconds, RenewTime: &now},
				}, metav1.CreateOptions{})
			} else if err == nil {
				lease.Spec.RenewTime = &now
				_, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
			}
			if err != nil && ctx.Err() == nil {
				log.Printf("lease of %s: %v", n.name, err)
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Second):
		}
	}
}

func (r *runner) node(name string) *node {
	for _, n := range r.nodes {
		if n.name == name {
			return n
		}
	}
	return nil
}

// podChanged schedules new pods and hands the others to their workers.
func (r *runner) podChanged(ctx context.Context, pod *v1.Pod) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopping {
		return
	}
	if pod.Spec.NodeName == "" {
		if _, busy := r.binding[pod.UID]; busy || pod.DeletionTimestamp != nil || len(pod.Spec.SchedulingGates) > 0 || pod.Spec.SchedulerName != v1.DefaultSchedulerName {
			return
		}
		if n := r.place(pod); n != nil {
			r.binding[pod.UID] = n.name
			go r.bind(ctx, pod, n)
		}
		return
	}
	delete(r.binding, pod.UID)
	n := r.node(pod.Spec.NodeName)
	if n == nil {
		return
	}
	w := r.workers[pod.UID]
	if w == nil {
		finished := pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed
		if finished && pod.DeletionTimestamp == nil {
			return
		}
		w = newWorker(r, n, pod)
		r.workers[pod.UID] = w
		go w.run(ctx)
	}
	w.update(pod)
}

// podGone ends the worker of a pod whose object has vanished (forced deletion).
func (r *runner) podGone(pod *v1.Pod) {
	r.mu.Lock()
	w := r.workers[pod.UID]
	delete(r.binding, pod.UID)
	r.mu.Unlock()
	if w != nil {
		w.terminate(0)
	}
}

func (r *runner) bind(ctx context.Context, pod *v1.Pod, n *node) {
	err := r.client.CoreV1().Pods(pod.Namespace).Bind(ctx, &v1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace, UID: pod.UID},
		Target:     v1.ObjectReference{Kind: "Node", Name: n.name},
	}, metav1.CreateOptions{})
	if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return
	}
	log.Printf("bind %s/%s: %v", pod.Namespace, pod.Name, err)
	time.Sleep(time.Second)
	r.mu.Lock()
	delete(r.binding, pod.UID)
	r.mu.Unlock()
	if fresh, err := r.client.CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{}); err == nil {
		r.podChanged(ctx, fresh)
	}
}

// place picks a node: one that satisfies node selector and required node
// affinity, with the fewest pods of the same owner, then the fewest pods.
func (r *runner) place(pod *v1.Pod) *node {
	required := nodeaffinity.GetRequiredNodeAffinity(pod)
	owner := ownerOf(pod)
	type load struct{ same, all int }
	loads := map[string]*load{}
	for _, n := range r.nodes {
		loads[n.name] = new(load)
	}
	for _, w := range r.workers {
		l := loads[w.node.name]
		l.all++
		if owner != "" && ownerOf(w.current()) == owner {
			l.same++
		}
	}
	for _, name := range r.binding {
		if l := loads[name]; l != nil {
			l.all++
			l.same++ // close enough: pods of one owner arrive together
		}
	}
	candidates := []*node{}
	for _, n := range r.nodes {
		if ok, err := required.Match(n.object); err == nil && ok {
			candidates = append(candidates, n)
		}
	}
	sort.SliceStable(candidates, func(i, j int) bool {
		a, b := loads[candidates[i].name], loads[candidates[j].name]
		return a.same < b.same || a.same == b.same && a.all < b.all
	})
	if len(candidates) == 0 {
		log.Printf("pod %s/%s fits no node", pod.Namespace, pod.Name)
		return nil
	}
	return candidates[0]
}

func ownerOf(pod *v1.Pod) string {
	if ref := metav1.GetControllerOf(pod); ref != nil {
		return string(ref.UID)
	}
	return ""
}

// allocateIP hands out pod addresses in turn, so that one is not reused soon.
func (r *runner) allocateIP() (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for range 65000 {
		if r.lastIP++; r.lastIP > 65279 {
			r.lastIP = 256
		}
		ip := fmt.Sprintf("10.244.%d.%d", r.lastIP/256, r.lastIP%256)
		if low := r.lastIP % 256; low != 0 && low != 255 && !r.podIPs[ip] {
			r.podIPs[ip] = true
			return ip, nil
		}
	}
	return "", fmt.Errorf("no pod address left")
}

func (r *runner) releaseIP(ip string) {
	r.mu.Lock()
	delete(r.podIPs, ip)
	r.mu.Unlock()
}

// spawn starts a command from the long-lived thread, so that the child is
// killed when the runner dies.
func (r *runner) spawn(cmd *exec.Cmd) error {
	errc := make(chan error)
	r.spawner <- func() { errc <- cmd.Start() }
	return <-errc
}

// shutdown kills every container process; the supervisor removes the rest.
func (r *runner) shutdown() {
	r.mu.Lock()
	r.stopping = true
	workers := make([]*worker, 0, len(r.workers))
	for _, w := range r.workers {
		workers = append(workers, w)
	}
	r.mu.Unlock()
	var wg sync.WaitGroup
	for _, w := range workers {
		wg.Add(1)
		go func() { defer wg.Done(); w.kill() }()
	}
	wg.Wait()
}

// serveKubelet answers the API server's requests for container logs on the
// node's address.
func (r *runner) serveKubelet(n *node) error {
	cert, err := tls.LoadX509KeyPair(r.file("pki/kubelet.crt"), r.file("pki/kubelet.key"))
	if err != nil {
		return err
	}
	var ln net.Listener
	if err := inNetns(n.ns, func() (err error) {
		ln, err = net.Listen("tcp", ":10250")
		return err
	}); err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", r.serveLogs)
	go http.Serve(tls.NewListener(ln, &tls.Config{Certificates: []tls.Certificate{cert}}), mux)
	return nil
}

func (r *runner) serveLogs(rw http.ResponseWriter, req *http.Request) {
	pods, _ := r.factory.Core().V1().Pods().Lister().Pods(req.PathValue("namespace")).List(labels.Everything())
	for _, pod := range pods {
		if pod.Name != req.PathValue("pod") {
			continue
		}
		name := filepath.Join(r.podDir(pod), req.PathValue("container")+".log")
		b, err := os.ReadFile(name)
		if err != nil {
			http.Error(rw, err.Error(), http.StatusNotFound)
			return
		}
		if tail := req.URL.Query().Get("tailLines"); tail != "" {
			b = lastLines(b, tail)
		}
		rw.Header().Set("Content-Type", "text/plain")
		rw.Write(b)
		if req.URL.Query().Get("follow") == "true" {
			follow(rw, req, name)
		}
		return
	}
	http.NotFound(rw, req)
}

func lastLines(b []byte, count string) []byte {
	var n int
	fmt.Sscan(count, &n)
	lines := strings.SplitAfter(string(b), "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	}
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return []byte(strings.Join(lines, ""))
}

func follow(rw http.ResponseWriter, req *http.Request, name string) {
	f, err := os.Open(name)
	if err != nil {
		return
	}
	defer f.Close()
	f.Seek(0, 2)
	buf := make([]byte, 32<<10)
	for req.Context().Err() == nil {
		n, _ := f.Read(buf)
		if n == 0 {
			time.Sleep(200 * time.Millisecond)
			continue
		}
		rw.Write(buf[:n])
		rw.(http.Flusher).Flush()
	}
}

func (r *runner) podDir(pod *v1.Pod) string {
	return filepath.Join(r.dir, "pods", pod.Namespace+"_"+pod.Name+"_"+string(pod.UID)[:8])
}
