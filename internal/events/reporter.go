// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package events

import (
	"cmp"
	"context"
	"iter"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	netv1 "k8s.io/api/networking/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
)

// Component is the predecessor's, so that filters on the source of Events keep working.
const Component = "nginx-ingress-controller"

// Reasons of the predecessor. An Event about a Problem has the Problem's reason, but for those of annotations, which have ReasonAnnotation.
const (
	ReasonSync       = "Sync"
	ReasonCreate     = "CREATE"
	ReasonUpdate     = "UPDATE"
	ReasonReload     = "RELOAD"
	ReasonAnnotation = "AnnotationParsingFailed"
)

// Reasons of the Kong Ingress Controller for Events of pushes to gateways, and what stands before them where a gateway refuses some of what is wanted
// and was given what is left.
const (
	ReasonPushed    = "KongConfigurationSucceeded"
	ReasonNotPushed = "KongConfigurationApplyFailed"
	Fallback        = "Fallback"
)

const (
	// settle is how old a Problem must be to be told, and how long changes are gathered.
	settle = 3 * time.Second
	pause  = time.Second
	// repeat is after how long a Problem is told again; Events expire after an hour unless the API server is told otherwise.
	repeat = 45 * time.Minute
	// lookAgain is how often that is looked at.
	lookAgain = time.Minute
	// perSecond Events go out in the long run, and so many times burst at once.
	perSecond = 10
	burst     = 50
	// longest is what the API server takes as a message.
	longest = 1000
)

// Options of a reporter.
type Options struct {
	Client kubernetes.Interface
	// Pod is this controller's own, for Events about reloads and pushes; nil when it is not known.
	Pod *corev1.ObjectReference
	// Speaks tells whether this replica is the one that tells of objects; each tells of its own reloads and pushes.
	Speaks func() bool
	// Quiet leaves out all but those about reloads and pushes.
	Quiet bool
	// Refer completes a name to a reference, with the UID by which `kubectl describe` finds Events; nil for what does not exist.
	Refer func(model.Ref) *corev1.ObjectReference
	// Component is the source that Events name, and Reason gives that of an Event about a Problem; without them both are the predecessor's.
	Component string
	Reason    func(model.Problem) string
}

// Round is what is known after a round of the loop. It is not modified afterwards.
type Round struct {
	// Accepted are the Ingresses in force, in the order of source.Older.
	Accepted []*netv1.Ingress
	// Problems are all there are, each with the time when it was first seen.
	Problems iter.Seq2[model.Problem, time.Time]
	// Settings is the ConfigMap of the settings, or nil.
	Settings *corev1.ConfigMap
}

// Reporter sends Events while Run runs. Its methods may be called from any goroutine and don't block.
type Reporter struct {
	options Options
	limit   flowcontrol.RateLimiter
	wake    chan struct{}

	mu       sync.Mutex // guards below
	round    *Round     // the newest
	first    *Round     // what was there when this replica began, which is no news
	own      []deed     // of this replica, not told yet
	contests []model.Problem

	// Of Run's goroutine alone.
	recorder record.EventRecorder
	last     *Round // that was looked at
	synced   map[source.Key]*netv1.Ingress
	told     map[place]telling
}

// deed is something that this replica did, or could not do.
type deed struct {
	reason, message string
	failed          bool
}

// place is what makes a Problem the same as before.
type place struct {
	object        model.Ref
	field, reason string
}

// telling is when a Problem was told, in which words.
type telling struct {
	message string
	at      time.Time
}

// New makes a reporter that sends nothing yet.
func New(options Options) *Reporter {
	options.Component = cmp.Or(options.Component, Component)
	if options.Reason == nil {
		options.Reason = reasonOf
	}
	return &Reporter{
		options: options, limit: flowcontrol.NewTokenBucketRateLimiter(perSecond, burst), wake: make(chan struct{}, 1),
		synced: map[source.Key]*netv1.Ingress{}, told: map[place]telling{},
	}
}

func (r *Reporter) awake() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Report hands over what is known now.
func (r *Reporter) Report(round *Round) {
	r.mu.Lock()
	r.round = round
	if r.first == nil {
		r.first = round
	}
	r.mu.Unlock()
	r.awake()
}

// mostDeeds bounds the deeds in line.
const mostDeeds = 100

// Reloaded tells of a reload of the data plane: why, and the error if it did not work.
func (r *Reporter) Reloaded(reasons []string, err error) {
	next := deed{reason: ReasonReload, message: "nginx was reloaded, because of: " + strings.Join(reasons, ", ")}
	if err != nil {
		next.message, next.failed = "nginx was not reloaded, and the last good state keeps serving: "+err.Error(), true
	}
	r.did(next)
}

// Pushed tells of a push to a gateway: of all that is wanted or, as a fallback, of what is left, and the error if it did not work.
func (r *Reporter) Pushed(gateway string, fallback bool, err error) {
	next := deed{reason: ReasonPushed, message: gateway + " holds all that is wanted"}
	if fallback {
		next.message = gateway + " holds what is wanted, without what it refuses"
	}
	if err != nil {
		next = deed{reason: ReasonNotPushed, message: gateway + " does not take what is wanted: " + err.Error(), failed: true}
	}
	if fallback {
		next.reason = Fallback + next.reason
	}
	r.did(next)
}

func (r *Reporter) did(next deed) {
	r.mu.Lock()
	if len(r.own) < mostDeeds {
		r.own = append(r.own, next)
	}
	r.mu.Unlock()
	r.awake()
}

// mostContests bounds the contests in line.
const mostContests = 100

// Contested tells of a Problem that does not come from a round. It is told once.
func (r *Reporter) Contested(p model.Problem) {
	r.mu.Lock()
	if len(r.contests) < mostContests {
		r.contests = append(r.contests, p)
	}
	r.mu.Unlock()
	r.awake()
}

// Run sends Events until ctx ends.
func (r *Reporter) Run(ctx context.Context) {
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	defer broadcaster.Shutdown()
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: r.options.Client.CoreV1().Events("")})
	r.recorder = broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: r.options.Component})
	for {
		wait := lookAgain
		if r.look(time.Now()) {
			wait = pause
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-r.wake:
		}
		timer.Stop()
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause): // a storm of changes is one look
		}
	}
}

// look sends what there is to say, and tells whether something is left for soon.
func (r *Reporter) look(now time.Time) bool {
	r.mu.Lock()
	round, own, contests := r.round, r.own, r.contests
	if r.last == nil && r.first != nil {
		r.last, r.first = r.first, &Round{} // which keeps nothing in memory
	}
	r.own, r.contests = nil, nil
	r.mu.Unlock()
	for _, next := range own {
		r.tellDeed(next)
	}
	if round == nil {
		return false
	}
	speaks := r.options.Speaks() && !r.options.Quiet
	r.compare(round, speaks)
	if !speaks {
		clear(r.told)
		clear(r.synced)
		return false
	}
	for _, p := range contests {
		r.tell(p)
	}
	left := r.tellProblems(round, now)
	return r.tellSynced() || left
}

func (r *Reporter) tellDeed(next deed) {
	if r.options.Pod == nil {
		return
	}
	kind := corev1.EventTypeNormal
	if next.failed {
		kind = corev1.EventTypeWarning
	}
	r.recorder.Event(r.options.Pod, kind, next.reason, cut(next.message))
}

// compare notes what changed since the last round that was looked at.
func (r *Reporter) compare(round *Round, speaks bool) {
	before := r.last
	r.last = round
	if before == round {
		return
	}
	source.Diff(before.Accepted, round.Accepted, func(old, new *netv1.Ingress) {
		if new == nil {
			delete(r.synced, source.Key{Namespace: old.Namespace, Name: old.Name})
		} else {
			r.synced[source.Key{Namespace: new.Namespace, Name: new.Name}] = new
		}
	})
	if speaks && round.Settings != nil && round.Settings != before.Settings {
		reason := ReasonUpdate
		if before.Settings == nil {
			reason = ReasonCreate
		}
		r.tellSettings(round.Settings, reason)
	}
}

func (r *Reporter) tellSettings(c *corev1.ConfigMap, reason string) {
	about := &corev1.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Namespace: c.Namespace, Name: c.Name, UID: c.UID}
	r.recorder.Event(about, corev1.EventTypeNormal, reason, "ConfigMap "+c.Namespace+"/"+c.Name)
}

// tellProblems tells those that are new or that were told long ago.
func (r *Reporter) tellProblems(round *Round, now time.Time) (left bool) {
	told := make(map[place]telling, len(r.told))
	for p, since := range round.Problems {
		at := place{p.Object, p.Field, p.Reason}
		before, known := r.told[at]
		switch {
		case known && before.message == p.Message && now.Sub(before.at) < repeat:
			told[at] = before
		case now.Sub(since) < settle || !r.limit.TryAccept():
			left = true
			if known {
				told[at] = before
			}
		default:
			r.tell(p)
			told[at] = telling{p.Message, now}
		}
	}
	r.told = told
	return left
}

func (r *Reporter) tell(p model.Problem) {
	about := r.options.Refer(p.Object)
	if about == nil {
		return
	}
	text := p.Message
	if p.Field != "" {
		text = p.Field + ": " + text
	}
	r.recorder.Event(about, corev1.EventTypeWarning, r.options.Reason(p), cut(text))
}

func reasonOf(p model.Problem) string {
	if p.Reason == model.ReasonInvalidAnnotation || p.Reason == model.ReasonForbiddenAnnotation {
		return ReasonAnnotation
	}
	return p.Reason
}

// tellSynced tells which Ingresses are in force as they are now.
func (r *Reporter) tellSynced() (left bool) {
	for key, i := range r.synced {
		if !r.limit.TryAccept() {
			return true
		}
		delete(r.synced, key)
		about := &corev1.ObjectReference{APIVersion: "networking.k8s.io/v1", Kind: "Ingress", Namespace: i.Namespace, Name: i.Name, UID: i.UID}
		r.recorder.Event(about, corev1.EventTypeNormal, ReasonSync, "The Ingress is in force as it is now")
	}
	return false
}

// cut shortens a text to what an Event may say, between characters.
func cut(text string) string {
	if len(text) <= longest {
		return text
	}
	return strings.ToValidUTF8(text[:longest], "") + "…"
}
