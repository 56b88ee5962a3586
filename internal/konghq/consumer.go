// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package konghq

import (
	"cmp"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
	"github.com/fairway-ingress/fairway/internal/source/kongapi"
)

// knownOnConsumers are the annotations that count on consumers and their groups.
var knownOnConsumers = map[string]bool{"plugins": true, "tags": true}

// crowd are the consumers and groups. They are one part, as any two of them may want the same name.
type crowd struct {
	consumers []*model.KongConsumer
	groups    []*model.KongConsumerGroup
}

// addConsumers adds the consumers and groups of the class.
func (r *run) addConsumers() {
	found := r.memory.crowd.get(r, func() *crowd {
		r.readConsumers()
		return &crowd{r.out.Consumers, r.out.Groups}
	})
	r.out.Consumers, r.out.Groups = found.consumers, found.groups
}

// readConsumers takes the consumers of the class. Of two with one name the older has it.
func (r *run) readConsumers() {
	r.readGroups()
	taken := takenConsumers{names: map[string]model.Ref{}, customs: map[string]model.Ref{}, identities: map[string]model.Ref{}}
	var candidates []credential
	for _, object := range sorted(r.findConsumers()) {
		if !r.ours(object) {
			continue
		}
		c := &model.KongConsumer{
			Origin: origin("KongConsumer", kongapi.Group, "v1", object), Username: object.Username, CustomID: object.CustomID,
		}
		n := r.readNotes(c.Origin.Ref, object, knownOnConsumers)
		c.Tags = n.tags()
		c.Plugins = r.attachments(n, c.Origin)
		if !r.admit(c, taken) {
			continue
		}
		r.joinGroups(c, object)
		for i, name := range object.Credentials {
			candidates = append(candidates, credential{consumer: c, field: credentialField(i), secret: name})
		}
		r.out.Consumers = append(r.out.Consumers, c)
	}
	r.readCredentials(candidates)
}

func credentialField(i int) string { return "credentials[" + strconv.Itoa(i) + "]" }

// takenConsumers are the consumers that there are already, by what must be theirs alone. An identity is the word that a consumer's id is made of: the
// username, or the custom_id of one without.
type takenConsumers struct{ names, customs, identities map[string]model.Ref }

// admit tells whether nobody else is the consumer, and notes it.
func (r *run) admit(c *model.KongConsumer, taken takenConsumers) bool {
	ref := c.Origin.Ref
	if c.Username == "" && c.CustomID == "" {
		r.refuse("a consumer needs username or custom_id", ref, "username", model.ReasonInvalidConsumer,
			"a consumer needs username or custom_id; this one is left out")
		return false
	}
	identity, field := c.Username, "username"
	if identity == "" {
		identity, field = c.CustomID, "custom_id"
	}
	for _, unique := range []struct {
		field, what, text string
		taken             map[string]model.Ref
	}{
		{"username", "username", c.Username, taken.names},
		{"custom_id", "custom_id", c.CustomID, taken.customs},
		{field, "id, which is made of the username, or of the custom_id of a consumer without one", identity, taken.identities},
	} {
		if older, found := unique.taken[unique.text]; found && unique.text != "" {
			r.refuse(older.String()+" has the same "+unique.what, ref, unique.field, model.ReasonDuplicate,
				"%s has the same %s, and is older; this one is left out with its credentials", older, unique.what)
			return false
		}
	}
	if c.Username != "" {
		taken.names[c.Username] = ref
	}
	if c.CustomID != "" {
		taken.customs[c.CustomID] = ref
	}
	taken.identities[identity] = ref
	return true
}

// readGroups takes the consumer groups of the class.
func (r *run) readGroups() {
	names := map[string]model.Ref{}
	for _, object := range sorted(r.findConsumerGroups()) {
		if !r.ours(object) {
			continue
		}
		g := &model.KongConsumerGroup{Origin: origin("KongConsumerGroup", kongapi.Group, "v1beta1", object), Name: object.Name}
		if older, taken := names[g.Name]; taken {
			r.problem(g.Origin.Ref, "metadata.name", model.ReasonDuplicate,
				"%s has the same name, which is one for all namespaces, and is older; this one has no effect", older)
			continue
		}
		names[g.Name] = g.Origin.Ref
		n := r.readNotes(g.Origin.Ref, object, knownOnConsumers)
		g.Tags, g.Plugins = n.tags(), r.attachments(n, g.Origin)
		r.out.Groups = append(r.out.Groups, g)
	}
}

func (r *run) joinGroups(c *model.KongConsumer, object *kongapi.KongConsumer) {
	for i, name := range object.ConsumerGroups {
		known := slices.ContainsFunc(r.out.Groups, func(g *model.KongConsumerGroup) bool {
			return g.Name == name && g.Origin.Namespace == object.Namespace
		})
		if !known {
			r.problem(c.Origin.Ref, "consumerGroups["+strconv.Itoa(i)+"]", model.ReasonMissingConfiguration,
				"there is no KongConsumerGroup %.60q in the namespace; the consumer is no member", name)
			continue
		}
		c.Groups = append(c.Groups, name)
	}
}

// credential is a Secret that a consumer names.
type credential struct {
	consumer *model.KongConsumer
	field    string
	secret   string
	object   *corev1.Secret
}

// readCredentials reads the Secrets; of two that let somebody in by the same key the older has it.
func (r *run) readCredentials(candidates []credential) {
	found := candidates[:0]
	for _, c := range candidates {
		key := source.Key{Namespace: c.consumer.Origin.Namespace, Name: c.secret}
		if c.object = r.findSecret(key); c.object == nil {
			r.refuse("there is no Secret "+key.String(), c.consumer.Origin.Ref, c.field, model.ReasonMissingSecret,
				"there is no Secret %s; the consumer goes without the credential", key)
			continue
		}
		found = append(found, c)
	}
	slices.SortStableFunc(found, func(a, b credential) int { return byAge(a.object, b.object) })
	taken := map[string]credential{}
	for _, c := range found {
		r.readCredential(c, taken)
	}
	for _, consumer := range r.out.Consumers {
		slices.SortFunc(consumer.Credentials, func(a, b *model.KongCredential) int {
			return cmp.Or(cmp.Compare(a.Type, b.Type), a.Origin.Compare(b.Origin.Ref))
		})
	}
}

func (r *run) readCredential(c credential, taken map[string]credential) {
	ref := c.consumer.Origin.Ref
	built, outdated, err := newCredential(c.object)
	if err != nil {
		r.refuse("the Secret "+c.secret+" "+err.Error(), ref, c.field, model.ReasonInvalidCredential,
			"the Secret %s %v; the consumer goes without the credential", c.secret, err)
		return
	}
	if outdated {
		r.problem(model.Ref{Kind: "Secret", Namespace: c.object.Namespace, Name: c.object.Name}, "data[kongCredType]", model.ReasonDeprecated,
			"the key is outdated and still works; label the Secret with %s", credentialLabel)
	}
	unique := built.Type + "\x00" + built.Get(credentialTypes[built.Type].unique)
	if built.Type == "acl" || built.Type == "mtls-auth" {
		unique += "\x00" + ref.String()
	}
	if other, clash := taken[unique]; clash {
		why := "the Secret " + c.secret + " lets in by the same " + credentialTypes[built.Type].unique + " as the Secret " + other.object.Namespace + "/" +
			other.secret + " of " + other.consumer.Origin.String()
		r.refuse(why, ref, c.field, model.ReasonDuplicate, "%s, which is older; the consumer goes without the credential", why)
		return
	}
	taken[unique] = c
	c.consumer.Credentials = append(c.consumer.Credentials, built)
}
