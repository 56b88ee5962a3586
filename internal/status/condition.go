// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source/kongapi"
)

// The conditions of custom resources, and their reasons, in the words of the Kong Ingress Controller and of the Gateway API.
const (
	programmed       = "Programmed"
	accepted         = "Accepted"
	reasonOK         = "Programmed"
	reasonAccepted   = "Accepted"
	reasonConflicted = "Conflicted"
	reasonInvalid    = "Invalid"
	reasonPending    = "Pending"
	longestMessage   = 1024
)

// harmless are the reasons of Problems with which an object is in force all the same.
var harmless = []string{
	model.ReasonDeprecated, model.ReasonUnknownAnnotation, model.ReasonInvalidAnnotation, model.ReasonUnsupported, model.ReasonAmbiguous,
	model.ReasonNoEndpoints, model.ReasonMissingPolicy,
}

// Statement is what the status of an object is to say.
type Statement interface {
	// same tells whether another one says the same.
	same(Statement) bool
	// members gives the members of the status that are to be written, nil where the object says so already.
	members(object *unstructured.Unstructured, now time.Time) map[string]any
}

// Condition is the statement that an object is in force, or why it is not.
type Condition struct {
	UID             string // of the object: another of the same name has nothing yet
	Status          metav1.ConditionStatus
	Reason, Message string
}

// Conditions gives the condition of each custom resource that has one: those of the objects that ours tells of. Err is why the last model is not in
// force, nil when it is.
func Conditions(objects *kongapi.Objects, problems []model.Problem, err error, ours func(metav1.Object) bool) map[model.Ref]Statement {
	all := map[model.Ref]Statement{}
	if objects == nil {
		return all
	}
	take(all, "KongPlugin", objects.Plugins, err, func(metav1.Object) bool { return true })
	take(all, "KongClusterPlugin", objects.ClusterPlugins, err, ours)
	take(all, "KongConsumer", objects.Consumers, err, ours)
	take(all, "KongConsumerGroup", objects.ConsumerGroups, err, ours)
	for _, p := range problems {
		c, has := all[p.Object].(Condition)
		if !has || slices.Contains(harmless, p.Reason) {
			continue
		}
		text := told(p)
		if c.Reason == reasonInvalid {
			text = c.Message + "; " + text
		}
		all[p.Object] = Condition{c.UID, metav1.ConditionFalse, reasonInvalid, text}
	}
	return all
}

func take[T metav1.Object](all map[model.Ref]Statement, kind string, table kongapi.Table[T], err error, ours func(metav1.Object) bool) {
	for _, o := range table {
		if !ours(o) {
			continue
		}
		c := Condition{string(o.GetUID()), metav1.ConditionTrue, reasonOK, "the object is in force"}
		if err != nil {
			c = Condition{string(o.GetUID()), metav1.ConditionUnknown, reasonPending, pending(err)}
		}
		all[model.Ref{Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName()}] = c
	}
}

func pending(err error) string { return "the gateway does not have it yet: " + err.Error() }

// told is what a Problem says, with the place.
func told(p model.Problem) string {
	if p.Field == "" {
		return p.Message
	}
	return p.Field + ": " + p.Message
}

func (c Condition) same(other Statement) bool { return other == Statement(c) }

func (c Condition) members(object *unstructured.Unstructured, now time.Time) map[string]any {
	old, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	next, changed := withCondition(old, programmed, c, object.GetGeneration(), now)
	if !changed {
		return nil
	}
	return map[string]any{"conditions": next}
}

// withCondition gives conditions with that one in place of what they say now, and whether that differs.
func withCondition(old []any, kind string, c Condition, generation int64, now time.Time) (conditions []any, changed bool) {
	next := map[string]any{
		"type": kind, "status": string(c.Status), "reason": c.Reason, "message": shorten(c.Message),
		"observedGeneration": generation, "lastTransitionTime": now.UTC().Format(time.RFC3339),
	}
	changed = true
	for _, o := range old {
		o, ok := o.(map[string]any)
		if !ok || o["type"] != kind {
			conditions = append(conditions, o)
			continue
		}
		if o["status"] == next["status"] {
			next["lastTransitionTime"] = o["lastTransitionTime"]
			changed = o["reason"] != next["reason"] || o["message"] != next["message"]
		}
	}
	return append(conditions, next), changed
}

func shorten(text string) string {
	if len(text) > longestMessage {
		return strings.ToValidUTF8(text[:longestMessage], "")
	}
	return text
}
