// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/fairway-ingress/fairway/internal/nginx/conf"
	"github.com/fairway-ingress/fairway/internal/nginx/process"
)

// portFlag is a port that a flag gives to a listener.
type portFlag struct {
	flag    string
	address string
	port    int
}

// portFlags are the ports that must differ.
func (f *controllerFlags) portFlags() []portFlag {
	list := []portFlag{
		{"http-port", f.bind, f.httpPort}, {"https-port", f.bind, f.httpsPort}, {"healthz-port", f.healthzHost, f.healthzPort},
	}
	if f.profiling {
		list = append(list, portFlag{"profiler-port", f.profilerAddress.String(), f.profilerPort})
	}
	return append(list, f.webhook.port()...)
}

func checkPorts(ports []portFlag) error {
	taken := map[int]string{}
	for _, p := range ports {
		if p.port < 1 || p.port > 65535 {
			return usageError{fmt.Errorf("--%s is %d; a port is from 1 to 65535", p.flag, p.port)}
		}
		if other := taken[p.port]; other != "" {
			return usageError{fmt.Errorf("--%s and --%s are both %d; give each its own port", other, p.flag, p.port)}
		}
		taken[p.port] = p.flag
	}
	return nil
}

// portPatience is how long a port may still be held by a process that is just ending.
const portPatience = 2 * time.Second

// awaitFree makes sure that a port can be listened on.
func (p portFlag) awaitFree() error {
	deadline := time.Now().Add(portPatience)
	for {
		listener, err := p.listen()
		if err == nil {
			return listener.Close()
		}
		if !errors.Is(err, syscall.EADDRINUSE) || time.Now().After(deadline) {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// listen opens the port. The error says what to do about it.
func (p portFlag) listen() (net.Listener, error) {
	var listener net.Listener
	err := process.WithLowPorts(func() (err error) {
		listener, err = net.Listen("tcp", net.JoinHostPort(p.address, strconv.Itoa(p.port)))
		return err
	})
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("--%s: port %d is in use: stop who uses it, or choose another: %w", p.flag, p.port, err)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("--%s: port %d may not be opened: grant CAP_NET_BIND_SERVICE, or choose one above 1023: %w", p.flag, p.port, err)
	case err != nil:
		return nil, fmt.Errorf("--%s: %w", p.flag, err)
	}
	return listener, nil
}

// nginxPID gives the process of the nginx in the runtime directory, 0 if none runs. One that an earlier controller left has the ports, and
// is adopted.
func nginxPID(runtimeDir string) int {
	text, err := os.ReadFile(filepath.Join(runtimeDir, conf.PIDFile))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(text)))
	if err != nil || pid <= 0 {
		return 0
	}
	// The number may be another process's by now.
	title, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || !bytes.HasPrefix(title, []byte("nginx: master")) {
		return 0
	}
	return pid
}
