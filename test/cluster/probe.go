// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

var probeClient = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// probe runs the startup, readiness and liveness probes of a container until
// ctx ends. A container without a readiness probe is ready once its first TCP
// port accepts connections, or after three seconds.
func (c *container) probe(ctx context.Context) {
	if p := c.spec.StartupProbe; p != nil {
		if !c.until(ctx, p, func(failures int32) bool { return failures >= max(p.FailureThreshold, 1) }) {
			c.killProcess(ctx)
			return
		}
	}
	c.set(ctx, func() { c.started = true })
	if p := c.spec.LivenessProbe; p != nil {
		go func() {
			pause(ctx, time.Duration(p.InitialDelaySeconds)*time.Second)
			for failures := int32(0); failures < max(p.FailureThreshold, 1); {
				pause(ctx, period(p))
				if ctx.Err() != nil {
					return
				}
				if c.try(ctx, p) {
					failures = 0
				} else {
					failures++
				}
			}
			c.killProcess(ctx)
		}()
	}
	p := c.spec.ReadinessProbe
	if p == nil {
		deadline := time.Now().Add(3 * time.Second)
		for _, port := range c.spec.Ports {
			if port.Protocol != corev1.ProtocolTCP && port.Protocol != "" {
				continue
			}
			for ctx.Err() == nil && time.Now().Before(deadline) && !c.dial(ctx, port.ContainerPort) {
				pause(ctx, 20*time.Millisecond)
			}
			break
		}
		c.set(ctx, func() { c.ready = true })
		return
	}
	// Until the first success, look often whatever the period is.
	pause(ctx, time.Duration(p.InitialDelaySeconds)*time.Second)
	var good, bad int32
	for ctx.Err() == nil {
		if c.try(ctx, p) {
			good, bad = good+1, 0
		} else {
			good, bad = 0, bad+1
		}
		c.w.mu.Lock()
		ready := c.ready
		c.w.mu.Unlock()
		switch {
		case !ready && good >= max(p.SuccessThreshold, 1):
			c.set(ctx, func() { c.ready, c.wasReady = true, true })
		case ready && bad >= max(p.FailureThreshold, 1):
			c.set(ctx, func() { c.ready = false })
		}
		wait := period(p)
		if !c.wasReady {
			wait = min(wait, 250*time.Millisecond)
		}
		pause(ctx, wait)
	}
}

// until repeats a probe until it succeeds (true) or give reports enough
// failures (false).
func (c *container) until(ctx context.Context, p *corev1.Probe, give func(int32) bool) bool {
	pause(ctx, time.Duration(p.InitialDelaySeconds)*time.Second)
	for failures := int32(0); ctx.Err() == nil; {
		if c.try(ctx, p) {
			return true
		}
		if failures++; give(failures) {
			return false
		}
		pause(ctx, min(period(p), time.Second))
	}
	return true
}

// set changes the container's state unless its process has ended meanwhile.
func (c *container) set(ctx context.Context, change func()) {
	c.w.mu.Lock()
	if ctx.Err() == nil {
		change()
	}
	c.w.mu.Unlock()
	c.w.touch()
}

func (c *container) killProcess(ctx context.Context) {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	if ctx.Err() == nil && c.pid != 0 {
		pid, exited := c.pid, c.exited
		syscall.Kill(pid, syscall.SIGTERM)
		time.AfterFunc(5*time.Second, func() {
			select {
			case <-exited:
			default:
				syscall.Kill(-pid, syscall.SIGKILL)
			}
		})
	}
}

func period(p *corev1.Probe) time.Duration {
	if p.PeriodSeconds <= 0 {
		return 10 * time.Second
	}
	return time.Duration(p.PeriodSeconds) * time.Second
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

func (c *container) try(ctx context.Context, p *corev1.Probe) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(max(p.TimeoutSeconds, 1))*time.Second)
	defer cancel()
	return c.check(ctx, &p.ProbeHandler)
}

// check makes one request of a probe or hook.
func (c *container) check(ctx context.Context, h *corev1.ProbeHandler) bool {
	switch {
	case h.HTTPGet != nil:
		g := h.HTTPGet
		scheme, host := "http", g.Host
		if g.Scheme == corev1.URISchemeHTTPS {
			scheme = "https"
		}
		if host == "" {
			host = c.w.ip
		}
		req, err := http.NewRequestWithContext(ctx, "GET", fmt.Sprintf("%s://%s:%d/", scheme, host, c.port(g.Port)), nil)
		if err != nil {
			return false
		}
		if g.Path != "" {
			if u, err := req.URL.Parse(g.Path); err == nil {
				req.URL = u
			}
		}
		req.Header.Set("User-Agent", "kube-probe/1.36")
		for _, header := range g.HTTPHeaders {
			if http.CanonicalHeaderKey(header.Name) == "Host" {
				req.Host = header.Value
			} else {
				req.Header.Add(header.Name, header.Value)
			}
		}
		resp, err := probeClient.Do(req)
		if err != nil {
			return false
		}
		io.Copy(io.Discard, io.LimitReader(resp.Body, 10<<10))
		resp.Body.Close()
		return resp.StatusCode >= 200 && resp.StatusCode < 400
	case h.TCPSocket != nil:
		return c.dial(ctx, int32(c.port(h.TCPSocket.Port)))
	case h.GRPC != nil: // a connection is enough here
		return c.dial(ctx, h.GRPC.Port)
	case h.Exec != nil:
		err := c.exec(ctx, h.Exec.Command)
		if exit, ok := err.(*exec.ExitError); ok && exit.ExitCode() == 127 {
			return true // the program is in the image only
		}
		return err == nil
	}
	return true
}

func (c *container) port(p intstr.IntOrString) int {
	if p.Type == intstr.Int {
		return p.IntValue()
	}
	for _, port := range c.spec.Ports {
		if port.Name == p.StrVal {
			return int(port.ContainerPort)
		}
	}
	return 0
}

func (c *container) dial(ctx context.Context, port int32) bool {
	d := net.Dialer{Timeout: time.Second}
	conn, err := d.DialContext(ctx, "tcp", fmt.Sprintf("%s:%d", c.w.ip, port))
	if err != nil {
		return false
	}
	conn.Close()
	return true
}
