// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	"net/url"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
)

// withCookiePath gives b with a path for the affinity cookie: that of the annotation, else that of the rule.
func withCookiePath(b *model.Balance, p *pathClaim) *model.Balance {
	if b == nil || b.Affinity == nil || b.Affinity.Path != "" {
		return b
	}
	affinity := *b.Affinity
	affinity.Path = p.cookiePath()
	balance := *b
	balance.Affinity = &affinity
	return &balance
}

// cookiePath gives the path of a rule as browsers see it, or "/" where a cookie can't have it as attribute.
func (p *pathClaim) cookiePath() string {
	if p.isExpression() || strings.Contains(p.path, ";") {
		return "/"
	}
	return (&url.URL{Path: p.path}).EscapedPath()
}

// isExpression tells whether the path is a regular expression that is more than its own text.
func (p *pathClaim) isExpression() bool {
	return p.wantsRegex() && strings.ContainsAny(p.path, `\*+?()[]{}|^$`)
}

// checkCookiePath reports a path that can't be the path of its cookie.
func (p *pathClaim) checkCookiePath() {
	b := p.host.effect.Policy.Balance
	if b != nil && b.Affinity != nil && b.Affinity.Path == "" && p.cookiePath() == "/" && p.path != "/" {
		p.host.problem(p.field+".path", model.ReasonInvalidPath,
			"the path cannot be that of the affinity cookie, which has / instead; set the annotation session-cookie-path")
	}
}
