// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	netv1 "k8s.io/api/networking/v1"

	"github.com/fairway-ingress/fairway/internal/annotation"
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

// Inspect gives what nobody should write in an Ingress though it can be served: what the predecessor's admission webhook refused besides what a build
// refuses.
func Inspect(options Options, settings *model.Settings, ing *netv1.Ingress) []model.Problem {
	i := &inspection{options: &options, settings: settings, ing: ing}
	i.inspectAnnotations()
	for n, rule := range ing.Spec.Rules {
		field := fmt.Sprintf("spec.rules[%d]", n)
		i.inspectText(field+".host", rule.Host)
		if rule.HTTP == nil {
			continue
		}
		for m := range rule.HTTP.Paths {
			i.inspectPath(fmt.Sprintf("%s.http.paths[%d].path", field, m), &rule.HTTP.Paths[m])
		}
	}
	for n, entry := range ing.Spec.TLS {
		field := fmt.Sprintf("spec.tls[%d]", n)
		for m, host := range entry.Hosts {
			i.inspectText(fmt.Sprintf("%s.hosts[%d]", field, m), host)
		}
		i.inspectText(field+".secretName", entry.SecretName)
	}
	return i.problems
}

type inspection struct {
	options  *Options
	settings *model.Settings
	ing      *netv1.Ingress
	problems []model.Problem
}

func (i *inspection) refuse(field, reason, message, remedy string) {
	i.problems = append(i.problems, model.Problem{
		Object: ingressRef(i.ing), Field: field, Reason: reason, Message: message, Refusal: message + "; " + remedy,
	})
}

// inspectAnnotations finds keys that nobody reads here but whose author counts on them. Those that are read are judged by a build.
func (i *inspection) inspectAnnotations() {
	prefix := cmp.Or(i.options.AnnotationsPrefix, annotation.DefaultPrefix) + "/"
	for _, key := range slices.Sorted(maps.Keys(i.ing.Annotations)) {
		field := "metadata.annotations[" + key + "]"
		name, ours := strings.CutPrefix(key, prefix)
		theirs, foreign := strings.CutPrefix(key, annotation.DefaultPrefix+"/")
		switch {
		case ours && annotation.Known(name):
		case strings.HasSuffix(key, "-snippet") && !i.settings.Snippets:
			i.refuse(field, model.ReasonForbiddenAnnotation, "its name ends in -snippet, and the setting allow-snippet-annotations forbids raw configuration",
				"remove the annotation, or have the setting changed")
		case foreign && !ours:
			i.refuse(field, model.ReasonUnknownAnnotation, "nobody reads it, because the prefix of annotations is "+strings.TrimSuffix(prefix, "/"), "write "+prefix+theirs)
		}
	}
}

// inspectPath judges a path by the type that was written.
func (i *inspection) inspectPath(field string, written *netv1.HTTPIngressPath) {
	i.inspectText(field, written.Path)
	path := written.Path
	if path == "" || written.PathType != nil && *written.PathType == netv1.PathTypeImplementationSpecific {
		return
	}
	if path[0] == '/' && value.Only(path, value.IsLetterOrDigit, "/._-") {
		return
	}
	kind := netv1.PathTypePrefix
	if written.PathType != nil {
		kind = *written.PathType
	}
	message := fmt.Sprintf("a path of the type %s begins with / and has only letters, digits and . _ - /", kind)
	i.refuse(field, model.ReasonInvalidPath, message, "correct it, or set the type to ImplementationSpecific")
	if !i.settings.StrictPaths {
		i.problems[len(i.problems)-1].Refusal = ""
	}
}

// inspectText looks for what has been used to attack proxies that put such text into their configuration. This one does not.
func (i *inspection) inspectText(field, text string) {
	if !i.options.DeepInspect {
		return
	}
	if part := suspicious(text); part != "" {
		i.refuse(field, model.ReasonForbiddenText, "it contains "+part+", which is known from attacks on nginx", "write it without, or have the admin unset --deep-inspect")
	}
}

// suspicious gives the part of a text that the predecessor refused, or "".
func suspicious(text string) string {
	for _, word := range []string{
		"/etc/passwd", "/etc/shadow", "/etc/group", "/etc/nginx", "/etc/ingress-controller", "/var/run/secrets", "_by_lua",
	} {
		if strings.Contains(text, word) {
			return word
		}
	}
	for _, word := range []string{"alias", "root"} {
		if _, after, found := strings.Cut(text, word); found && strings.Contains(after, ";") {
			return word + " and a semicolon"
		}
	}
	return ""
}
