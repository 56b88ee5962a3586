// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"runtime"
	"runtime/debug"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-ingress/fairway/internal/metrics"
)

const (
	// bodyLimit is the first size that is refused. The API server takes objects of 3 MiB, of which an update sends two.
	bodyLimit = 9 << 20
	// bodiesLimit bounds all bodies in memory together.
	bodiesLimit = 64 << 20
	// patience is how long a request may wait for its turn if the API server does not say how long it waits for the answer.
	patience = 10 * time.Second
)

// Handler answers AdmissionReviews over HTTP, at any path. Make it with NewHandler.
type Handler struct {
	reviewer *Reviewer
	metrics  *metrics.Admission
	log      *slog.Logger
	warn     bool
	turns    chan struct{} // one for each that works; bounds work to what the machine can do at once
	bodies   *budget
}

// NewHandler gives a handler. It warns of Problems that are no reason to refuse if warn is set; metrics may be nil.
func NewHandler(reviewer *Reviewer, warn bool, metrics *metrics.Admission, log *slog.Logger) *Handler {
	return &Handler{
		reviewer: reviewer, warn: warn, metrics: metrics, log: log,
		turns: make(chan struct{}, runtime.GOMAXPROCS(0)), bodies: &budget{left: bodiesLimit},
	}
}

// httpError is an answer without a verdict. What the API server does then is said by the failurePolicy.
type httpError struct {
	status  int
	message string
}

func (e *httpError) Error() string { return e.message }

func failed(status int, format string, args ...any) *httpError {
	return &httpError{status, fmt.Sprintf(format, args...)}
}

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer func() {
		if p := recover(); p != nil {
			h.log.Error("admission review panicked, the API server does what its failurePolicy says", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			http.Error(w, "the review failed by a defect of this webhook; its log says more", http.StatusInternalServerError)
		}
	}()
	response, err := h.serve(r)
	if err != nil {
		status := http.StatusInternalServerError
		var known *httpError
		if errors.As(err, &known) {
			status = known.status
		}
		h.log.Warn("admission request is not answered", "status", status, "err", err, "client", r.RemoteAddr)
		http.Error(w, err.Error(), status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(admissionv1.AdmissionReview{ // a client that went away
		TypeMeta: metav1.TypeMeta{Kind: "AdmissionReview", APIVersion: reviewVersion}, Response: response,
	})
}

// serve reads a request, waits for its turn and judges.
func (h *Handler) serve(r *http.Request) (*admissionv1.AdmissionResponse, error) {
	begin := time.Now()
	if r.Method != http.MethodPost {
		return nil, failed(http.StatusMethodNotAllowed, "the method is %s; AdmissionReviews come by POST", r.Method)
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, failed(http.StatusUnsupportedMediaType, "the Content-Type is %.60q; AdmissionReviews are application/json", r.Header.Get("Content-Type"))
	}
	if !h.reviewer.ready() {
		return nil, failed(http.StatusServiceUnavailable, "the Ingresses of the cluster are still being read; try again in a moment")
	}
	body, release, err := h.read(r)
	if err != nil {
		return nil, err
	}
	defer release()
	ctx, cancel := context.WithTimeout(r.Context(), deadlineOf(r))
	defer cancel()
	select {
	case h.turns <- struct{}{}:
		defer func() { <-h.turns }()
	case <-ctx.Done():
		return nil, failed(http.StatusServiceUnavailable, "too many reviews at once; try again in a moment")
	}
	return h.judge(ctx, body, begin)
}

// deadlineOf gives how long the API server waits; it says so in the query.
func deadlineOf(r *http.Request) time.Duration {
	if d, err := time.ParseDuration(r.URL.Query().Get("timeout")); err == nil && d > 0 {
		return min(d, 3*patience)
	}
	return patience
}

// read gives the body and what is to be called when nobody needs it any more.
func (h *Handler) read(r *http.Request) (body []byte, release func(), err error) {
	size := r.ContentLength
	if size >= bodyLimit {
		return nil, nil, failed(http.StatusRequestEntityTooLarge, "the body has %d bytes; fewer than %d are taken", size, bodyLimit)
	}
	if size < 0 {
		size = bodyLimit
	}
	if !h.bodies.take(size) {
		return nil, nil, failed(http.StatusServiceUnavailable, "too many large reviews at once; try again in a moment")
	}
	release = func() { h.bodies.give(size) }
	if r.ContentLength >= 0 {
		body = make([]byte, size)
		_, err = io.ReadFull(r.Body, body)
	} else {
		body, err = io.ReadAll(io.LimitReader(r.Body, bodyLimit))
	}
	switch {
	case err != nil:
		err = failed(http.StatusBadRequest, "the body cannot be read: %v", err)
	case len(body) >= bodyLimit:
		err = failed(http.StatusRequestEntityTooLarge, "the body is longer than the %d bytes that are taken", bodyLimit-1)
	default:
		return body, release, nil
	}
	release()
	return nil, nil, err
}

// judge gives the answer to a body.
func (h *Handler) judge(ctx context.Context, body []byte, begin time.Time) (*admissionv1.AdmissionResponse, error) {
	asked, err := decode(body)
	if err != nil {
		return nil, failed(http.StatusBadRequest, "%v", err)
	}
	response := h.answer(ctx, asked, len(body), begin)
	response.UID = asked.UID
	return response, nil
}

func (h *Handler) answer(ctx context.Context, asked *request, size int, begin time.Time) *admissionv1.AdmissionResponse {
	if !asked.judged() {
		return &admissionv1.AdmissionResponse{Allowed: true}
	}
	if k := h.reviewer.Kong; k != nil && asked.Kind != ingressKind {
		return k.answer(ctx, asked, h.warn)
	}
	ing, err := asked.ingress()
	if err != nil {
		return refuse(err.Error(), nil)
	}
	if ing.DeletionTimestamp != nil {
		return &admissionv1.AdmissionResponse{Allowed: true}
	}
	read := time.Since(begin)
	v := h.reviewer.review(ing)
	if k := h.reviewer.Kong; k != nil {
		k.extend(&v, ing)
	}
	if v.Ours && h.metrics != nil {
		h.metrics.Review(metrics.Review{
			Namespace: ing.Namespace, Ingress: ing.Name, Accepted: len(v.Refusals) == 0, Judged: v.rivals + 1, Bytes: size,
			Reading: read, Judging: v.took, Whole: time.Since(begin),
		})
	}
	if len(v.Refusals) > 0 {
		h.log.Debug("Ingress refused", "object", "Ingress "+ing.Namespace+"/"+ing.Name, "reason", v.Refusals[0].Reason, "count", len(v.Refusals))
	}
	return v.answer(ing.Name, h.warn)
}
