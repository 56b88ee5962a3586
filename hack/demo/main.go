// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Command demo shows Fairway on one machine: it starts sample web servers and a controller, says what to try, and stops all of it at Ctrl-C.
//
// Without --cluster the objects come from a folder of manifests; with it, from a Kubernetes API server that the programs of test/cluster
// bring up. What is started lives no longer than this command, whatever ends it. Start with [run].
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// options are the command line.
type options struct {
	fairway, manifests        string
	httpPort, httpsPort       int
	healthPort                int
	cluster, clusterManifests string
	check                     bool
}

func main() {
	// A child is told of the death of the thread that started it (process.go), so that thread must be the one that stays.
	runtime.LockOSThread()
	var o options
	flag.StringVar(&o.fairway, "fairway", "bin/fairway", "the controller's program")
	flag.StringVar(&o.manifests, "manifests", "examples/demo", "folder of manifests")
	flag.IntVar(&o.httpPort, "http-port", 8080, "port for HTTP on 127.0.0.1")
	flag.IntVar(&o.httpsPort, "https-port", 8443, "port for HTTPS on 127.0.0.1")
	flag.IntVar(&o.healthPort, "healthz-port", 10254, "port for health and metrics on 127.0.0.1")
	flag.StringVar(&o.cluster, "cluster", "", "folder of the programs of test/cluster: take the objects from an API server")
	flag.StringVar(&o.clusterManifests, "cluster-manifests", "examples/demo-cluster", "what is applied to that API server at first")
	flag.BoolVar(&o.check, "check", false, "try everything once and leave")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		stop()
		os.Exit(1)
	}
}

// run starts everything, waits for the end of ctx and stops everything, in reverse.
func run(ctx context.Context, o options) error {
	dir, err := os.MkdirTemp("", "fairway-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o711); err != nil { // nginx' workers pass through
		return err
	}
	if err := portsFree(o.httpPort, o.httpsPort, o.healthPort); err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(dir, "controller.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	args := []string{
		"--http-port", strconv.Itoa(o.httpPort), "--https-port", strconv.Itoa(o.httpsPort),
		"--healthz-port", strconv.Itoa(o.healthPort), "--healthz-host", "127.0.0.1", "--bind-address", "127.0.0.1",
		"--runtime-dir", filepath.Join(dir, "run"), "--configmap", "demo/settings", "--post-shutdown-grace-period", "0",
		"--access-log", filepath.Join(dir, "access.log"),
	}
	var stage stage
	if o.cluster == "" {
		stage, err = onFolder(o)
	} else {
		stage, err = onCluster(ctx, o, dir)
	}
	if err != nil {
		return err
	}
	defer stage.close()

	begin := time.Now()
	fmt.Println("starting the controller …")
	controller, err := start(log, stage.controller(args)...)
	if err != nil {
		return err
	}
	defer controller.stop(15 * time.Second)
	if err := awaitReady(ctx, controller, stage, o.healthPort); err != nil {
		controller.stop(15 * time.Second)
		if ctx.Err() != nil {
			return nil
		}
		printTail(log.Name())
		return err
	}
	fmt.Printf("ready after %s\n", time.Since(begin).Round(10*time.Millisecond))
	if o.check {
		return tryAll(ctx, stage.tries())
	}
	explain(o, stage, dir)
	var following sync.WaitGroup
	defer following.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	following.Go(func() { follow(ctx, log.Name(), os.Stdout) })
	select {
	case <-ctx.Done():
		fmt.Println("\nstopping …")
		return nil
	case <-controller.done:
		printTail(log.Name())
		return fmt.Errorf("the controller ended: %w", controller.err)
	}
}

// stage is where a demo takes place.
type stage interface {
	// controller gives the command line that starts the controller with some more arguments.
	controller(args []string) []string
	// dial opens a connection to where the controller listens.
	dial(ctx context.Context, network, address string) (net.Conn, error)
	tries() []try
	// edit says how to change something.
	edit() string
	close()
}

func portsFree(ports ...int) error {
	var errs []error
	for _, port := range ports {
		listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			errs = append(errs, fmt.Errorf("port %d is in use; choose others with DEMO='--http-port N --https-port N --healthz-port N': %w", port, err))
			continue
		}
		listener.Close()
	}
	return errors.Join(errs...)
}

// awaitReady waits until the controller says that every route it knew at start is answered.
func awaitReady(ctx context.Context, controller *process, stage stage, port int) error {
	client := &http.Client{Timeout: time.Second, Transport: &http.Transport{DialContext: stage.dial, DisableKeepAlives: true}}
	url := fmt.Sprintf("http://127.0.0.1:%d/readyz", port)
	patience, cancel := context.WithTimeout(ctx, 40*time.Second)
	defer cancel()
	for {
		request, err := http.NewRequestWithContext(patience, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		if response, err := client.Do(request); err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-patience.Done():
			return errors.New("the controller is not ready after 40 s")
		case <-controller.done:
			return fmt.Errorf("the controller ended: %w", controller.err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// printTail shows the end of a log, for when something went wrong.
func printTail(path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		return
	}
	lines := bytes.Split(bytes.TrimRight(text, "\n"), []byte("\n"))
	fmt.Fprintf(os.Stderr, "the last lines of the controller's log:\n%s\n", bytes.Join(lines[max(0, len(lines)-30):], []byte("\n")))
}

func explain(o options, stage stage, dir string) {
	fmt.Print("\nTry:\n")
	for _, t := range stage.tries() {
		fmt.Printf("\n  # %s\n  %s\n", t.title, t)
	}
	fmt.Printf("\nSee a change:\n\n%s", stage.edit())
	fmt.Printf(`
  # no reload was needed for it
  curl -s http://127.0.0.1:%d/metrics | grep fairway_reload_total

  # why a request goes where it goes
  %s explain url http://hello.localhost/next/page --runtime-dir %s

  # the access log and the controller's log
  tail -f %s

Ctrl-C stops everything. What the controller does follows.
`, o.healthPort, o.fairway, filepath.Join(dir, "run"), filepath.Join(dir, "*.log"))
}
