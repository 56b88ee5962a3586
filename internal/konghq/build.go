// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package konghq

import (
	"cmp"
	"fmt"
	"slices"

	netv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-ingress/fairway/internal/ingress"
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
	"github.com/fairway-ingress/fairway/internal/source/kongapi"
)

// The names of the Kong Ingress Controller, so that existing objects keep working.
const (
	DefaultControllerClass = "ingress-controllers.konghq.com/kong"
	DefaultIngressClass    = "kong"
)

// classAnnotation names the class of an object that has no field for it.
const classAnnotation = "kubernetes.io/ingress.class"

// Options are the flags that decide which objects count and what they mean.
type Options struct {
	// ControllerClass is what spec.controller of an IngressClass must say, IngressClass what the annotation kubernetes.io/ingress.class of custom
	// resources must; empty means the defaults.
	ControllerClass string
	IngressClass    string
	// AnnotationsPrefix is that of Fairway's own annotations; empty means annotation.DefaultPrefix.
	AnnotationsPrefix string
	// KeepDraining keeps endpoints that end, yet still serve, as targets without weight.
	KeepDraining bool
	// DisableExternalName refuses Services of type ExternalName.
	DisableExternalName bool
	// AllowLocalEndpoints lets endpoints be loopback, link-local and metadata addresses. It is meant for tests and demos.
	AllowLocalEndpoints bool
	// CrossNamespace lets objects name plugins of other namespaces without a ReferenceGrant.
	CrossNamespace bool
	// ClusterDomain is put behind the names of Services that are their own endpoint; empty for none.
	ClusterDomain string
	// DefaultCertificate names the Secret of the certificate for server names that nobody claims; zero for none.
	DefaultCertificate source.Key
	// DefaultBackend names the Service whose first port answers what no route matches; zero for nobody.
	DefaultBackend source.Key
}

// build is what Build does.
func (r *run) build(result *ingress.Result) {
	redirectCode := result.Model.Settings.HTTPSRedirectCode
	r.memory.surround(surroundings{classes: r.ownClasses, classless: r.classless, redirectCode: redirectCode})
	r.readAuthorities()
	r.index(result.Model)
	for _, ing := range oldestFirst(result.Accepted) {
		r.readIngress(ing)
	}
	r.addDefaultBackend()
	r.readStreams()
	r.chooseDefaultBackend()
	r.buildServices()
	r.addConsumers()
	r.readGlobalPlugins()
	r.readDefaultCertificate(result.Model)
	r.out.Certificates = r.certificates.list()
	result.Model.Kong = r.out
	result.Model.Problems = model.SortProblems(append(r.found(), result.Model.Problems...))
}

// run is one call of Build.
type run struct {
	*Options
	snapshot *source.Snapshot
	objects  *kongapi.Objects
	memory   *memory
	out      *model.Kong
	// told are the Problems of all parts, problems and lookups those of the part that is being built.
	told, problems []model.Problem
	lookups        []lookup
	endpoints      []lookup // those of the lookups whose answers change with endpoints

	model        *model.Model      // what package ingress has built
	counterparts map[string]string // names of hosts that redirect, by the host that they redirect to
	services     []*serviceMemory
	certificates certificates
	authorities  map[source.Key]*model.KongAuthority // by Secret or, with the name prefixed by "cm/", ConfigMap
	ownClasses   map[string]kongapi.ClassParameters
	classless    bool // objects without a class are ours
}

// newRun begins to work on a snapshot.
func newRun(options *Options, snapshot *source.Snapshot, m *memory) *run {
	r := &run{Options: options, snapshot: snapshot, objects: snapshot.Kong, memory: m, out: &model.Kong{}, certificates: newCertificates(),
		ownClasses: map[string]kongapi.ClassParameters{}}
	if r.objects == nil {
		r.objects = &kongapi.Objects{}
	}
	m.now++
	r.readClasses()
	return r
}

// found gives the Problems found until now.
func (r *run) found() []model.Problem { return slices.Concat(r.told, r.problems) }

// readClasses notes the IngressClasses of this controller and their parameters.
func (r *run) readClasses() {
	for name, class := range r.snapshot.IngressClasses {
		if class.Spec.Controller != cmp.Or(r.ControllerClass, DefaultControllerClass) && name != r.class() {
			continue
		}
		parameters := kongapi.ClassParameters{}
		if p := class.Spec.Parameters; p != nil && p.Kind == "IngressClassParameters" && p.Namespace != nil {
			key := source.Key{Namespace: *p.Namespace, Name: p.Name}
			if object := r.objects.ClassParameters[key]; object != nil {
				parameters = object.Spec
			} else {
				r.problem(model.Ref{Kind: "IngressClass", Name: name}, "spec.parameters", model.ReasonMissingConfiguration,
					"there are no IngressClassParameters %s; the defaults are in force", key)
			}
		}
		r.ownClasses[name] = parameters
		r.classless = r.classless || class.Annotations["ingressclass.kubernetes.io/is-default-class"] == "true"
	}
}

func (r *run) class() string { return cmp.Or(r.IngressClass, DefaultIngressClass) }

// ours tells whether a custom resource is of our class.
func (r *run) ours(object metav1.Object) bool {
	name, written := object.GetAnnotations()[classAnnotation]
	if !written {
		return r.classless
	}
	return name == r.class()
}

// Ours gives a function that tells which custom resources of a snapshot are of the class.
func Ours(options *Options, snapshot *source.Snapshot) func(metav1.Object) bool {
	return newRun(options, snapshot, newMemory()).ours
}

// problem notes a Problem.
func (r *run) problem(object model.Ref, field, reason, format string, args ...any) {
	r.problems = append(r.problems, model.Problem{Object: object, Field: field, Reason: reason, Message: fmt.Sprintf(format, args...)})
}

// refuse is problem with what the admission webhook answers.
func (r *run) refuse(refusal string, object model.Ref, field, reason, format string, args ...any) {
	r.problem(object, field, reason, format, args...)
	r.problems[len(r.problems)-1].Refusal = refusal
}

// byAge orders objects by the time of their creation, then by namespace and name.
func byAge[T metav1.Object](a, b T) int {
	x, y := a.GetCreationTimestamp(), b.GetCreationTimestamp()
	return cmp.Or(x.Compare(y.Time), cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
}

// oldestFirst gives the Ingresses of a snapshot in the order of byAge, which differs from theirs for those of the same second alone.
func oldestFirst(ingresses []*netv1.Ingress) []*netv1.Ingress {
	ordered := slices.Clone(ingresses)
	for rest := ordered; len(rest) > 0; {
		n := slices.IndexFunc(rest, func(ing *netv1.Ingress) bool { return ing.CreationTimestamp.Unix() != rest[0].CreationTimestamp.Unix() })
		if n < 0 {
			n = len(rest)
		}
		slices.SortFunc(rest[:n], byAge)
		rest = rest[n:]
	}
	return ordered
}

// sorted gives the objects of a table, the oldest first.
func sorted[K comparable, T metav1.Object](table map[K]T) []T {
	list := make([]T, 0, len(table))
	for _, object := range table {
		list = append(list, object)
	}
	slices.SortFunc(list, byAge)
	return list
}

func origin(kind, group, version string, o metav1.Object) model.Origin {
	return model.Origin{Ref: model.Ref{Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName()}, UID: string(o.GetUID()), Group: group,
		Version: version}
}
