// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// Process is a running program with its log in a file. It ends with the process of the tests at the latest.
type Process struct {
	log     string
	command *exec.Cmd
	ended   chan struct{}
}

// StartProcess starts a command. What it says is added to the file.
func StartProcess(log string, command *exec.Cmd) (*Process, error) {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	command.Stdout, command.Stderr = file, file
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if err := command.Start(); err != nil {
		return nil, err
	}
	p := &Process{log: log, command: command, ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		_ = command.Wait() // see Status
	}()
	return p, nil
}

// PID is the number of the process.
func (p *Process) PID() int { return p.command.Process.Pid }

// Signal sends a signal. A process that has ended hears nothing.
func (p *Process) Signal(signal os.Signal) { _ = p.command.Process.Signal(signal) }

// Ended is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// End sends a signal and waits for the end.
func (p *Process) End(signal os.Signal) {
	p.Signal(signal)
	<-p.ended
}

// Status waits for the end and gives the exit status; -1 is an end by a signal.
func (p *Process) Status() int {
	<-p.ended
	return p.command.ProcessState.ExitCode()
}

// Log is the end of what it said.
func (p *Process) Log() string {
	text, _ := os.ReadFile(p.log)
	const most = 20000
	return string(text[max(0, len(text)-most):])
}

// ShowLog adds the log to what a test says that has failed. It is to be deferred or a cleanup.
func (p *Process) ShowLog(t *testing.T, name string) {
	if t.Failed() {
		t.Logf("log of %s:\n%s", name, p.Log())
	}
}

// Ask asks an HTTP server on the loopback of a network namespace, "" for the one of the tests, over a connection of its own.
func Ask(netns string, port int, path string) (status int, body string, err error) {
	var dial dialing
	if netns != "" {
		dial = Dialer{netns}.DialContext
	}
	return dial.get(fmt.Sprintf("http://127.0.0.1:%d%s", port, path))
}

// Ready tells whether a controller with its own server on that port says that it is ready.
func Ready(netns string, port int) bool {
	status, _, err := Ask(netns, port, "/readyz")
	return err == nil && status == http.StatusOK
}

// dialing makes connections; nil does so as usual.
type dialing func(ctx context.Context, network, address string) (net.Conn, error)

func (d dialing) get(url string) (status int, body string, err error) {
	client := &http.Client{Timeout: patience / 3, Transport: &http.Transport{DisableKeepAlives: true, DialContext: d}} // many ask until the answer is right
	response, err := client.Get(url)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}
