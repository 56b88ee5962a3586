// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// runnerReady is a file that the runner makes when pods can be created.
const runnerReady = "pods/ready"

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

// patientDial connects to the API server, also if that is away for a while. Were it to fail, the informers would wait longer and longer
// between their attempts and notice the return of the server only half a minute late.
func patientDial(ctx context.Context, network, address string) (net.Conn, error) {
	for {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if err == nil || !errors.Is(err, syscall.ECONNREFUSED) {
			return conn, err
		}
		pause(ctx, 200*time.Millisecond)
	}
}

func runRunner(args []string) error {
	o := parseOptions("runner", args)
	cfg, err := clientcmd.BuildConfigFromFlags("", o.file("internal.kubeconfig"))
	if err != nil {
		return err
	}
	cfg.QPS = -1
	cfg.UserAgent = "cluster-runner"
	cfg.Dial = patientDial
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
	handle := func(obj any) { r.podChanged(ctx, obj.(*corev1.Pod)) }
	pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    handle,
		UpdateFunc: func(_, obj any) { handle(obj) },
		DeleteFunc: func(obj any) {
			if d, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = d.Obj
			}
			if pod, ok := obj.(*corev1.Pod); ok {
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
	if err := os.WriteFile(o.file(runnerReady), nil, 0o644); err != nil {
		return err
	}
	<-ctx.Done()
	r.shutdown()
	return nil
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

func (r *runner) podDir(pod *corev1.Pod) string {
	return filepath.Join(r.dir, "pods", pod.Namespace+"_"+pod.Name+"_"+string(pod.UID)[:8])
}
