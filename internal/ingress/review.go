// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	"slices"

	netv1 "k8s.io/api/networking/v1"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
)

// Verdict is what is to be said about an Ingress before it is stored.
type Verdict struct {
	// Ours says that this controller would serve the Ingress. About others there is nothing to say.
	Ours bool
	// Refusals are why it must not be stored; each has a Refusal. Warnings are what its author should know otherwise. Both are sorted.
	Refusals, Warnings []model.Problem
}

// Review judges an Ingress as the youngest of those that the snapshot holds, by the functions that build the model. The snapshot needs
// the rivals, which are the other Ingresses that share a Place with it, in any order, and the IngressClasses and Namespaces. What other kinds of
// objects say is not judged: they may follow.
func Review(options Options, settings *model.Settings, snapshot *source.Snapshot, ing *netv1.Ingress) Verdict {
	only := &source.Snapshot{IngressClasses: snapshot.IngressClasses, Namespaces: snapshot.Namespaces}
	only.Ingresses = append(slices.SortedFunc(slices.Values(snapshot.Ingresses), source.Older), ing)
	r := &run{Builder: NewBuilder(options), snapshot: only, result: &Result{Model: &model.Model{Settings: *settings}}}
	r.memory.begin()
	r.memory.settings = *settings
	r.readIngresses()
	accepted := r.result.Accepted
	v := Verdict{Ours: len(accepted) > 0 && accepted[len(accepted)-1] == ing}
	if v.Ours {
		r.chooseNames()
		r.buildHosts()
		r.problems = append(r.problems, Inspect(options, settings, ing)...)
	}
	ref := ingressRef(ing)
	for _, p := range model.SortProblems(r.problems) {
		switch {
		case p.Object != ref || dependent(p.Reason):
		case p.Refusal != "" && !(options.LenientAnnotations && p.Reason == model.ReasonInvalidAnnotation):
			v.Ours = true
			v.Refusals = append(v.Refusals, p)
		case v.Ours:
			v.Warnings = append(v.Warnings, p)
		}
	}
	return v
}

// dependent tells whether problems of that reason are about objects that a review does not look at.
func dependent(reason string) bool {
	switch reason {
	case model.ReasonMissingService, model.ReasonMissingPort, model.ReasonNoEndpoints, model.ReasonMissingSecret, model.ReasonMissingConfigMap,
		model.ReasonInvalidCertificate, model.ReasonCertificateMismatch:
		return true
	}
	return false
}

// ReadSettings gives the settings that the snapshot holds.
func ReadSettings(options Options, snapshot *source.Snapshot) *model.Settings {
	settings, _, _ := parseSettings(&options, snapshot, nil)
	return &settings
}
