// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"net/netip"
	"strings"
)

// Fact is one property of a policy in words, for people.
type Fact struct{ Name, Value string }

func (f Fact) String() string {
	if f.Value == "" {
		return f.Name
	}
	return f.Name + "=" + f.Value
}

// facts collects the facts that are worth a word.
type facts []Fact

func (f *facts) always(name, format string, args ...any) {
	*f = append(*f, Fact{name, fmt.Sprintf(format, args...)})
}

func (f *facts) when(true bool, name, format string, args ...any) {
	if true {
		f.always(name, format, args...)
	}
}

// Facts lists what a policy does, in a fixed order and never empty: what every route has, and what was asked for. It shows no secret.
func (p Policy) Facts() []Fact {
	f := &facts{}
	f.always("protocol", "%s", p.Protocol)
	f.always("body limit", "%s", bytesOrNone(p.BodyLimit))
	f.always("connect timeout", "%s", p.Timeouts.Connect)
	f.always("send timeout", "%s", p.Timeouts.Send)
	f.always("read timeout", "%s", p.Timeouts.Read)
	p.proxyFacts(f)
	f.when(p.Host != "", "host header", "%s", p.Host)
	if p.Rewrite != nil {
		f.always("rewrite", "%s => %s", p.Rewrite.Pattern, p.Rewrite.Target)
	}
	f.when(p.ForwardedPrefix != "", "forwarded prefix", "%s", p.ForwardedPrefix)
	if r := p.Redirect; r != nil {
		f.always("redirect", "%d %s", r.Code, r.URL)
	}
	f.when(p.HTTPSRedirect, "redirect to HTTPS", "yes")
	f.when(p.KeepTrailingSlash, "keep slash", "yes")
	f.when(p.PortInRedirects, "port in redirects", "yes")
	f.when(p.RelativeRedirects, "relative redirects", "yes")
	p.controlFacts(f)
	p.responseFacts(f)
	f.when(p.Unlogged, "access log", "off")
	f.when(p.LogRewrites, "rewrite log", "on")
	if t := p.Tracing; t != nil {
		f.always("tracing", "%s", t)
	}
	f.when(p.Snippet != "", "snippet", "%d bytes", len(p.Snippet))
	return *f
}

func (p Policy) proxyFacts(f *facts) {
	f.always("retries", "%s", p.Retries)
	f.always("buffers", "%s", p.Buffers)
	f.when(p.HTTPVersion10, "version", "HTTP/1.0")
	f.when(p.Connection != "", "connection header", "%s", p.Connection)
	if p.Balance != nil {
		f.always("balance", "%s", p.Balance)
	}
	if p.UpstreamTLS != nil {
		f.always("TLS to backend", "%s", p.UpstreamTLS)
	}
	if p.FastCGI != nil {
		f.always("FastCGI", "%s", p.FastCGI)
	}
	f.when(!p.Fallback.IsZero(), "fallback", "%s", p.Fallback)
	if p.Mirror != nil {
		f.always("mirror", "%s", p.Mirror)
	}
}

func (p Policy) controlFacts(f *facts) {
	if a := p.Access; a != nil {
		f.when(len(a.Deny) > 0, "deny", "%s", prefixes(a.Deny))
		f.when(len(a.Allow) > 0, "allow", "%s", prefixes(a.Allow))
	}
	if p.Login != nil {
		f.always("login", "%s", p.Login)
	}
	if p.ExternalAuth != nil {
		f.always("external auth", "%s", p.ExternalAuth)
	}
	f.when(p.AnyAccess, "satisfy", "any")
	if p.RateLimit != nil {
		f.always("limit", "%s", p.RateLimit)
	}
	f.when(p.Bandwidth.Rate > 0, "bandwidth", "%s/s after %s", byteCount(p.Bandwidth.Rate), byteCount(p.Bandwidth.After))
	if p.CORS != nil {
		f.always("CORS", "%s", p.CORS)
	}
	if p.WAF != nil {
		f.always("WAF", "%s", p.WAF)
	}
}

func (p Policy) responseFacts(f *facts) {
	if p.Errors != nil {
		f.always("errors", "%s", p.Errors)
	}
	for _, h := range p.ResponseHeaders {
		f.always("response header", "%s: %s", h.Name, h.Value)
	}
	for _, r := range []struct {
		name string
		*Replacement
	}{{"cookie domain", p.CookieDomain}, {"cookie path", p.CookiePath}, {"location", p.Location}} {
		if r.Replacement != nil {
			f.always(r.name, "%s => %s", r.From, r.To)
		}
	}
}

func (r Retries) String() string {
	var on []string
	for i, word := range RetryConditions() {
		if r.On&(1<<i) != 0 {
			on = append(on, word)
		}
	}
	if len(on) == 0 {
		return "off"
	}
	text := fmt.Sprintf("%s, %d tries", strings.Join(on, " "), r.Tries)
	if r.Within > 0 {
		text += fmt.Sprintf(" within %s", r.Within)
	}
	return text
}

func (b Buffers) String() string {
	words := []string{"request", "on", "response", "on", fmt.Sprintf("%d of %s", b.Number, byteCount(b.Size))}
	if !b.Request {
		words[1] = "off"
	}
	if !b.Response {
		words[3] = "off"
	}
	if b.Busy > 0 {
		words = append(words, "busy "+byteCount(b.Busy))
	}
	words = append(words, "temporary file "+bytesOrNone(b.MaxTempFile))
	if b.RequestBody > 0 {
		words = append(words, "body "+byteCount(b.RequestBody))
	}
	return strings.Join(words, " ")
}

func (a *Affinity) String() string {
	words := []string{"cookie " + a.Name, "balanced"}
	if a.Persistent {
		words[1] = "persistent"
	}
	say := func(when bool, format string, args ...any) {
		if when {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	say(a.Path != "", "path %s", a.Path)
	say(a.Domain != "", "domain %s", a.Domain)
	say(a.Secure, "secure")
	say(a.SameSite != "", "samesite %s", a.SameSite)
	say(a.SameSiteUnlessBroken, "unless broken")
	if a.MaxAge != nil {
		say(true, "max-age %d", *a.MaxAge)
	}
	if a.Expires != nil {
		say(true, "expires %d", *a.Expires)
	}
	say(a.ChangeOnFailure, "change on failure")
	return strings.Join(words, " ")
}

func (t *UpstreamTLS) String() string {
	words := []string{"not verified"}
	if t.Verify {
		words[0] = fmt.Sprintf("verified to depth %d", t.Depth)
	}
	if t.Name != "" {
		words = append(words, "as "+string(t.Name))
	}
	if t.SNI {
		words = append(words, "with SNI")
	}
	words = append(words, t.Protocols, t.Ciphers)
	if t.Certificate != nil {
		words = append(words, "with the certificate of "+t.Certificate.Owner.String())
	}
	return strings.Join(words, " ")
}

func (c *FastCGI) String() string {
	words := []string{"index " + named(c.Index)}
	for _, p := range c.Params {
		words = append(words, fmt.Sprintf("%s=%s", p.Name, p.Value))
	}
	return strings.Join(words, " ")
}

func (l *Login) String() string {
	kind := "basic"
	if l.Digest {
		kind = "digest"
	}
	return fmt.Sprintf("%s %q, %d users", kind, l.Realm, len(l.Users))
}

func (u URL) String() string {
	scheme := "http"
	if u.HTTPS {
		scheme = "https"
	}
	return fmt.Sprintf("%s://%s%s", scheme, u.Host, u.Path)
}

func (a *ExternalAuth) String() string {
	words := []string{a.URL.String()}
	say := func(when bool, format string, args ...any) {
		if when {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	say(a.Method != "", "by %s", a.Method)
	say(a.SignIn != "", "signin %s (%s)", a.SignIn, a.SignInParam)
	say(len(a.ResponseHeaders) > 0, "takes %s", strings.Join(a.ResponseHeaders, ","))
	for _, h := range a.RequestHeaders {
		say(true, "sends %s: %s", h.Name, h.Value)
	}
	say(a.RequestRedirect != "", "redirect %s", a.RequestRedirect)
	say(a.AlwaysSetCookie, "always sets cookie")
	if a.CacheKey != "" {
		say(true, "cached by %s", a.CacheKey)
		for _, c := range a.CacheFor {
			say(true, "%d for %s", c.Status, c.For)
		}
	}
	say(a.Snippet != "", "with a snippet")
	return strings.Join(words, " ")
}

func (l *RateLimit) String() string {
	var words []string
	say := func(when bool, format string, args ...any) {
		if when {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	say(l.PerSecond > 0, "%d/s burst %d", l.PerSecond, l.SecondBurst)
	say(l.PerMinute > 0, "%d/min burst %d", l.PerMinute, l.MinuteBurst)
	say(l.Connections > 0, "%d at once", l.Connections)
	say(len(l.Exempt) > 0, "not for %s", prefixes(l.Exempt))
	return strings.Join(words, ", ")
}

func (c *CORS) String() string {
	return fmt.Sprintf("from %s, methods %s, headers %s, expose %s, credentials %v, max-age %d",
		named(strings.Join(c.Origins, " ")), c.Methods, c.Headers, named(c.ExposeHeaders), c.Credentials, c.MaxAge)
}

func (w *WAF) String() string {
	words := []string{"on"}
	if w.CoreRules {
		words = append(words, "core rules")
	}
	if w.TransactionID != "" {
		words = append(words, "transaction "+string(w.TransactionID))
	}
	if w.Rules != "" {
		words = append(words, fmt.Sprintf("%d bytes of rules", len(w.Rules)))
	}
	return strings.Join(words, ", ")
}

func (e *Errors) String() string {
	text := strings.Trim(fmt.Sprint(e.Codes), "[]")
	if !e.Intercept {
		text += " of the proxy"
	}
	if e.Backend.IsZero() {
		return text + " by the default backend"
	}
	return text + " by " + e.Backend.String()
}

func (m *Mirror) String() string {
	if m.Body {
		return m.URL.String()
	}
	return m.URL.String() + " without body"
}

func (t *Tracing) String() string {
	words := []string{"off"}
	if t.On {
		words[0] = "on"
	}
	if t.TrustIncoming != nil {
		words = append(words, fmt.Sprintf("trust=%v", *t.TrustIncoming))
	}
	if t.Operation != "" {
		words = append(words, t.Operation)
	}
	return strings.Join(words, " ")
}

func (v Verify) String() string { return [...]string{"on", "off", "optional", "optional_no_ca"}[v] }

func (t *HostTLS) String() string {
	var words []string
	say := func(when bool, format string, args ...any) {
		if when {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	if t.ClientCA != "" {
		say(true, "client certificates %s to depth %d", t.Verify, t.Depth)
		say(t.ClientCRL != "", "with revocations")
		say(t.ErrorPage != "", "error page %s", t.ErrorPage)
		say(t.PassCertificate, "passed on")
		say(t.MatchCN != "", "subject ~ %s", t.MatchCN)
	}
	say(t.Ciphers != "", "ciphers %s", t.Ciphers)
	if t.PreferServer != nil {
		say(true, "prefer server %v", *t.PreferServer)
	}
	return strings.Join(words, ", ")
}

func prefixes(list []netip.Prefix) string {
	words := make([]string, len(list))
	for i, p := range list {
		words[i] = p.String()
	}
	return strings.Join(words, " ")
}

func named(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

func bytesOrNone(n int64) string {
	if n == 0 {
		return "none"
	}
	return byteCount(n)
}

// byteCount prints bytes as nginx and the annotations write them.
func byteCount(n int64) string {
	for _, u := range []struct {
		shift int
		name  string
	}{{30, "g"}, {20, "m"}, {10, "k"}} {
		if n != 0 && n%(1<<u.shift) == 0 {
			return fmt.Sprintf("%d%s", n>>u.shift, u.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}

// Differences gives the facts of p that are not facts of base, in their order.
func (p Policy) Differences(base Policy) []Fact {
	known := map[Fact]bool{}
	for _, f := range base.Facts() {
		known[f] = true
	}
	var list []Fact
	for _, f := range p.Facts() {
		if !known[f] {
			list = append(list, f)
		}
	}
	return list
}
