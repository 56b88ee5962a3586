// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	netv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-ingress/fairway/internal/konghq"
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
	"github.com/fairway-ingress/fairway/internal/source/kongapi"
)

// schemaPatience is how long a gateway may take to judge a plugin; the API server waits for it.
const schemaPatience = 2 * time.Second

// Kong judges the custom resources of Kong, and Secrets that are credentials or hold configurations of plugins. It is safe for concurrent use.
type Kong struct {
	// Options are those of the controller's loop.
	Options konghq.Options
	// Snapshot gives the objects as they are now.
	Snapshot func() *source.Snapshot
	// Schema asks a gateway whether it takes a plugin: refusal says why not. An error means that no gateway can be asked. Nil is to ask nobody.
	Schema func(ctx context.Context, plugin *model.KongPlugin) (refusal string, err error)
	// OpenSource tells whether a gateway answers that is no Enterprise; nil for never.
	OpenSource func() bool
}

// object reads what is to be judged; nil for a kind that nobody judges.
func (r *request) kong() (metav1.Object, error) {
	if len(r.Object) == 0 || string(r.Object) == "null" {
		return nil, errors.New("the request has no object")
	}
	var object metav1.Object
	if r.Kind.Group == "" && r.Kind.Kind == "Secret" {
		secret := &corev1.Secret{}
		if err := json.Unmarshal(r.Object, secret); err != nil {
			return nil, fmt.Errorf("the object is no Secret: %w", err)
		}
		object = secret
	}
	for _, kind := range kongapi.Kinds() {
		if kind.Group == r.Kind.Group && kind.Name == r.Kind.Kind {
			decoded, err := kind.Decode(r.Object)
			if err != nil {
				return nil, err
			}
			object = decoded
		}
	}
	if object != nil && object.GetNamespace() == "" {
		object.SetNamespace(r.Namespace)
	}
	return object, nil
}

// answer judges an object.
func (k *Kong) answer(ctx context.Context, asked *request, warn bool) *admissionv1.AdmissionResponse {
	object, err := asked.kong()
	if err != nil {
		return refuse(err.Error(), nil)
	}
	if object == nil || object.GetDeletionTimestamp() != nil {
		return &admissionv1.AdmissionResponse{Allowed: true}
	}
	v := konghq.Review(&k.Options, k.Snapshot(), asked.Kind.Kind, object)
	if len(v.Refusals) == 0 && k.Schema != nil {
		k.askGateway(ctx, &v, object)
	}
	if _, isGroup := object.(*kongapi.KongConsumerGroup); isGroup && v.Ours && k.OpenSource != nil && k.OpenSource() {
		tellEnterprise(asked, &v)
	}
	whole := verdict{}
	whole.Ours, whole.Refusals, whole.Warnings = v.Ours, v.Refusals, v.Warnings
	response := whole.answer(object.GetName(), warn)
	if response.Result != nil && response.Result.Details != nil {
		response.Result.Details.Group, response.Result.Details.Kind = asked.Kind.Group, asked.Kind.Kind
	}
	return response
}

// extend adds to the verdict on an Ingress what its annotations for Kong say, and takes out what Kong's own rules decide otherwise.
func (k *Kong) extend(v *verdict, ing *netv1.Ingress) {
	byKong := func(p model.Problem) bool { return p.Reason == model.ReasonShadowed }
	v.Refusals, v.Warnings = slices.DeleteFunc(v.Refusals, byKong), slices.DeleteFunc(v.Warnings, byKong)
	if !v.Ours {
		return
	}
	more := konghq.ReviewIngress(&k.Options, k.Snapshot(), ing)
	v.Refusals, v.Warnings = append(v.Refusals, more.Refusals...), append(v.Warnings, more.Warnings...)
}

// tellEnterprise refuses what would have no effect. One that is there already may be changed, so that nobody is kept from taking it away.
func tellEnterprise(asked *request, v *konghq.Verdict) {
	const why = "consumer groups need Kong Enterprise, and the gateway is open source"
	p := model.Problem{
		Object: model.Ref{Kind: asked.Kind.Kind, Namespace: asked.Namespace, Name: asked.Name}, Reason: model.ReasonUnavailable, Message: why,
	}
	if asked.Operation == admissionv1.Create {
		p.Refusal = why
		v.Refusals = append(v.Refusals, p)
		return
	}
	v.Warnings = append(v.Warnings, p)
}

// askGateway adds what a gateway says of the plugins. Without a gateway the object may be stored: it is judged again when it is sent there.
func (k *Kong) askGateway(ctx context.Context, v *konghq.Verdict, object metav1.Object) {
	ctx, cancel := context.WithTimeout(ctx, schemaPatience)
	defer cancel()
	_, isSecret := object.(*corev1.Secret)
	for _, plugin := range v.Plugins {
		field, what := "config", "the configuration"
		if isSecret {
			field, what = "data", "the configuration of "+plugin.Origin.String()
		}
		problem := model.Problem{Object: plugin.Origin.Ref, Field: field, Reason: model.ReasonInvalidPlugin}
		switch refusal, err := k.Schema(ctx, plugin); {
		case err != nil:
			problem.Message = "no gateway could be asked whether it takes " + what + ": " + err.Error()
			v.Warnings = append(v.Warnings, problem)
			return // nor about others
		case refusal != "":
			problem.Message = "Kong refuses " + what + ": " + refusal
			problem.Refusal = problem.Message
			v.Refusals = append(v.Refusals, problem)
		}
	}
}
