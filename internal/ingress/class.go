// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	"cmp"
	"fmt"

	netv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
)

// classAnnotation is the older way to name a class.
const classAnnotation = "kubernetes.io/ingress.class"

// filter tells which Ingresses of one snapshot are ours.
type filter struct {
	options    *Options
	snapshot   *source.Snapshot
	classes    map[string]bool // the IngressClasses of this controller
	namespaces map[string]bool // what the selector said, by namespace
}

func newFilter(options *Options, snapshot *source.Snapshot) *filter {
	f := &filter{options: options, snapshot: snapshot, classes: map[string]bool{}, namespaces: map[string]bool{}}
	controller := cmp.Or(options.ControllerClass, DefaultControllerClass)
	byName := cmp.Or(options.IngressClass, DefaultIngressClass)
	for name, class := range snapshot.IngressClasses {
		if class.Spec.Controller == controller || options.IngressClassByName && name == byName {
			f.classes[name] = true
		}
	}
	return f
}

// accepts tells whether ing is to be served. The problem is not nil when somebody should know why not.
func (f *filter) accepts(ing *netv1.Ingress) (bool, *model.Problem) {
	if !f.watches(ing.Namespace) {
		return false, nil
	}
	if ok, problem := f.ours(ing); !ok {
		return false, problem
	}
	if f.options.DisableCatchAll && ing.Spec.DefaultBackend != nil {
		return false, &model.Problem{
			Object: ingressRef(ing), Field: "spec.defaultBackend", Reason: model.ReasonCatchAllDisabled,
			Message: "the whole Ingress is ignored, because --disable-catch-all refuses default backends; remove the field",
			Refusal: "--disable-catch-all refuses default backends; remove the field and write rules with hosts instead",
		}
	}
	return true, nil
}

// ours applies the rules of classes: the field, else the annotation, else --watch-ingress-without-class. Where IngressClasses may not be
// read, the field says nothing.
func (f *filter) ours(ing *netv1.Ingress) (bool, *model.Problem) {
	if name := ing.Spec.IngressClassName; name != nil && f.snapshot.IngressClasses != nil {
		if f.classes[*name] {
			return true, nil
		}
		if f.snapshot.IngressClasses[*name] != nil {
			return false, nil
		}
		return false, &model.Problem{
			Object: ingressRef(ing), Field: "spec.ingressClassName", Reason: model.ReasonUnknownClass,
			Message: fmt.Sprintf("there is no IngressClass %q, so the Ingress is ignored until there is one of this controller", *name),
		}
	}
	if name, present := ing.Annotations[classAnnotation]; present {
		return name == cmp.Or(f.options.IngressClass, DefaultIngressClass), nil
	}
	return f.options.WatchWithoutClass, nil
}

// watches tells whether Ingresses of the namespace count.
func (f *filter) watches(namespace string) bool {
	if f.options.WatchNamespace != "" && f.options.WatchNamespace != namespace {
		return false
	}
	if f.options.NamespaceSelector == nil {
		return true
	}
	matches, known := f.namespaces[namespace]
	if !known {
		object := f.snapshot.Namespaces[namespace]
		matches = object != nil && f.options.NamespaceSelector.Matches(labels.Set(object.Labels))
		f.namespaces[namespace] = matches
	}
	return matches
}

func ingressRef(ing *netv1.Ingress) model.Ref {
	return model.Ref{Kind: "Ingress", Namespace: ing.Namespace, Name: ing.Name}
}
