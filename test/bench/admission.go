// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	netv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fairway-ingress/fairway/test/testbed"
)

const (
	// atOnce is how many reviews are asked for at the same moment.
	atOnce = 150
	// webhookPort is where the controller answers them.
	webhookPort = 9443
)

// measureAdmission asks the webhook for many reviews at once, at growing numbers of Ingresses. A time is from sending a review over a kept connection until its
// answer is read; client and controller share the machine.
func measureAdmission(ctx context.Context, o settings, r *report) error {
	dir, err := testbed.NewDir()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	flags, err := webhookFlags(dir)
	if err != nil {
		return err
	}
	s, err := newStage(ctx, flags...)
	if err != nil {
		return err
	}
	defer s.close()
	defer debug.SetGCPercent(debug.SetGCPercent(1000)) // the clients' collector is not what is measured
	sizes, bursts := []int{100, 10000}, 60
	if o.quick {
		sizes, bursts = []int{100, 1000}, 20
	}
	for _, size := range sizes {
		progress("admission: %d Ingresses", size)
		if err := s.fill(ctx, size); err != nil {
			return err
		}
		if err := s.settle(ctx); err != nil {
			return err
		}
		if err := s.review(ctx, r, size, bursts); err != nil {
			return err
		}
	}
	return nil
}

// settle waits until the controller has nothing left to do for what was created, such as the status of Ingresses; for two minutes at most.
func (s *stage) settle(ctx context.Context) error {
	const quiet = 20 * time.Millisecond // of a second
	for range 120 {
		before, err := cpuTime(s.controller.PID())
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
		after, err := cpuTime(s.controller.PID())
		if err != nil || after-before < quiet {
			return err
		}
	}
	return nil
}

// webhookFlags makes a certificate and gives the flags that use it.
func webhookFlags(dir string) ([]string, error) {
	secret, err := testbed.NewTLSSecret("webhook", "webhook", 1)
	if err != nil {
		return nil, err
	}
	for file, key := range map[string]string{"cert": corev1.TLSCertKey, "key": corev1.TLSPrivateKeyKey} {
		if err := os.WriteFile(filepath.Join(dir, file), secret.Data[key], 0o600); err != nil {
			return nil, err
		}
	}
	return []string{
		"--validating-webhook", fmt.Sprintf("127.0.0.1:%d", webhookPort),
		"--validating-webhook-certificate", filepath.Join(dir, "cert"), "--validating-webhook-key", filepath.Join(dir, "key"),
	}, nil
}

// question is a kind of review: what it is about, and what the answer must hold.
type question struct {
	what  string
	make  func(i int) *netv1.Ingress
	want  string
	churn bool // while Ingresses change
}

const allowed, denied = `"allowed":true`, `"allowed":false`

func (s *stage) review(ctx context.Context, r *report, size, bursts int) error {
	annotated := func(ing *netv1.Ingress) *netv1.Ingress {
		const prefix = "nginx.ingress.kubernetes.io/"
		ing.Annotations = map[string]string{
			prefix + "proxy-body-size": "8m", prefix + "limit-rps": "50", prefix + "enable-cors": "true", prefix + "whitelist-source-range": "10.0.0.0/8",
		}
		return ing
	}
	free := func(i int) *netv1.Ingress {
		return annotated(newIngress(fmt.Sprintf("free%d", i), fmt.Sprintf("free%d.example", i), "/", "web00000"))
	}
	taken := func(i int) *netv1.Ingress {
		return annotated(newIngress(fmt.Sprintf("taken%d", i), hostName(i%size), "/", "web00000"))
	}
	// What 150 answers cost on this machine without a review.
	times, err := s.ask(ctx, question{what: "nothing", make: free, want: "no AdmissionReview"}, bursts)
	if err != nil {
		return err
	}
	r.add("admission", fmt.Sprintf("floor: no review, %d at once, %d Ingresses, p99", atOnce, size), quantile(times, .99), "ms",
		fmt.Sprintf("%d answers; p50 %s ms", len(times), short(quantile(times, .5))))
	stop := func() {}
	defer func() { stop() }()
	for _, q := range []question{
		{"accepted Ingress", free, allowed, false}, {"refused duplicate", taken, denied, false}, {"accepted Ingress, 50 changes a second beside it", free, allowed, true},
	} {
		if q.churn {
			stop = s.changeIngresses(ctx)
		}
		times, err := s.ask(ctx, q, bursts)
		if err != nil {
			return err
		}
		r.addBudget("admission", fmt.Sprintf("%s, %d at once, %d Ingresses, p99", q.what, atOnce, size), quantile(times, .99), "ms", 50,
			fmt.Sprintf("%d reviews; p50 %s ms", len(times), short(quantile(times, .5))))
	}
	return nil
}

// ask sends bursts and gives the time of each review in milliseconds.
func (s *stage) ask(ctx context.Context, q question, bursts int) ([]float64, error) {
	bodies := make([][]byte, atOnce)
	for i := range bodies {
		var err error
		if bodies[i], err = reviewOf(q.make(i), i); err != nil {
			return nil, err
		}
		if q.want != allowed && q.want != denied {
			bodies[i] = []byte("x")
		}
	}
	client := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{
		DialContext: s.dial(webhookPort), MaxIdleConnsPerHost: atOnce, TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
	}}
	defer client.CloseIdleConnections()
	times := make([]float64, 0, atOnce*bursts)
	for burst := range bursts + 1 {
		took, failed := make([]float64, atOnce), make([]error, atOnce)
		var running sync.WaitGroup
		for i := range atOnce {
			running.Go(func() {
				begin := time.Now()
				failed[i] = reviewOnce(ctx, client, bodies[i], q.want)
				took[i] = float64(time.Since(begin).Microseconds()) / 1000
			})
		}
		running.Wait()
		for _, err := range failed {
			if err != nil {
				return nil, fmt.Errorf("%s: %w", q.what, err)
			}
		}
		if burst > 0 { // the first opens the connections
			times = append(times, took...)
		}
	}
	return times, nil
}

func reviewOnce(ctx context.Context, client *http.Client, body []byte, want string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://webhook/networking/v1/ingresses?timeout=10s", bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if !bytes.Contains(text, []byte(want)) {
		return fmt.Errorf("status %d without %s: %s", response.StatusCode, want, text)
	}
	return nil
}

// reviewOf is what the API server sends for a new Ingress.
func reviewOf(ing *netv1.Ingress, i int) ([]byte, error) {
	ing.TypeMeta = metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "Ingress"}
	ing.Namespace = namespace
	object, err := json.Marshal(ing)
	if err != nil {
		return nil, err
	}
	return json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{
			UID: types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", i)), Kind: metav1.GroupVersionKind{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"},
			Resource: metav1.GroupVersionResource{Group: "networking.k8s.io", Version: "v1", Resource: "ingresses"},
			Name:     ing.Name, Namespace: namespace, Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: object},
		},
	})
}

// changeIngresses changes annotations of Ingresses until stop.
func (s *stage) changeIngresses(ctx context.Context) (stop func()) {
	done := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			n := 1 + i%50
			name := fmt.Sprintf("web%05d", n)
			changed := newIngress(name, hostName(n), "/", name)
			changed.Annotations = map[string]string{"nginx.ingress.kubernetes.io/proxy-read-timeout": fmt.Sprint(60 + i%100)}
			_, _ = s.Client.NetworkingV1().Ingresses(namespace).Update(ctx, changed, metav1.UpdateOptions{}) // one that is lost is only one less
		}
	})
	return func() { close(done); running.Wait() }
}
