// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source/kongapi"
)

// The condition of custom resources, and its reasons, in the words of the Kong Ingress Controller.
const (
	programmed      = "Programmed"
	reasonOK        = "Programmed"
	reasonInvalid   = "Invalid"
	reasonPending   = "Pending"
	longestMessage  = 1024
	programmedEvery = time.Second
)

// harmless are the reasons of Problems with which an object is in force all the same.
var harmless = []string{
	model.ReasonDeprecated, model.ReasonUnknownAnnotation, model.ReasonInvalidAnnotation, model.ReasonUnsupported, model.ReasonAmbiguous,
	model.ReasonNoEndpoints, model.ReasonMissingPolicy,
}

// Condition is what is said of an object.
type Condition struct {
	UID             string // of the object: another of the same name has nothing yet
	Status          metav1.ConditionStatus
	Reason, Message string
}

// Conditions gives the condition of each custom resource that has one: those of the objects that ours tells of. Err is why the last model is not in
// force, nil when it is.
func Conditions(objects *kongapi.Objects, problems []model.Problem, err error, ours func(metav1.Object) bool) map[model.Ref]Condition {
	all := map[model.Ref]Condition{}
	if objects == nil {
		return all
	}
	put := func(kind string, o metav1.Object) {
		c := Condition{string(o.GetUID()), metav1.ConditionTrue, reasonOK, "the object is in force"}
		if err != nil {
			c = Condition{string(o.GetUID()), metav1.ConditionUnknown, reasonPending, "the gateway does not have it yet: " + err.Error()}
		}
		all[model.Ref{Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName()}] = c
	}
	for _, o := range objects.Plugins {
		put("KongPlugin", o)
	}
	for _, o := range objects.ClusterPlugins {
		if ours(o) {
			put("KongClusterPlugin", o)
		}
	}
	for _, o := range objects.Consumers {
		if ours(o) {
			put("KongConsumer", o)
		}
	}
	for _, o := range objects.ConsumerGroups {
		if ours(o) {
			put("KongConsumerGroup", o)
		}
	}
	for _, p := range problems {
		c, has := all[p.Object]
		if !has || slices.Contains(harmless, p.Reason) {
			continue
		}
		text := p.Message
		if p.Field != "" {
			text = p.Field + ": " + text
		}
		if c.Reason == reasonInvalid {
			text = c.Message + "; " + text
		}
		all[p.Object] = Condition{c.UID, metav1.ConditionFalse, reasonInvalid, text}
	}
	return all
}

// Programmer writes the condition Programmed of custom resources while Lead runs. Set may be called from any goroutine.
type Programmer struct {
	client dynamic.Interface
	log    *slog.Logger
	limit  flowcontrol.RateLimiter
	wake   chan struct{}

	mu     sync.Mutex // guards wanted
	wanted map[model.Ref]Condition

	written map[model.Ref]Condition // Lead's own
}

// NewProgrammer makes one that writes nothing yet.
func NewProgrammer(client dynamic.Interface, log *slog.Logger) *Programmer {
	return &Programmer{client: client, log: log, limit: flowcontrol.NewTokenBucketRateLimiter(writesPerSecond, parallel), wake: make(chan struct{}, 1)}
}

// Set says what the conditions are to be.
func (p *Programmer) Set(conditions map[model.Ref]Condition) {
	p.mu.Lock()
	p.wanted = conditions
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// Lead writes what differs until ctx ends. A write that fails is repeated.
func (p *Programmer) Lead(ctx context.Context) {
	p.written = map[model.Ref]Condition{} // somebody else may have led meanwhile
	ticker := time.NewTicker(programmedEvery)
	defer ticker.Stop()
	failed := true
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.wake:
			// Gather the rounds of a moment, such as between an object and the Secret that it names.
			select {
			case <-ctx.Done():
				return
			case <-time.After(programmedEvery):
			}
		case <-ticker.C:
			if !failed {
				continue
			}
		}
		failed = !p.writeAll(ctx)
	}
}

// writeAll tells whether all is written.
func (p *Programmer) writeAll(ctx context.Context) bool {
	p.mu.Lock()
	wanted := p.wanted
	p.mu.Unlock()
	done := true
	for ref := range p.written {
		if _, still := wanted[ref]; !still {
			delete(p.written, ref)
		}
	}
	for ref, c := range wanted {
		if p.written[ref] == c {
			continue
		}
		if p.limit.Wait(ctx) != nil {
			return false
		}
		if err := p.write(ctx, ref, c); err != nil {
			done = false
			p.log.Debug("condition is not written", "object", ref.String(), "err", err)
			continue
		}
		p.written[ref] = c
	}
	return done
}

// write changes the condition of one object, unless it says so already.
func (p *Programmer) write(ctx context.Context, ref model.Ref, c Condition) error {
	ctx, cancel := context.WithTimeout(ctx, writePatience)
	defer cancel()
	client := p.resource(ref)
	if client == nil {
		return nil
	}
	object, err := client.Get(ctx, ref.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil // gone; the next round knows
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", ref, err)
	}
	conditions, changed := withCondition(object, c, time.Now())
	if !changed {
		return nil
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": object.GetResourceVersion()}, "status": map[string]any{"conditions": conditions},
	})
	if err != nil {
		return err
	}
	_, err = client.Patch(ctx, ref.Name, "application/merge-patch+json", patch, metav1.PatchOptions{FieldManager: manager}, "status")
	if apierrors.IsNotFound(err) {
		return nil // gone, or a definition without a status
	}
	return err
}

func (p *Programmer) resource(ref model.Ref) dynamic.ResourceInterface {
	for _, kind := range kongapi.Kinds() {
		if kind.Name != ref.Kind {
			continue
		}
		all := p.client.Resource(schema.GroupVersionResource{Group: kind.Group, Version: kind.Version, Resource: kind.Plural})
		if kind.Cluster {
			return all
		}
		return all.Namespace(ref.Namespace)
	}
	return nil
}

// withCondition gives the conditions of an object with that one in place of what it says now, and whether that differs.
func withCondition(object *unstructured.Unstructured, c Condition, now time.Time) (conditions []any, changed bool) {
	next := map[string]any{
		"type": programmed, "status": string(c.Status), "reason": c.Reason, "message": shorten(c.Message),
		"observedGeneration": object.GetGeneration(), "lastTransitionTime": now.UTC().Format(time.RFC3339),
	}
	old, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, o := range old {
		o, ok := o.(map[string]any)
		if !ok || o["type"] != programmed {
			conditions = append(conditions, o)
			continue
		}
		if o["status"] == next["status"] {
			next["lastTransitionTime"] = o["lastTransitionTime"]
			if o["reason"] == next["reason"] && o["message"] == next["message"] {
				return nil, false
			}
		}
	}
	return append(conditions, next), true
}

func shorten(text string) string {
	if len(text) > longestMessage {
		return strings.ToValidUTF8(text[:longestMessage], "")
	}
	return text
}
