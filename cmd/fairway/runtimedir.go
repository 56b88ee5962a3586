// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
)

// controllerSocket is where the command line asks a running controller, in its runtime directory. Only the controller's user may pass
// through the folder that it stands in, which package nginx makes.
const controllerSocket = "admin/controller.sock"

// defaultRuntimeDir is /run/fairway where it is, or can be made, writable, else a folder of the user's own.
func defaultRuntimeDir() string {
	const system = "/run/fairway"
	if writable(system) || !exists(system) && writable(filepath.Dir(system)) {
		return system
	}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		return filepath.Join(dir, "fairway")
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("fairway-%d", os.Getuid()))
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func writable(dir string) bool {
	const write = 2 // W_OK of access(2)
	return syscall.Access(dir, write) == nil
}

// checkUnused refuses a runtime directory in which another controller is at work.
func checkUnused(runtimeDir string) error {
	c, err := net.Dial("unix", filepath.Join(runtimeDir, controllerSocket))
	if err != nil {
		return nil // nobody answers
	}
	c.Close()
	return fmt.Errorf("--runtime-dir %s is used by another controller: give each its own", runtimeDir)
}

// listenPrivate opens the socket for the command line.
func listenPrivate(runtimeDir string) (net.Listener, error) {
	socket := filepath.Join(runtimeDir, controllerSocket)
	if err := os.Remove(socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("open %s: %w", socket, err)
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w; a shorter --runtime-dir helps if the path is too long", socket, err)
	}
	if err := os.Chmod(socket, 0o600); err != nil {
		listener.Close()
		return nil, fmt.Errorf("open %s: %w", socket, err)
	}
	return listener, nil
}
