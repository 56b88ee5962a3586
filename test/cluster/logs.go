// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"
)

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
