// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// What fetchBulk fetches, over so many connections.
const (
	bulkConnections = 4
	bulkSize        = 256 << 20
	bulkBuffer      = 256 << 10
)

func acceptEach(l net.Listener, serve func(net.Conn)) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return // closed
		}
		go func() { defer conn.Close(); serve(conn) }()
	}
}

// serveBulk sends bulkSize for the first byte it gets.
func serveBulk(conn net.Conn) {
	if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
		return
	}
	buffer := make([]byte, bulkBuffer)
	for range bulkSize / bulkBuffer {
		if _, err := conn.Write(buffer); err != nil {
			return
		}
	}
}

// fetchBulk gives how many GiB it was.
func fetchBulk(ctx context.Context, port int) (float64, error) {
	errs := make([]error, bulkConnections)
	var all sync.WaitGroup
	for i := range bulkConnections {
		all.Go(func() {
			conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
			if err != nil {
				errs[i] = err
				return
			}
			defer conn.Close()
			if _, err := conn.Write([]byte{1}); err != nil {
				errs[i] = err
				return
			}
			// With a buffer of our own, which io.Discard would not use.
			n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{conn}, make([]byte, bulkBuffer))
			if err == nil && n != bulkSize {
				err = fmt.Errorf("got %d of %d bytes", n, bulkSize)
			}
			errs[i] = err
		})
	}
	all.Wait()
	return float64(bulkConnections*bulkSize) / (1 << 30), errors.Join(errs...)
}

// fetchOnce makes requests, each over a new connection, 32 at a time, and gives how many they were.
func fetchOnce(ctx context.Context, port int, length time.Duration) (float64, error) {
	out, err := exec.CommandContext(ctx, "taskset", "-c", "1", "wrk", "-t1", "-c32", fmt.Sprintf("-d%ds", int(length.Seconds())),
		"-H", "Connection: close", fmt.Sprintf("http://127.0.0.1:%d/", port)).CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("wrk: %w: %s", err, out)
	}
	found := wrkRequests.FindSubmatch(out)
	if found == nil || wrkErrors.Match(out) {
		return 0, fmt.Errorf("wrk: %s", strings.TrimSpace(string(out)))
	}
	return strconv.ParseFloat(string(found[1]), 64)
}

// datagramClients exchange datagrams at the same time, each one after the other.
const datagramClients = 64

func echoDatagrams(conn *net.UDPConn) {
	buffer := make([]byte, 2048)
	for {
		n, from, err := conn.ReadFromUDPAddrPort(buffer)
		if err != nil {
			return // closed
		}
		_, _ = conn.WriteToUDPAddrPort(buffer[:n], from)
	}
}

// exchangeDatagrams gives how many were answered. One that is not is an error.
func exchangeDatagrams(ctx context.Context, port int, length time.Duration) (float64, error) {
	var count atomic.Int64
	errs := make([]error, datagramClients)
	end := time.Now().Add(length)
	var all sync.WaitGroup
	for i := range datagramClients {
		all.Go(func() {
			conn, err := net.Dial("udp", fmt.Sprintf("127.0.0.1:%d", port))
			if err != nil {
				errs[i] = err
				return
			}
			defer conn.Close()
			_ = conn.SetDeadline(end.Add(10 * time.Second))
			buffer := make([]byte, 64)
			for time.Now().Before(end) && ctx.Err() == nil {
				if _, errs[i] = conn.Write(buffer); errs[i] != nil {
					return
				}
				if _, errs[i] = conn.Read(buffer); errs[i] != nil {
					return
				}
				count.Add(1)
			}
		})
	}
	all.Wait()
	return float64(count.Load()), errors.Join(errs...)
}

// handshakesPerRound is how many connections are opened one after the other.
const handshakesPerRound = 100

// handshakes measures how long a client waits for the end of a TLS handshake over a new connection.
func (l *l4Stage) handshakes(ctx context.Context, r *report, rounds int) error {
	ways := []struct {
		name, host string
		port       int
	}{
		{"direct", passthroughHost, l.secure},
		{"passthrough", passthroughHost, l.lasting.https},
		{"before nginx", terminatedHost, l.lasting.https},
		{"nginx alone", terminatedHost, l.answering.https},
	}
	times := map[string][]float64{}
	var added, extra []float64
	for round := range rounds + 1 {
		progress("l4: TLS handshakes: round %d of %d", round, rounds)
		medians := map[string]float64{}
		for _, i := range rand.Perm(len(ways)) {
			took, err := handshake(ctx, ways[i].host, ways[i].port)
			if err != nil {
				return fmt.Errorf("TLS handshake, %s: %w", ways[i].name, err)
			}
			medians[ways[i].name] = took
		}
		if round == 0 {
			continue // to warm up
		}
		for name, took := range medians {
			times[name] = append(times[name], took)
		}
		added = append(added, medians["passthrough"]-medians["direct"])
		extra = append(extra, medians["before nginx"]-medians["nginx alone"])
	}
	note := func(with, without, beside string) string {
		return fmt.Sprintf("medians of %d rounds of %d; %s µs, %s %s µs",
			rounds, handshakesPerRound, short(quantile(times[with], .5)), beside, short(quantile(times[without], .5)))
	}
	r.add("l4", "TLS handshake, added by passthrough", quantile(added, .5), "µs", note("passthrough", "direct", "direct to the backend"))
	r.add("l4", "TLS handshake in nginx, added by --enable-ssl-passthrough", quantile(extra, .5), "µs",
		note("before nginx", "nginx alone", "without the flag"))
	return nil
}

// handshake gives the median of the times of new connections until they are secure, in µs.
func handshake(ctx context.Context, host string, port int) (float64, error) {
	config := &tls.Config{ServerName: host, InsecureSkipVerify: true, MinVersion: tls.VersionTLS13} //nolint:gosec // made for this run
	dialer := tls.Dialer{Config: config}
	var took []float64
	for range handshakesPerRound {
		begin := time.Now()
		conn, err := dialer.DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			return 0, err
		}
		took = append(took, float64(time.Since(begin))/float64(time.Microsecond))
		_ = conn.Close()
	}
	return quantile(took, .5), nil
}
