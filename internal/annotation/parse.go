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
	p := parser{prefix: cmp.Or(prefix, DefaultPrefix) + "/", owner: owner, effect: newEffect(defaults)}
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
		case p.effect.Canary && !ofCanary:
			// A canary joins the routes of others, whose own annotations stay in force, as with the predecessor.
		case ofCanary && name != canaryKey && annotations[p.prefix+canaryKey] == "":
			p.problem(name, model.ReasonInvalidAnnotation, "without the annotation canary this one has no effect; set canary to true or remove it")
		case name == key.Alias && annotations[p.prefix+key.Name] != "":
			p.problem(name, model.ReasonUnsupported, fmt.Sprintf("has no effect beside %s", key.Name))
		default:
			p.apply(key, name, annotations[p.prefix+name])
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
	problems []model.Problem
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
	if value == "" {
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
	case errors.As(err, &route):
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
