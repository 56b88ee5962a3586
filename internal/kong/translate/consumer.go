// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package translate

import (
	"slices"
	"strconv"
	"strings"

	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/model"
)

// consumer is an entity and its source.
type consumer struct {
	*entity.Consumer
	source *model.KongConsumer
}

// group is an entity, and what it comes to for its members.
type group struct {
	*entity.ConsumerGroup
	// closed, when not empty, is why members must not show credentials.
	closed string
}

// addConsumers adds consumers with their credentials, and groups.
func (t *translation) addConsumers() {
	groups := t.addGroups()
	for _, source := range t.kong.Consumers {
		key := source.Username
		if key == "" {
			key = source.CustomID
		}
		c := &consumer{source: source, Consumer: &entity.Consumer{
			Meta: t.meta(entity.Consumers, key, source.Origin, "", source.Tags), Username: source.Username, CustomID: source.CustomID,
		}}
		t.add(c.Consumer)
		if !t.attachToConsumer(c, t.joinGroups(c, groups)) {
			continue
		}
		for _, credential := range source.Credentials {
			t.addCredential(c, credential)
		}
	}
}

// joinGroups makes a consumer a member of its groups. It gives why the consumer must not show credentials, or "": a plugin that is to hold members back
// is not there.
func (t *translation) joinGroups(c *consumer, groups []*group) (closed string) {
	if len(c.source.Groups) > 0 && !t.gateway.Enterprise {
		t.problem(c.source.Origin.Ref, "consumerGroups", model.ReasonUnsupported, "membership in consumer groups needs Kong Enterprise; it is not set")
	}
	for _, g := range groups {
		if !slices.Contains(c.source.Groups, g.Name) {
			continue
		}
		m := entity.NewMembership(g.ID, c.ID)
		m.Owner, m.Field = c.source.Origin.Ref, "consumerGroups"
		t.add(m)
		closed = firstOf(closed, g.closed)
	}
	return closed
}

func (t *translation) addGroups() []*group {
	var groups []*group
	for _, source := range t.kong.Groups {
		if !t.gateway.Enterprise {
			t.problem(source.Origin.Ref, "", model.ReasonUnavailable, "consumer groups need Kong Enterprise; this one has no effect")
			continue
		}
		g := &group{ConsumerGroup: &entity.ConsumerGroup{
			Meta: t.meta(entity.ConsumerGroups, source.Name, source.Origin, "", source.Tags), Name: source.Name,
		}}
		t.add(g.ConsumerGroup)
		groups = append(groups, g)
		for _, a := range source.Plugins {
			if why := t.missing(a, source.Origin.Ref); why != "" {
				g.closed = firstOf(g.closed, why+", which its group "+g.Name+" asks for")
			}
			if t.usable(a.Plugin) {
				t.uses = append(t.uses, pluginUse{a.Plugin, scope{group: g.ConsumerGroup}})
			}
		}
	}
	return groups
}

// addCredential adds what a consumer shows. Its id is that of the Secret's, not of the key, so that another key is a change of the same credential.
func (t *translation) addCredential(c *consumer, source *model.KongCredential) {
	secret := source.Origin.UID
	if secret == "" {
		secret = source.Origin.String()
	}
	meta := func(kind *entity.Kind) entity.Meta {
		m := t.meta(kind, c.ID+":"+source.Type+":"+secret, source.Origin, "", nil)
		m.Owner, m.Field = c.source.Origin.Ref, "credentials"
		return m
	}
	var e entity.Entity
	to, get := entity.RefTo(c.Consumer), func(field string) model.Secret { return source.Fields[field] }
	switch source.Type {
	case "key-auth":
		ttl, _ := strconv.Atoi(source.Get("ttl"))
		e = &entity.KeyAuth{Meta: meta(entity.KeyAuths), Consumer: to, Key: get("key"), TTL: ttl}
	case "basic-auth":
		e = &entity.BasicAuth{Meta: meta(entity.BasicAuths), Consumer: to, Username: source.Get("username"), Password: get("password")}
	case "hmac-auth":
		e = &entity.HMACAuth{Meta: meta(entity.HMACAuths), Consumer: to, Username: source.Get("username"), Secret: get("secret")}
	case "jwt":
		e = &entity.JWT{
			Meta: meta(entity.JWTs), Consumer: to, Key: source.Get("key"), Algorithm: source.Get("algorithm"), Secret: get("secret"),
			RSAPublicKey: source.Get("rsa_public_key"),
		}
	case "oauth2":
		hashed, _ := strconv.ParseBool(source.Get("hash_secret"))
		o := &entity.OAuth2{
			Meta: meta(entity.OAuth2s), Consumer: to, Name: source.Get("name"), ClientID: source.Get("client_id"), ClientSecret: get("client_secret"),
			HashSecret: hashed, ClientType: source.Get("client_type"),
		}
		for uri := range strings.SplitSeq(source.Get("redirect_uris"), ",") {
			if uri = strings.TrimSpace(uri); uri != "" {
				o.RedirectURIs = append(o.RedirectURIs, uri)
			}
		}
		e = o
	case "acl":
		e = &entity.ACL{Meta: meta(entity.ACLs), Consumer: to, Group: source.Get("group")}
	case "mtls-auth":
		e = &entity.MTLSAuth{Meta: meta(entity.MTLSAuths), Consumer: to, SubjectName: source.Get("subject_name")}
	default:
		panic("translate: no credential of type " + source.Type)
	}
	if !t.gateway.Has(e.Kind()) {
		t.problem(c.source.Origin.Ref, "credentials", model.ReasonUnavailable,
			"the gateway has no plugin %s, so the credential of the Secret %s is left out", source.Type, source.Origin.Name)
		return
	}
	t.add(e)
}
