// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-ingress/fairway/test/testbed"
)

const (
	churnHosts      = 200
	churnRate       = 50 // changes per second
	churnSockets    = 200
	churnLoadClient = 8
)

// measureChurn changes things at a steady rate while clients send requests to hosts that are always there and hold WebSockets open.
func measureChurn(ctx context.Context, o settings, r *report) error {
	s, err := newStage(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.fill(ctx, churnHosts); err != nil {
		return err
	}
	length := 60 * time.Second
	if o.quick {
		length = 15 * time.Second
	}
	reloads, err := s.controller.Reloads()
	if err != nil {
		return err
	}
	clients, stop := context.WithCancel(ctx)
	defer stop()
	var requests, failed, dropped atomic.Int64
	var running sync.WaitGroup
	if err := s.holdSockets(clients, &running, &dropped); err != nil {
		return err
	}
	for range churnLoadClient {
		running.Go(func() { s.load(clients, &requests, &failed) })
	}
	progress("churn: %d changes/s for %s", churnRate, length)
	changes, err := s.churn(ctx, length)
	stop()
	running.Wait()
	if err != nil {
		return err
	}
	after, err := s.controller.Reloads()
	if err != nil {
		return err
	}
	note := fmt.Sprintf("%d changes in %s, %d requests", changes, length, requests.Load())
	r.addBudget("churn", "failed requests", float64(failed.Load()), "", 0, note)
	r.addBudget("churn", fmt.Sprintf("dropped of %d WebSockets", churnSockets), float64(dropped.Load()), "", 0, "each echoes a message a second")
	r.addBudget("churn", "reloads", float64(after-reloads), "", 0, "")
	return nil
}

// churn makes changes at the rate until the time is over, and gives how many.
func (s *stage) churn(ctx context.Context, length time.Duration) (int, error) {
	ingresses, slices, secrets := s.Client.NetworkingV1().Ingresses(namespace), s.Client.DiscoveryV1().EndpointSlices(namespace), s.Client.CoreV1().Secrets(namespace)
	random := rand.New(rand.NewSource(1))
	ticker := time.NewTicker(time.Second / churnRate)
	defer ticker.Stop()
	count := 0
	for end := time.Now().Add(length); time.Now().Before(end); count++ {
		select {
		case <-ctx.Done():
			return count, ctx.Err()
		case <-ticker.C:
		}
		var err error
		i := random.Intn(churnHosts)
		switch random.Intn(4) {
		case 0, 1: // endpoints, under the requests
			_, err = slices.Update(ctx, newSlice(fmt.Sprintf("web%05d", i), []string{addressA, addressB}[random.Intn(2)]), metav1.UpdateOptions{})
		case 2: // an Ingress comes, or goes if it is there
			name := fmt.Sprintf("extra%d", i)
			_, err = ingresses.Create(ctx, newIngress(name, name+".example", "/", "web00000"), metav1.CreateOptions{})
			if apierrors.IsAlreadyExists(err) {
				err = ingresses.Delete(ctx, name, metav1.DeleteOptions{})
			}
		case 3: // a certificate
			secret, serr := testbed.NewTLSSecret("churn", "churn.example", int64(count)+1)
			if serr != nil {
				return count, serr
			}
			if _, err = secrets.Update(ctx, secret, metav1.UpdateOptions{}); apierrors.IsNotFound(err) {
				_, err = secrets.Create(ctx, secret, metav1.CreateOptions{})
			}
		}
		if err != nil {
			return count, err
		}
	}
	return count, nil
}

// load sends requests over kept connections until ctx ends.
func (s *stage) load(ctx context.Context, requests, failed *atomic.Int64) {
	transport := &http.Transport{DialContext: s.dial(testbed.HTTPPort), MaxIdleConnsPerHost: 1}
	defer transport.CloseIdleConnections()
	for ctx.Err() == nil {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+hostName(rand.Intn(churnHosts))+"/", nil)
		if err != nil {
			return
		}
		response, err := transport.RoundTrip(request)
		if ctx.Err() != nil {
			return
		}
		requests.Add(1)
		if err != nil {
			failed.Add(1)
			progress("churn: request failed: %v", err)
			continue
		}
		_, _ = io.Copy(io.Discard, response.Body)
		response.Body.Close()
		if response.StatusCode != http.StatusOK {
			failed.Add(1)
			progress("churn: request to %s failed: %s", request.Host, response.Status)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// holdSockets opens the WebSockets; each counts as dropped when an echo fails before ctx ends.
func (s *stage) holdSockets(ctx context.Context, running *sync.WaitGroup, dropped *atomic.Int64) error {
	dialer := websocket.Dialer{NetDialContext: s.dial(testbed.HTTPPort), HandshakeTimeout: 10 * time.Second}
	for i := range churnSockets {
		conn, _, err := dialer.DialContext(ctx, "ws://"+hostName(i%churnHosts)+"/", nil)
		if err != nil {
			return fmt.Errorf("open WebSocket %d: %w", i, err)
		}
		running.Go(func() {
			defer conn.Close()
			for ctx.Err() == nil {
				if err := echo(conn); err != nil {
					dropped.Add(1)
					progress("churn: WebSocket dropped: %v", err)
					return
				}
				select {
				case <-ctx.Done():
				case <-time.After(time.Second):
				}
			}
		})
	}
	return nil
}

func echo(conn *websocket.Conn) error {
	if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return err
	}
	if err := conn.WriteMessage(websocket.TextMessage, []byte("ping")); err != nil {
		return err
	}
	_, _, err := conn.ReadMessage()
	return err
}
