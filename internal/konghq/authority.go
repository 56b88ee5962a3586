// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package konghq

import (
	"cmp"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
	"github.com/fairway-ingress/fairway/internal/source/kongapi"
)

// authorityLabel marks Secrets and ConfigMaps with a CA certificate.
const authorityLabel = "konghq.com/ca-cert"

var uuid = regexp.MustCompile("^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$")

// authoritySource is an object with a CA certificate.
type authoritySource struct {
	metav1.Object
	origin model.Origin
	key    source.Key // see run.authorities
	data   func(name string) string
}

// readAuthorities takes the CA certificates of the class; of two with one id, or one content, the older.
func (r *run) readAuthorities() {
	r.authorities = map[source.Key]*model.KongAuthority{}
	ids, contents := map[string]*model.KongAuthority{}, map[string]*model.KongAuthority{}
	for _, s := range r.authoritySources() {
		built := memoOf(r.memory.authorities, s.Object).get(r, func() *authorityResult { return newAuthority(s) })
		a, err := built.authority, built.err
		if err != nil {
			r.refuse(err.Error(), s.origin.Ref, "data", model.ReasonInvalidCertificate, "%v; it is left out", err)
			continue
		}
		if older := ids[a.ID]; older != nil {
			r.problem(s.origin.Ref, "data[id]", model.ReasonDuplicate, "%s has the same id and is older; this one is left out", older.Origin.Ref)
			continue
		}
		if older := contents[a.Cert]; older != nil {
			r.problem(s.origin.Ref, "data[cert]", model.ReasonDuplicate, "%s has the same certificate and is older; this one is left out", older.Origin.Ref)
			r.authorities[s.key] = older
			continue
		}
		ids[a.ID], contents[a.Cert], r.authorities[s.key] = a, a, a
		r.out.Authorities = append(r.out.Authorities, a)
	}
}

// configMapKey is the key of a ConfigMap among Secrets, which names with a slash can't clash with.
func configMapKey(key source.Key) source.Key {
	return source.Key{Namespace: key.Namespace, Name: "cm/" + key.Name}
}

func (r *run) authoritySources() []authoritySource {
	var list []authoritySource
	for key, secret := range r.snapshot.Secrets {
		if r.isAuthority(secret) {
			data := func(name string) string { return string(secret.Data[name]) }
			list = append(list, authoritySource{secret, origin("Secret", "", "v1", secret), key, data})
		}
	}
	for key, object := range r.snapshot.ConfigMaps {
		if r.isAuthority(object) {
			data := func(name string) string { return object.Data[name] }
			list = append(list, authoritySource{object, origin("ConfigMap", "", "v1", object), configMapKey(key), data})
		}
	}
	slices.SortFunc(list, func(a, b authoritySource) int {
		return cmp.Or(byAge(a.Object, b.Object), a.origin.Compare(b.origin.Ref))
	})
	return list
}

func (r *run) isAuthority(o metav1.Object) bool {
	return o.GetLabels()[authorityLabel] == "true" && r.ours(o)
}

// authority finds the CA certificate that a Service names: one of the class, or any object of the namespace with an id.
func (r *run) authority(kind string, key source.Key) (a *model.KongAuthority, why string) {
	place := key
	if kind == "configmaps" {
		place = configMapKey(key)
	}
	if known := look(r, func(r *run) *model.KongAuthority { return r.authorities[place] }); known != nil {
		return known, ""
	}
	return nil, "there is no CA certificate in it, or it lacks the label " + authorityLabel + " or the class"
}

// authorityResult is what an object with a CA certificate comes to, or why it is none.
type authorityResult struct {
	authority *model.KongAuthority
	err       error
}

func newAuthority(s authoritySource) *authorityResult {
	a, err := parseAuthority(s)
	return &authorityResult{a, err}
}

func parseAuthority(s authoritySource) (*model.KongAuthority, error) {
	id := strings.ToLower(strings.TrimSpace(s.data("id")))
	text := s.data("cert")
	if text == "" {
		text = s.data("ca.crt")
	}
	if !uuid.MatchString(id) {
		return nil, errors.New("the key id holds no UUID")
	}
	block, rest := pem.Decode([]byte(text))
	if block == nil || block.Type != "CERTIFICATE" {
		return nil, errors.New("the key cert holds no certificate in PEM")
	}
	if another, _ := pem.Decode(rest); another != nil {
		return nil, errors.New("the key cert holds more than one certificate")
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, errors.New("the key cert holds no certificate")
	}
	if !certificate.IsCA {
		return nil, errors.New("the certificate is not of an authority (CA:TRUE)")
	}
	return &model.KongAuthority{Origin: s.origin, ID: id, Cert: string(pem.EncodeToMemory(block))}, nil
}

// References are the Secrets and ConfigMaps that a Service or a custom resource needs. It is for sources, which keep the content of no others.
func References(object any) (secrets, configMaps []source.Key) {
	switch o := object.(type) {
	case *corev1.Service:
		named := func(annotation string) []source.Key {
			var keys []source.Key
			for _, name := range list(o.Annotations[prefix+annotation]) {
				keys = append(keys, source.Key{Namespace: o.Namespace, Name: name})
			}
			return keys
		}
		return slices.Concat(named("client-cert"), named("ca-certificates-secrets")), named("ca-certificates-configmaps")
	case *kongapi.KongPlugin:
		add := func(ref kongapi.SecretKeyRef) {
			namespace := o.Namespace
			if namespace == "" {
				namespace = ref.Namespace
			}
			secrets = append(secrets, source.Key{Namespace: namespace, Name: ref.Name})
		}
		if o.ConfigFrom != nil {
			add(o.ConfigFrom.SecretKeyRef)
		}
		for _, patch := range o.ConfigPatches {
			add(patch.ValueFrom.SecretKeyRef)
		}
	case *kongapi.KongConsumer:
		for _, name := range o.Credentials {
			secrets = append(secrets, source.Key{Namespace: o.Namespace, Name: name})
		}
	case *kongapi.TCPIngress:
		for _, entry := range o.Spec.TLS {
			if entry.SecretName != "" {
				secrets = append(secrets, source.Key{Namespace: o.Namespace, Name: entry.SecretName})
			}
		}
	}
	return secrets, nil
}

// Labels are those that make the content of a Secret or ConfigMap count whoever names it.
func Labels() []string { return []string{authorityLabel, credentialLabel, validateLabel} }

// validateLabel is on Secrets with configurations of plugins that the admission webhook is to judge; its value is "plugin".
const validateLabel = "konghq.com/validate"
