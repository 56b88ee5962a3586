// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package konghq

import (
	"fmt"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	netv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
	"github.com/fairway-ingress/fairway/internal/source/kongapi"
)

// Verdict is what is to be said about an object before it is stored.
type Verdict struct {
	// Ours tells whether the object counts here at all.
	Ours bool
	// Refusals have Refusal set; Warnings are all other Problems of the object.
	Refusals, Warnings []model.Problem
	// Plugins are what the object describes, or what has its configuration from it, for a gateway to judge; none of them is broken or disabled.
	Plugins []*model.KongPlugin
}

// Review judges a custom resource, or a Secret that is a credential or holds configurations of plugins, as the build would: by the very functions, as
// the youngest object if it is new. The snapshot is not modified.
func Review(options *Options, snapshot *source.Snapshot, kind string, object metav1.Object) Verdict {
	if created := object.GetCreationTimestamp(); created.IsZero() {
		object.SetCreationTimestamp(metav1.NewTime(time.Unix(math.MaxInt32, 0)))
	}
	with := *snapshot
	with.Kong = &kongapi.Objects{}
	if snapshot.Kong != nil {
		with.Kong = snapshot.Kong.Clone()
	}
	key := source.Key{Namespace: object.GetNamespace(), Name: object.GetName()}
	secret, isSecret := object.(*corev1.Secret)
	if isSecret {
		with.Secrets = withSecret(snapshot.Secrets, key, secret)
	} else {
		with.Kong.Put(kind, key, object)
	}
	r := newRun(options, &with, newMemory())
	r.problems = nil
	ref := model.Ref{Kind: kind, Namespace: key.Namespace, Name: key.Name}
	v := Verdict{Ours: true}
	switch o := object.(type) {
	case *kongapi.KongPlugin:
		if p := r.plugin(o); p.Broken == "" && !p.Disabled {
			v.Plugins = append(v.Plugins, p)
		}
	case *kongapi.KongUpstreamPolicy:
		r.upstreamOf(o)
	case *kongapi.KongIngress:
		r.upstreamOfKongIngress(o)
	case *kongapi.KongConsumer:
		v.Ours = r.ours(o)
		r.readConsumers()
	case *kongapi.KongConsumerGroup:
		v.Ours = r.ours(o)
		r.readGroups()
	case *kongapi.TCPIngress:
		v.Ours = r.ours(o)
		r.readStreams()
	case *kongapi.UDPIngress:
		v.Ours = r.ours(o)
		r.readStreams()
	case *corev1.Secret:
		return r.reviewSecret(o)
	default:
		v.Ours = false
	}
	if v.Ours {
		v.take(r.found(), ref)
	}
	return v
}

// ReviewIngress judges the annotations of an Ingress that are for Kong.
func ReviewIngress(options *Options, snapshot *source.Snapshot, ing *netv1.Ingress) Verdict {
	r := newRun(options, snapshot, newMemory())
	r.problems = nil
	o := origin("Ingress", netv1.GroupName, "v1", ing)
	n := r.readNotes(o.Ref, ing, knownOnRoutes)
	n.routeOptions()
	n.hostAliases()
	r.attachments(n, o)
	v := Verdict{Ours: true}
	v.take(r.found(), o.Ref)
	return v
}

// take sorts out the Problems of an object.
func (v *Verdict) take(problems []model.Problem, ref model.Ref) {
	for _, p := range model.SortProblems(problems) {
		switch {
		case p.Object != ref:
		case p.Refusal != "" && p.Reason != model.ReasonMissingSecret && p.Reason != model.ReasonMissingPlugin:
			v.Refusals = append(v.Refusals, p)
		default: // what is missing may come after
			v.Warnings = append(v.Warnings, p)
		}
	}
}

func withSecret(secrets map[source.Key]*corev1.Secret, key source.Key, secret *corev1.Secret) map[source.Key]*corev1.Secret {
	with := make(map[source.Key]*corev1.Secret, len(secrets)+1)
	for k, s := range secrets {
		with[k] = s
	}
	with[key] = secret
	return with
}

// reviewSecret judges a Secret by its labels.
func (r *run) reviewSecret(secret *corev1.Secret) Verdict {
	switch {
	case secret.Labels[credentialLabel] != "":
		return r.reviewCredential(secret)
	case secret.Labels[validateLabel] == "plugin":
		return r.reviewConfiguration(secret)
	}
	return Verdict{}
}

// reviewConfiguration judges a Secret by the plugins that read it: with it they can be built.
func (r *run) reviewConfiguration(secret *corev1.Secret) Verdict {
	v := Verdict{Ours: true}
	key := source.Key{Namespace: secret.Namespace, Name: secret.Name}
	for _, object := range slices.Concat(sorted(r.objects.Plugins), sorted(r.objects.ClusterPlugins)) {
		if secrets, _ := References(object); !slices.Contains(secrets, key) {
			continue
		}
		p := r.plugin(object)
		switch {
		case p.Broken != "":
			text := fmt.Sprintf("with it %s cannot be built: %s", p.Origin.Ref, p.Broken)
			v.Refusals = append(v.Refusals, model.Problem{
				Object: model.Ref{Kind: "Secret", Namespace: key.Namespace, Name: key.Name}, Field: "data", Reason: model.ReasonInvalidPlugin,
				Message: text, Refusal: text,
			})
		case !p.Disabled:
			v.Plugins = append(v.Plugins, p)
		}
	}
	return v
}

// reviewCredential judges a credential: its fields, and whether the consumers that name it clash with others then.
func (r *run) reviewCredential(secret *corev1.Secret) Verdict {
	ref := model.Ref{Kind: "Secret", Namespace: secret.Namespace, Name: secret.Name}
	v := Verdict{Ours: true}
	if _, _, err := newCredential(secret); err != nil {
		v.Refusals = append(v.Refusals, model.Problem{Object: ref, Field: "data", Reason: model.ReasonInvalidCredential,
			Message: "the Secret " + err.Error(), Refusal: "the Secret " + err.Error()})
		return v
	}
	r.readConsumers()
	for _, p := range r.found() {
		if p.Reason == model.ReasonDuplicate && r.names(p.Object, p.Field, secret) {
			p.Object = ref
			v.Refusals = append(v.Refusals, p)
		}
	}
	return v
}

// names tells whether the credential at a place of a consumer is the Secret.
func (r *run) names(consumer model.Ref, field string, secret *corev1.Secret) bool {
	object := r.objects.Consumers[source.Key{Namespace: consumer.Namespace, Name: consumer.Name}]
	if object == nil || object.Namespace != secret.Namespace {
		return false
	}
	for i, name := range object.Credentials {
		if field == credentialField(i) && name == secret.Name {
			return true
		}
	}
	return false
}
