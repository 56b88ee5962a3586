// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package konghq

import (
	"regexp"
	"strings"

	netv1 "k8s.io/api/networking/v1"

	"github.com/fairway-ingress/fairway/internal/model"
)

// defaultMarker makes an ImplementationSpecific path that begins with it an expression.
const defaultMarker = "/~"

// maxPath bounds a path, in bytes.
const maxPath = 4096

var (
	slashes = regexp.MustCompile("//+")
	// plainPath is what Kong 2 took for no expression.
	plainPath = regexp.MustCompile("^[A-Za-z0-9._~/%-]*$")
)

// readPath says how the path of a rule is compared. Expressions are checked by the driver, as what they may be depends on the gateway.
func (i *ingressReader) readPath(written *netv1.HTTPIngressPath, field string) (p model.KongPath, ok bool) {
	path := written.Path
	if path == "" {
		path = "/"
	}
	kind := netv1.PathTypeImplementationSpecific
	if written.PathType != nil {
		kind = *written.PathType
	}
	if path[0] != '/' || len(path) > maxPath || hasControl(path) {
		return p, false // package ingress has reported it
	}
	p = model.KongPath{Field: field, Kind: model.KongText, Path: path}
	switch kind {
	case netv1.PathTypeExact:
		p.Kind, p.Path = model.KongExact, slashes.ReplaceAllLiteralString(path, "/")
	case netv1.PathTypePrefix:
		p.Kind, p.Path = model.KongPrefix, slashes.ReplaceAllLiteralString(path, "/")
		if p.Path = strings.TrimRight(p.Path, "/"); p.Path == "" {
			p.Path = "/"
		}
	case netv1.PathTypeImplementationSpecific:
		i.readImplementationSpecific(&p)
	default:
		return p, false
	}
	return p, true
}

func (i *ingressReader) readImplementationSpecific(p *model.KongPath) {
	marker := defaultMarker
	if written := i.notes.values["regex-prefix"]; written != "" {
		marker = written
	}
	expression, marked := strings.CutPrefix(p.Path, marker)
	switch {
	case marked:
		p.Kind, p.Path = model.KongRegex, expression
	case i.parameters().EnableLegacyRegexDetection && !plainPath.MatchString(p.Path):
		p.Kind = model.KongRegex
	default:
		p.Path = slashes.ReplaceAllLiteralString(p.Path, "/")
	}
}
