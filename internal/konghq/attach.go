// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package konghq

import (
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
	"github.com/fairway-ingress/fairway/internal/source/kongapi"
)

// attachments reads the plugins that an object asks for. A name is of a KongPlugin in the namespace, else of a KongClusterPlugin; "ns:name" is of
// a KongPlugin elsewhere that a ReferenceGrant there lets it use.
func (r *run) attachments(n *notes, owner model.Origin) []model.KongAttachment {
	var attached []model.KongAttachment
	seen := map[string]bool{}
	for _, name := range list(n.values["plugins"]) {
		if seen[name] {
			continue
		}
		seen[name] = true
		a := model.KongAttachment{Name: name}
		if object, why := r.findPlugin(owner, name); object != nil {
			a.Plugin = r.plugin(object)
		} else {
			consequence := "the routes concerned answer 503, as it may have been to keep somebody out"
			switch owner.Kind {
			case "KongConsumer":
				consequence = "the consumer goes without credentials"
			case "KongConsumerGroup":
				consequence = "its members go without credentials"
			}
			r.refuse(why, owner.Ref, n.field("plugins"), model.ReasonMissingPlugin, "%s; %s", why, consequence)
		}
		attached = append(attached, a)
	}
	return attached
}

func (r *run) findPlugin(owner model.Origin, name string) (object *kongapi.KongPlugin, why string) {
	namespace, plain, foreign := strings.Cut(name, ":")
	if !foreign || namespace == owner.Namespace {
		if foreign {
			name = plain
		}
		if object := r.findKongPlugin(source.Key{Namespace: owner.Namespace, Name: name}); object != nil {
			return object, ""
		}
		if object := r.findClusterPlugin(name); object != nil {
			if r.ours(object) {
				return object, ""
			}
			return nil, "the KongClusterPlugin " + name + " is of another class"
		}
		return nil, "there is no KongPlugin or KongClusterPlugin " + name
	}
	if !r.granted(owner, model.Ref{Kind: "KongPlugin", Namespace: namespace, Name: plain}, kongapi.Group) {
		return nil, "no ReferenceGrant in the namespace " + namespace + " lets it use the KongPlugin " + plain
	}
	if object := r.findKongPlugin(source.Key{Namespace: namespace, Name: plain}); object != nil {
		return object, ""
	}
	return nil, "there is no KongPlugin " + plain + " in the namespace " + namespace
}

// granted tells whether an object may name one of another namespace.
func (r *run) granted(from model.Origin, to model.Ref, group string) bool {
	if r.CrossNamespace {
		return true
	}
	return look(r, func(r *run) bool {
		for key, grant := range r.objects.ReferenceGrants {
			if key.Namespace == to.Namespace && grantsFrom(grant, from) && grantsTo(grant, to, group) {
				return true
			}
		}
		return false
	})
}

func grantsFrom(grant *kongapi.ReferenceGrant, from model.Origin) bool {
	for _, f := range grant.Spec.From {
		if f.Group == from.Group && f.Kind == from.Kind && f.Namespace == from.Namespace {
			return true
		}
	}
	return false
}

func grantsTo(grant *kongapi.ReferenceGrant, to model.Ref, group string) bool {
	for _, t := range grant.Spec.To {
		if t.Group == group && t.Kind == to.Kind && (t.Name == "" || t.Name == to.Name) {
			return true
		}
	}
	return false
}
