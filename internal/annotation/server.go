// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

// otherNames is what server-alias says: the names and expressions of a HostEffect, and what is wrong with items that are neither.
type otherNames struct {
	names, patterns []string
	wrong           []string
}

var server = Group{
	Name: "server", finish: finishServer, Doc: "Other names of the hosts of an Ingress.",
	Keys: []Key{
		Parsed("server-alias", "names, wildcards and ~expressions with commas between", Spec{
			Scope: Host, Risk: High, Refused: true, Default: "none", Example: `www.example.com,*.example.org,~^shop-\d+\.example\.com$`,
			Doc: "Further names by which each host of the Ingress is reached, with all its paths, also those of other Ingresses. *.example.org stands for all names that end in " +
				".example.org, .example.org for these and example.org, www.example.* for all that begin with www.example. and have more. What follows ~ is a regular expression that is searched in the name, whatever the case: 512 bytes, no look-around " +
				"or back reference, and no comma. A name that is a host of an Ingress, or the alias of an older host, stays with that. Names are tried before wildcards, and expressions " +
				"last, those of the hosts in the order of their names. Of several Ingresses of a host the oldest with this annotation decides. Over TLS the certificate of the host is " +
				"shown where it covers the alias, else the default certificate; redirects to HTTPS are as for the host. An item that is none of these is left out.",
			Source: "server_name of ngx_http_core_module",
			Differs: "Of two hosts with the same alias the older has it, there the first by name; and ssl-redirect acts on an alias whatever the certificate, there only where the " +
				"certificate covers it.",
		}, parseOtherNames, func(e *Effect, v otherNames) {
			e.Host.Aliases, e.Host.Patterns, e.misnamed = v.names, v.patterns, v.wrong
		}),
	},
}

func finishServer(p *parser) {
	for _, wrong := range p.effect.misnamed {
		p.problem("server-alias", model.ReasonInvalidAnnotation, wrong+"; it is left out")
		p.problems[len(p.problems)-1].Refusal = wrong + "; correct it or leave it out"
	}
}

// parseOtherNames takes what it can; only a list without any item is an error.
func parseOtherNames(text string) (otherNames, error) {
	var v otherNames
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		pattern, isPattern := strings.CutPrefix(item, "~")
		rest, isSuffix := strings.CutPrefix(strings.ToLower(item), ".")
		name := strings.TrimPrefix(rest, "*.")
		beginning, isBeginning := strings.CutSuffix(rest, ".*")
		switch {
		case item == "":
		case isPattern:
			if err := checkNamePattern(pattern); err != nil {
				v.wrong = append(v.wrong, "the item "+quote(item)+" "+err.Error())
				continue
			}
			v.patterns = append(v.patterns, pattern)
		case isBeginning && !isSuffix && value.IsHostName(beginning):
			v.patterns = append(v.patterns, "^"+regexp.QuoteMeta(beginning)+`\..+$`)
		case name == model.CatchAll || !value.IsHostName(name) || isSuffix && name != rest:
			v.wrong = append(v.wrong, "the item "+quote(item)+" is no host name, no wildcard such as *.example.com, and no expression behind ~")
		case isSuffix:
			v.names = append(v.names, name, "*."+name)
		default:
			v.names = append(v.names, rest)
		}
	}
	if len(v.names)+len(v.patterns)+len(v.wrong) == 0 {
		return v, errors.New("names nobody")
	}
	slices.Sort(v.names)
	v.names = slices.Compact(v.names)
	return v, nil
}

// checkNamePattern refuses also what finds nothing in particular.
func checkNamePattern(pattern string) error {
	if pattern == "" {
		return errors.New("has no expression behind ~")
	}
	_, err := value.Pattern(pattern)
	return err
}
