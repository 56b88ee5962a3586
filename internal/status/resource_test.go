// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	netv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic/fake"
	kubernetesfake "k8s.io/client-go/kubernetes/fake"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source/kongapi"
)

// TestResources has the addresses of a TCPIngress and a UDPIngress written: once each, again when somebody empties them, and taken out at the end.
func TestResources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refs := []model.Ref{{Kind: "TCPIngress", Namespace: "ns", Name: "db"}, {Kind: "UDPIngress", Namespace: "ns", Name: "dns"}}
		served := map[model.Ref]metav1.Object{}
		var objects []runtime.Object
		for _, ref := range refs {
			kind, _ := kongapi.KindNamed(ref.Kind)
			o := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": kind.APIVersion(), "kind": ref.Kind, "metadata": map[string]any{"namespace": ref.Namespace, "name": ref.Name},
				"spec": map[string]any{"kept": "yes"},
			}}
			objects, served[ref] = append(objects, o), o
		}
		client := fake.NewSimpleDynamicClient(runtime.NewScheme(), objects...)
		get := func(ref model.Ref) *unstructured.Unstructured {
			o, err := resource(client, ref).Get(t.Context(), ref.Name, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			return o
		}
		says := func(ref model.Ref) *netv1.IngressLoadBalancerStatus {
			var typed kongapi.TCPIngress
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(map[string]any{"status": get(ref).Object["status"]}, &typed); err != nil {
				t.Fatal(err)
			}
			return &typed.Status.LoadBalancer
		}
		shows := func(when, want string) {
			t.Helper()
			for _, ref := range refs {
				if got := Addresses(says(ref).Ingress).String(); got != want {
					t.Errorf("%s: %s says %s, want %s", when, ref, got, want)
				}
			}
		}
		var writes atomic.Int32
		w := New(Options{Client: kubernetesfake.NewClientset(), Resources: client, Latest: says, Written: func(err error) {
			writes.Add(1)
			if err != nil {
				t.Error(err)
			}
		}})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); w.Lead(ctx) }()
		defer func() { cancel(); <-ended }()
		w.Publish(Parse("192.0.2.1,lb.example"))
		w.ServeResources(served)
		time.Sleep(time.Second)
		shows("served", "192.0.2.1, lb.example")
		if kept, _, _ := unstructured.NestedString(get(refs[0]).Object, "spec", "kept"); kept != "yes" {
			t.Error("the write dropped the spec")
		}
		w.ServeResources(served)
		time.Sleep(time.Hour)
		if n := writes.Load(); n != 2 {
			t.Errorf("%d writes, want 2", n)
		}
		if err := w.Clear(ctx); err != nil {
			t.Error(err)
		}
		shows("cleared", "none")
		w.ServeResources(nil)
		w.Publish(Parse("192.0.2.2"))
		time.Sleep(time.Hour)
		shows("no longer served", "none")
	})
}

func policyModel() (*kongapi.Objects, *model.Kong, []model.Ref) {
	objects, kong := &kongapi.Objects{}, &model.Kong{}
	policies := []model.Ref{{Kind: policyKind, Namespace: "ns", Name: "p"}, {Kind: policyKind, Namespace: "ns", Name: "q"}}
	for _, ref := range policies {
		objects.Put(policyKind, key(ref), &kongapi.KongUpstreamPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: ref.Namespace, Name: ref.Name}})
	}
	for i, name := range []string{"a", "a", "b", "c"} {
		id := model.KongServiceID{Namespace: "ns", Name: name, Port: string(rune('1' + i))}
		s := &model.KongService{ID: id, Origin: model.Origin{Ref: model.Ref{Kind: "Service", Namespace: "ns", Name: name}}}
		s.Upstream = &model.KongUpstream{Origin: model.Origin{Ref: policies[i/3]}}
		kong.Services = append(kong.Services, s)
	}
	return objects, kong, policies
}

func key(ref model.Ref) types.NamespacedName {
	return types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}
}

func TestPolicies(t *testing.T) {
	objects, kong, refs := policyModel()
	services := func(s Statement) (names []string) {
		for _, a := range s.(Policy).Ancestors {
			names = append(names, a.Ref.Name+" "+string(a.Accepted.Status)+" "+a.Accepted.Reason+" "+string(a.Programmed.Status)+" "+a.Programmed.Reason)
		}
		return names
	}
	check := func(when string, problems []model.Problem, err error, want map[int][]string) {
		t.Helper()
		all := Policies(objects, kong, problems, err)
		if !Same(all, Policies(objects, kong, problems, err)) {
			t.Errorf("%s: the same gives something else", when)
		}
		for i, ref := range refs {
			if got := services(all[ref]); !slices.Equal(got, want[i]) {
				t.Errorf("%s: %s: %q, want %q", when, ref, got, want[i])
			}
		}
	}
	good := []string{"a True Accepted True Programmed", "b True Accepted True Programmed"}
	check("in force", nil, nil, map[int][]string{0: good, 1: {"c True Accepted True Programmed"}})
	check("a policy is wrong", []model.Problem{{Object: refs[1], Reason: model.ReasonInvalidSetting, Message: "x"}}, nil,
		map[int][]string{0: good, 1: {"c False Invalid False Invalid"}})
	check("a gateway refuses an upstream", []model.Problem{{Object: kong.Services[2].Origin.Ref, Reason: refused, Message: "x"}}, nil,
		map[int][]string{0: {good[0], "b True Accepted False Invalid"}, 1: {"c True Accepted True Programmed"}})
	check("no gateway answers", nil, context.DeadlineExceeded,
		map[int][]string{0: {"a True Accepted Unknown Pending", "b True Accepted Unknown Pending"}, 1: {"c True Accepted Unknown Pending"}})
	kong.Routes = []*model.KongRoute{{Service: kong.Services[0].ID, Canaries: []model.KongCanary{
		{Service: kong.Services[2].ID, Canary: model.Canary{Weight: 10, WeightTotal: 100}},
		{Service: kong.Services[3].ID, Canary: model.Canary{Weight: 10, WeightTotal: 100}},
	}}}
	check("shares of one route", nil, nil, map[int][]string{0: good, 1: {"c False Conflicted False Pending"}})
}

// TestPolicyMembers keeps what others say, keeps times, and stays within the bound.
func TestPolicyMembers(t *testing.T) {
	now := time.Now()
	object := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"ancestors": []any{
		map[string]any{"controllerName": "else.where/gateway", "ancestorRef": map[string]any{"name": "x"}},
	}}}}
	var p Policy
	for i := range mostAncestors + 5 {
		a := Ancestor{Group: "core", Ref: model.Ref{Kind: "Service", Namespace: "ns", Name: string(rune('a' + i))}}
		a.judge("", "", nil)
		p.Ancestors = append(p.Ancestors, a)
	}
	members := p.members(object, now)
	list := members["ancestors"].([]any)
	if len(list) != mostAncestors || isOurs(list[0]) || !isOurs(list[1]) {
		t.Fatalf("%d ancestors, the first %v", len(list), list[0])
	}
	object.Object["status"] = members
	if again := p.members(object, now.Add(time.Hour)); again != nil {
		t.Error("the same is written again")
	}
	p.Ancestors[0].judge("", "refused", nil)
	changed := p.members(object, now.Add(time.Hour))["ancestors"].([]any)
	times := map[string]bool{}
	for _, entry := range changed[1:] {
		for _, c := range entry.(map[string]any)["conditions"].([]any) {
			times[c.(map[string]any)["lastTransitionTime"].(string)] = true
		}
	}
	if len(times) != 2 {
		t.Errorf("times %v, want the old ones and one new", times)
	}
	object.Object["status"] = map[string]any{"ancestors": changed}
	last := Policy{}.members(object, now)["ancestors"].([]any)
	if len(last) != 1 || isOurs(last[0]) {
		t.Errorf("once nobody names the policy: %v", last)
	}
	if (Policy{}).members(&unstructured.Unstructured{Object: map[string]any{}}, now) != nil {
		t.Error("a policy that nobody names is written")
	}
}
