// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
)

// DefaultPrefix stands before each key unless --annotations-prefix says otherwise.
const DefaultPrefix = "nginx.ingress.kubernetes.io"

// Parse reads the annotations of one Ingress, owner. Keys without the prefix are not looked at; an empty prefix means DefaultPrefix.
// The problems are in the order of the keys.
func Parse(prefix string, owner model.Ref, annotations map[string]string, defaults *model.Settings) (*Effect, []model.Problem) {
	p := parser{prefix: cmp.Or(prefix, DefaultPrefix) + "/", owner: owner, effect: newEffect(defaults), settings: defaults, given: annotations}
	var names []string
	for full := range annotations {
		if name, ok := strings.CutPrefix(full, p.prefix); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	p.isCanary(annotations)
	for _, name := range names {
		key, known := index[name]
		ofCanary := strings.HasPrefix(name, canaryKey)
		switch {
		case !known:
			p.unknown(name)
		case p.forbidden(key, name, annotations[p.prefix+name]):
		case p.effect.Canary && !ofCanary && !key.OnCanary:
			// A canary joins the routes of others, whose own annotations stay in force, as with the predecessor.
		case ofCanary && name != canaryKey && annotations[p.prefix+canaryKey] == "":
			p.problem(name, model.ReasonInvalidAnnotation, "without the annotation canary this one has no effect; set canary to true or remove it")
		case name == key.Alias && annotations[p.prefix+key.Name] != "":
			p.problem(name, model.ReasonUnsupported, fmt.Sprintf("has no effect beside %s", key.Name))
		default:
			p.apply(key, name, annotations[p.prefix+name])
		}
	}
	for _, group := range groups {
		if group.finish != nil {
			group.finish(&p)
		}
	}
	return p.effect, p.problems
}

// canaryKey makes an Ingress a canary; the other keys of canaries begin with it.
const canaryKey = "canary"

// isCanary finds out first of all whether the Ingress is a canary, as that decides which keys count.
func (p *parser) isCanary(annotations map[string]string) {
	v, err := parseBool(annotations[p.prefix+canaryKey])
	p.effect.Canary = err == nil && v
}

type parser struct {
	prefix   string
	owner    model.Ref
	effect   *Effect
	settings *model.Settings
	given    map[string]string // all annotations of the Ingress
	problems []model.Problem
}

// has tells whether the Ingress has a key, by its name without the prefix, with a value that is not empty.
func (p *parser) has(name string) bool { return p.given[p.prefix+name] != "" }

// close closes the routes of the Ingress, with a Problem of the key.
func (p *parser) close(name, reason, why string) {
	p.effect.Closed = cmp.Or(p.effect.Closed, "annotation "+name+" "+why)
	p.problem(name, reason, why+"; the routes of this Ingress answer 503 until it is repaired")
}

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
	ref, err := parseReference(kind, p.owner.Namespace, p.given[p.prefix+name])
	if err == nil && ref.Namespace != p.owner.Namespace && !p.settings.CrossNamespace {
		err = fmt.Errorf("names the namespace %s, which the setting allow-cross-namespace-resources forbids", quote(ref.Namespace))
	}
	if err == nil {
		p.effect.Lookups = append(p.effect.Lookups, Lookup{Ref: ref, Key: p.prefix + name, Use: use, ClosesHost: closesHost})
		return
	}
	if closesHost {
		p.effect.Host.Closed = cmp.Or(p.effect.Host.Closed, "annotation "+name+" "+err.Error())
		p.problem(name, model.ReasonInvalidAnnotation, err.Error()+"; the hosts of this Ingress answer 403 until it is repaired")
		return
	}
	p.close(name, model.ReasonInvalidAnnotation, err.Error())
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
		problem.Message = err.Error() + "; the hosts of this Ingress answer 403 until it is repaired"
	} else {
		e.Closed = cmp.Or(e.Closed, "annotation "+name+" "+err.Error())
		problem.Message = err.Error() + "; the routes of this Ingress answer 503 until it is repaired"
	}
	return &problem
}

// forbidden tells whether the admin forbids the annotation, by its risk or by a word in its value, and closes the routes if so.
func (p *parser) forbidden(key *Key, name, value string) bool {
	switch {
	case key.Risk.rank() > Risk(p.settings.RiskLevel).rank():
		p.close(name, model.ReasonForbiddenAnnotation, fmt.Sprintf("has the risk %s, and the setting annotations-risk-level allows %s at most", key.Risk, p.settings.RiskLevel))
		return true
	case key.Risk == Critical && !p.settings.Snippets:
		p.close(name, model.ReasonForbiddenAnnotation, "is raw configuration, which the setting allow-snippet-annotations forbids")
		return true
	}
	for _, word := range p.settings.ForbiddenWords {
		if strings.Contains(value, word) {
			p.close(name, model.ReasonForbiddenAnnotation, "contains a word of the setting annotation-value-word-blocklist")
			return true
		}
	}
	return false
}

func (p *parser) problem(name, reason, message string) {
	p.problems = append(p.problems, model.Problem{
		Object: p.owner, Field: "metadata.annotations[" + p.prefix + name + "]", Reason: reason, Message: message,
	})
}

func (p *parser) unknown(name string) {
	message := "nobody reads this annotation, it has no effect"
	if near := nearest(name); near != "" {
		message += "; did you mean " + near + "?"
	}
	p.problem(name, model.ReasonUnknownAnnotation, message)
}

// apply lets key act on the effect. An empty value is an absent annotation, but for keys that close with it.
func (p *parser) apply(key *Key, name, value string) {
	if key.NotYet {
		p.notYet(key, name, value)
		return
	}
	if value == "" && !key.TakesEmpty {
		return
	}
	err := key.apply(p.effect, value)
	if err == nil {
		return
	}
	message := "the value " + quote(value) + " " + err.Error()
	var route closing
	var canary closingCanary
	switch {
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
	p.problem(name, reason(err), message)
}

func (p *parser) notYet(key *Key, name, value string) {
	if slices.Contains(key.Harmless, strings.ToLower(value)) {
		return
	}
	message := "this annotation is not supported yet"
	if !key.Closes {
		p.problem(name, model.ReasonUnsupported, message+"; it has no effect")
		return
	}
	p.effect.Closed = cmp.Or(p.effect.Closed, "annotation "+name+" "+errNotYet.Error())
	p.problem(name, model.ReasonUnsupported, message+"; the routes of this Ingress answer 503 rather than go without it")
}

// quote shows a value in a message, shortened.
func quote(value string) string {
	const most = 60
	if len(value) > most {
		value = strings.ToValidUTF8(value[:most], "") + "…"
	}
	return fmt.Sprintf("%q", value)
}
