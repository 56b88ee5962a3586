// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

// DefaultPrefix stands before each key of the predecessor unless --annotations-prefix says otherwise, OwnPrefix before each of Fairway's own.
const (
	DefaultPrefix = "nginx.ingress.kubernetes.io"
	OwnPrefix     = "fairway.dev"
)

// Parse reads the annotations of one Ingress, owner. Keys without one of the prefixes are not looked at; an empty prefix means DefaultPrefix.
// The problems are in the order of the keys.
func Parse(prefix string, owner model.Ref, annotations map[string]string, defaults *model.Settings) (*Effect, []model.Problem) {
	p := newParser(cmp.Or(prefix, DefaultPrefix), owner, defaults)
	names := p.read(annotations)
	p.isCanary()
	for _, name := range names {
		key, known := index[name]
		ofCanary := strings.HasPrefix(name, canaryKey)
		switch {
		case p.blocked(name, p.given[name]):
		case !known:
			p.unknown(name)
		case p.forbidden(key, name):
		case p.effect.Canary && !ofCanary && !key.OnCanary:
			// A canary joins the routes of others, whose own annotations stay in force, as with the predecessor.
		case ofCanary && name != canaryKey && p.given[canaryKey] == "":
			p.problem(name, model.ReasonInvalidAnnotation, "without the annotation canary this one has no effect; set canary to true or remove it")
		case name == key.Alias && p.given[key.Name] != "":
			p.problem(name, model.ReasonUnsupported, fmt.Sprintf("has no effect beside %s", key.Name))
		default:
			p.apply(key, name, p.given[name])
		}
	}
	for _, group := range groups {
		if group.finish != nil {
			group.finish(p)
		}
	}
	return p.effect, p.problems
}

// canaryKey makes an Ingress a canary; the other keys of canaries begin with it.
const canaryKey = "canary"

// isCanary finds out first of all whether the Ingress is a canary, as that decides which keys count.
func (p *parser) isCanary() {
	v, err := value.Bool(p.given[canaryKey])
	p.effect.Canary = err == nil && v
}

// newParser gives a parser with the effect of no annotation.
func newParser(prefix string, owner model.Ref, defaults *model.Settings) *parser {
	return &parser{prefix: prefix + "/", owner: owner, effect: newEffect(defaults), settings: defaults, given: map[string]string{}, fullNames: map[string]string{}}
}

// read notes the annotations with a prefix and gives their names without it, sorted; a name that nobody reads behind its prefix keeps that, unless it is the
// predecessor's.
func (p *parser) read(annotations map[string]string) []string {
	var names []string
	for full, text := range annotations {
		name, theirs := strings.CutPrefix(full, p.prefix)
		own, ours := strings.CutPrefix(full, OwnPrefix+"/")
		switch {
		case ours && isOwn(own):
			name = own
		case theirs && !isOwn(name) && !strings.Contains(name, "/"):
		case ours || theirs:
			name = full
		default:
			continue
		}
		names = append(names, name)
		p.given[name] = text
		if ours || name == full {
			p.fullNames[name] = full
		}
	}
	slices.Sort(names)
	return names
}

// isOwn tells whether a key of that name is one of Fairway's own.
func isOwn(name string) bool { return index[name] != nil && index[name].Own }

// full gives the name of an annotation with the prefix that it has.
func (p *parser) full(name string) string {
	if full := p.fullNames[name]; full != "" {
		return full
	}
	return p.prefix + name
}

type parser struct {
	prefix   string // of the predecessor's keys, with the slash
	owner    model.Ref
	effect   *Effect
	settings *model.Settings
	given    map[string]string // the annotations with the prefix, by their names without it
	problems []model.Problem
	// fullNames are the names with the prefix of those annotations that have another one.
	fullNames map[string]string
}

// has tells whether the Ingress has a key, by its name without the prefix, with a value that is not empty.
func (p *parser) has(name string) bool { return p.given[name] != "" }

// close closes the routes of the Ingress, with a Problem of the key.
func (p *parser) close(name, reason, why string) {
	p.effect.Closed = cmp.Or(p.effect.Closed, "annotation "+name+" "+why)
	p.problem(name, reason, why+"; the routes of this Ingress answer 503 until it is repaired")
}

// closeHost closes the hosts of the Ingress, with a Problem of the key.
func (p *parser) closeHost(name, reason, why string) {
	p.effect.Host.Closed = cmp.Or(p.effect.Host.Closed, "annotation "+name+" "+why)
	p.problem(name, reason, why+hostsClosed)
}

// hostsClosed says in problems what becomes of hosts that are closed.
const hostsClosed = "; the hosts of this Ingress answer 403, or its routes 503 where an older Ingress decides, until it is repaired"

// without reports keys that mean nothing without another one.
func (p *parser) without(leader string, names ...string) {
	for _, name := range names {
		if p.has(name) {
			p.problem(name, model.ReasonInvalidAnnotation, "without the annotation "+leader+" this one has no effect; set it or remove this one")
		}
	}
}

// lookup notes an object that the key names by text, "name" or "namespace/name", of the Ingress's own namespace unless the admin allows others. What is wrong
// with it closes the routes, or the hosts.
func (p *parser) lookup(kind, name string, closesHost bool, use func(e *Effect, data map[string][]byte) error) {
	ref, err := value.Reference(kind, p.owner.Namespace, p.given[name])
	if err == nil && ref.Namespace != p.owner.Namespace && !p.settings.CrossNamespace {
		err = fmt.Errorf("names the namespace %s, which the setting allow-cross-namespace-resources forbids", quote(ref.Namespace))
	}
	if err == nil {
		p.effect.Lookups = append(p.effect.Lookups, Lookup{Ref: ref, Key: p.full(name), Use: use, ClosesHost: closesHost})
		return
	}
	p.refuse(name, closesHost, err.Error())
}

// lookupSecret is lookup for a Secret whose namespace the key must give too. It gives the reference.
func (p *parser) lookupSecret(name string, closesHost bool, use func(e *Effect, data map[string][]byte) error) model.Ref {
	text := p.given[name]
	ref, err := value.Reference("Secret", p.owner.Namespace, text)
	if err == nil && !strings.Contains(text, "/") {
		p.refuse(name, closesHost, "names no namespace: write "+p.owner.Namespace+"/"+ref.Name)
		return ref
	}
	p.lookup("Secret", name, closesHost, use)
	return ref
}

// refuse closes the hosts or the routes because of a key.
func (p *parser) refuse(name string, closesHost bool, why string) {
	if closesHost {
		p.closeHost(name, model.ReasonInvalidAnnotation, why)
	} else {
		p.close(name, model.ReasonInvalidAnnotation, why)
	}
}

// Resolve reads the content of the object that a lookup names, nil when there is none, and gives the Problem that comes of it, if any.
func (e *Effect) Resolve(owner model.Ref, l Lookup, data map[string][]byte) *model.Problem {
	reason, err := model.ReasonInvalidAnnotation, errors.New("names the "+l.Ref.String()+", which does not exist")
	if data != nil {
		err = l.Use(e, data)
	} else if reason = model.ReasonMissingSecret; l.Ref.Kind != "Secret" {
		reason = model.ReasonMissingConfigMap
	}
	if err == nil {
		return nil
	}
	_, name, _ := strings.Cut(l.Key, "/")
	problem := model.Problem{Object: owner, Field: "metadata.annotations[" + l.Key + "]", Reason: reason}
	if l.ClosesHost {
		e.Host.Closed = cmp.Or(e.Host.Closed, "annotation "+name+" "+err.Error())
		problem.Message = err.Error() + hostsClosed
	} else {
		e.Closed = cmp.Or(e.Closed, "annotation "+name+" "+err.Error())
		problem.Message = err.Error() + "; the routes of this Ingress answer 503 until it is repaired"
	}
	return &problem
}

// blocked tells whether the value has a word that the admin forbids, and closes the routes if so.
func (p *parser) blocked(name, value string) bool {
	for _, word := range p.settings.ForbiddenWords {
		if strings.Contains(value, word) {
			p.forbid(name, "contains a word of the setting annotation-value-word-blocklist", "write it without, or remove the annotation")
			return true
		}
	}
	return false
}

// forbidden tells whether the admin forbids the annotation, and closes the routes if so.
func (p *parser) forbidden(key *Key, name string) bool {
	switch {
	case key.Risk.rank() > Risk(p.settings.RiskLevel).rank():
		p.forbid(name, fmt.Sprintf("has the risk %s, and the setting annotations-risk-level allows %s at most", key.Risk, p.settings.RiskLevel),
			"remove the annotation, or have the setting raised")
		return true
	case key.Risk == Critical && !p.settings.Snippets:
		p.forbid(name, "is raw configuration, which the setting allow-snippet-annotations forbids", "remove the annotation, or have the setting changed")
		return true
	}
	return false
}

// forbid closes the routes of an Ingress that the admission webhook would have refused.
func (p *parser) forbid(name, why, remedy string) {
	p.close(name, model.ReasonForbiddenAnnotation, why)
	p.problems[len(p.problems)-1].Refusal = why + "; " + remedy
}

func (p *parser) problem(name, reason, message string) {
	p.problems = append(p.problems, model.Problem{
		Object: p.owner, Field: "metadata.annotations[" + p.full(name) + "]", Reason: reason, Message: message,
	})
}

func (p *parser) unknown(name string) {
	message := "nobody reads this annotation, it has no effect"
	bare := name[strings.LastIndexByte(name, '/')+1:]
	near := value.Nearest(bare, maps.Keys(index))
	switch instead := removed[name]; {
	case instead != "":
		message = "ingress-nginx has dropped this annotation, it has no effect; " + instead
	case near != "" && (bare != name || isOwn(near)):
		message += "; did you mean " + p.prefixed(near) + "?"
	case near != "":
		message += "; did you mean " + near + "?"
	}
	p.problem(name, model.ReasonUnknownAnnotation, message)
}

// prefixed gives the name of a key with the prefix behind which it is read.
func (p *parser) prefixed(name string) string {
	if isOwn(name) {
		return OwnPrefix + "/" + name
	}
	return p.prefix + name
}

// apply lets key act on the effect. An empty value is an absent annotation, but for keys that close with it.
func (p *parser) apply(key *Key, name, value string) {
	if value == "" && !key.TakesEmpty {
		return
	}
	err := key.apply(p.effect, value)
	if err == nil {
		return
	}
	message := "the value " + quote(value) + " " + err.Error()
	var route closing
	var host closingHost
	var canary closingCanary
	switch {
	case errors.As(err, &host) && p.has(host.leader):
		p.effect.Host.Closed = cmp.Or(p.effect.Host.Closed, "annotation "+name+" "+err.Error())
		message += hostsClosed
	case key.Closes || errors.As(err, &route):
		p.effect.Closed = cmp.Or(p.effect.Closed, "annotation "+name+" "+err.Error())
		message += "; the routes of this Ingress answer 503 until it is repaired"
	case errors.As(err, &canary):
		p.effect.CanaryClosed = cmp.Or(p.effect.CanaryClosed, "annotation "+name+" "+err.Error())
		message += "; the canary takes no request until it is repaired"
	case key.Setting != "":
		message += "; what the setting " + key.Setting + " says is in force"
	default:
		message += "; the default is in force: " + key.Default
	}
	p.problem(name, model.ReasonInvalidAnnotation, message)
	if key.Refused {
		p.problems[len(p.problems)-1].Refusal = fmt.Sprintf("the value %s %v; expected: %s, such as %q", quote(value), err, key.Type, key.Example)
	}
}

// quote shows a value in a message, shortened.
func quote(value string) string {
	const most = 60
	if len(value) > most {
		value = strings.ToValidUTF8(value[:most], "") + "…"
	}
	return fmt.Sprintf("%q", value)
}
