// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"maps"
	"reflect"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source/kongapi"
)

const (
	policyKind = "KongUpstreamPolicy"
	// policyController is by whom ancestors are said to be judged. It is the name that the Kong Ingress Controller has there, so that what it wrote is
	// taken over and does not stay for ever.
	policyController = "konghq.com/kic-gateway-controller"
	// mostAncestors is what the Gateway API lets a policy have.
	mostAncestors = 16
	// refused is the reason of Problems with what a gateway does not take.
	refused = "KongConfigurationApplyFailed"
)

// Policy is the statement of how a policy is obeyed by each Service that names it.
type Policy struct {
	UID string // see Condition
	// Ancestors are the Services, sorted; what is more than the API lets a policy have is left out.
	Ancestors []Ancestor
}

// Ancestor is a Service, or a KongServiceFacade, that names a policy.
type Ancestor struct {
	Group                string // as the Kong Ingress Controller writes it: "core" for Services
	Ref                  model.Ref
	Accepted, Programmed Condition
}

// Policies gives the statement of each KongUpstreamPolicy. The Services are those of the model, which routes lead to. Err is as in Conditions.
func Policies(objects *kongapi.Objects, kong *model.Kong, problems []model.Problem, err error) map[model.Ref]Statement {
	all := map[model.Ref]Statement{}
	if objects == nil || len(objects.UpstreamPolicies) == 0 {
		return all
	}
	faults := map[model.Ref]string{}
	for _, p := range problems {
		if p.Object.Kind == policyKind && !slices.Contains(harmless, p.Reason) || p.Reason == refused {
			if before := faults[p.Object]; before != "" {
				faults[p.Object] = before + "; " + told(p)
			} else {
				faults[p.Object] = told(p)
			}
		}
	}
	ancestors := ancestorsOf(kong)
	for _, o := range objects.UpstreamPolicies {
		ref := model.Ref{Kind: policyKind, Namespace: o.Namespace, Name: o.Name}
		policy := Policy{UID: string(o.UID)}
		for _, a := range ancestors[ref] {
			a.judge(faults[ref], faults[a.Ref], err)
			policy.Ancestors = append(policy.Ancestors, a)
		}
		all[ref] = policy
	}
	return all
}

// Same tells whether two sets of statements say the same.
func Same(a, b map[model.Ref]Statement) bool { return maps.EqualFunc(a, b, Statement.same) }

// ancestorsOf lists who names which policy, those who cannot have theirs with a conflict.
func ancestorsOf(kong *model.Kong) map[model.Ref][]Ancestor {
	all := map[model.Ref][]Ancestor{}
	if kong == nil {
		return all
	}
	conflicts := conflictsOf(kong)
	for _, s := range kong.Services {
		if s.Upstream == nil || s.Upstream.Origin.Kind != policyKind {
			continue
		}
		a := Ancestor{Group: s.Origin.Group, Ref: s.Origin.Ref}
		if a.Group == "" {
			a.Group = "core"
		}
		if winner, conflict := conflicts[s.Origin.Ref]; conflict {
			a.Accepted = Condition{"", metav1.ConditionFalse, reasonConflicted,
				"shares requests with " + winner.String() + ", whose own choice counts for both"}
		}
		policy := s.Upstream.Origin.Ref
		if !slices.ContainsFunc(all[policy], func(known Ancestor) bool { return known.Ref == a.Ref }) {
			all[policy] = append(all[policy], a) // several ports of a Service are one ancestor
		}
	}
	for _, list := range all {
		slices.SortFunc(list, func(a, b Ancestor) int { return a.Ref.Compare(b.Ref) })
	}
	return all
}

// conflictsOf gives the Services that take a share of requests by weight beside another one with another policy, or none, which counts.
func conflictsOf(kong *model.Kong) map[model.Ref]model.Ref {
	conflicts := map[model.Ref]model.Ref{}
	var byID map[model.KongServiceID]*model.KongService
	for _, r := range kong.Routes {
		if len(r.Canaries) == 0 {
			continue
		}
		if byID == nil {
			byID = servicesByID(kong)
		}
		first := byID[r.Service]
		for i := range r.Canaries {
			other := byID[r.Canaries[i].Service]
			if r.Canaries[i].Weight <= 0 || first == nil || other == nil || policyOf(first) == policyOf(other) {
				continue
			}
			conflicts[other.Origin.Ref] = first.Origin.Ref
		}
	}
	return conflicts
}

func servicesByID(kong *model.Kong) map[model.KongServiceID]*model.KongService {
	byID := make(map[model.KongServiceID]*model.KongService, len(kong.Services))
	for _, s := range kong.Services {
		byID[s.ID] = s
	}
	return byID
}

func policyOf(s *model.KongService) model.Ref {
	if s.Upstream == nil {
		return model.Ref{}
	}
	return s.Upstream.Origin.Ref
}

// judge fills in the conditions: of the policy's own faults, of what a gateway says of the Service, and of why the model is not in force.
func (a *Ancestor) judge(ofPolicy, ofService string, err error) {
	conflicted := a.Accepted.Reason == reasonConflicted
	switch {
	case conflicted:
		a.Programmed = Condition{"", metav1.ConditionFalse, reasonPending, a.Accepted.Message}
		return
	case ofPolicy != "":
		a.Accepted = Condition{"", metav1.ConditionFalse, reasonInvalid, ofPolicy}
		a.Programmed = a.Accepted
		return
	}
	a.Accepted = Condition{"", metav1.ConditionTrue, reasonAccepted, "the policy is accepted"}
	switch {
	case ofService != "":
		a.Programmed = Condition{"", metav1.ConditionFalse, reasonInvalid, ofService}
	case err != nil:
		a.Programmed = Condition{"", metav1.ConditionUnknown, reasonPending, pending(err)}
	default:
		a.Programmed = Condition{"", metav1.ConditionTrue, reasonOK, "the policy is in force"}
	}
}

func (p Policy) same(other Statement) bool {
	o, is := other.(Policy)
	return is && reflect.DeepEqual(p, o)
}

// members leaves what other controllers say of the policy as it is.
func (p Policy) members(object *unstructured.Unstructured, now time.Time) map[string]any {
	old, _, _ := unstructured.NestedSlice(object.Object, "status", "ancestors")
	others := slices.DeleteFunc(slices.Clone(old), isOurs)
	ours := slices.DeleteFunc(slices.Clone(old), func(entry any) bool { return !isOurs(entry) })
	kept := p.Ancestors[:min(len(p.Ancestors), max(0, mostAncestors-len(others)))]
	changed := len(ours) != len(kept)
	all := slices.Clip(others)
	for i, a := range kept {
		ref := map[string]any{"group": a.Group, "kind": a.Ref.Kind, "namespace": a.Ref.Namespace, "name": a.Ref.Name}
		conditions := conditionsFor(ours, ref)
		conditions, first := withCondition(conditions, accepted, a.Accepted, object.GetGeneration(), now)
		conditions, second := withCondition(conditions, programmed, a.Programmed, object.GetGeneration(), now)
		changed = changed || first || second || !reflect.DeepEqual(entryRef(ours[i]), ref)
		all = append(all, map[string]any{"ancestorRef": ref, "controllerName": policyController, "conditions": conditions})
	}
	if !changed {
		return nil
	}
	return map[string]any{"ancestors": all}
}

func isOurs(entry any) bool {
	e, ok := entry.(map[string]any)
	return ok && e["controllerName"] == policyController
}

func entryRef(entry any) map[string]any {
	e, _ := entry.(map[string]any)
	ref, _ := e["ancestorRef"].(map[string]any)
	return ref
}

// conditionsFor gives what is said of an ancestor now.
func conditionsFor(entries []any, ref map[string]any) []any {
	for _, entry := range entries {
		if reflect.DeepEqual(entryRef(entry), ref) {
			e, _ := entry.(map[string]any)
			conditions, _ := e["conditions"].([]any)
			return conditions
		}
	}
	return nil
}
