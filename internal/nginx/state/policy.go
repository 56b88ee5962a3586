// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"reflect"
	"strconv"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/nginx/conf"
)

// policyEntry is what Lua does for a route beyond proxying it. The ID is a hash of the rest, so that a request can name its policy
// across an internal redirect. Members are absent where nothing is asked for.
type policyEntry struct {
	ID               string            `json:"id"`
	Unlogged         int               `json:"unlogged,omitempty"`
	LogRewrites      int               `json:"log_rewrites,omitempty"`
	PortInRedirects  int               `json:"port_in_redirects,omitempty"`
	RelativeRedirect int               `json:"relative_redirects,omitempty"`
	Redirect         *redirectEntry    `json:"redirect,omitempty"`
	ForwardedPrefix  string            `json:"forwarded_prefix,omitempty"`
	Connection       string            `json:"connection,omitempty"`
	Access           *accessEntry      `json:"access,omitempty"`
	Any              int               `json:"any,omitempty"`
	Login            *loginEntry       `json:"login,omitempty"`
	Auth             *authEntry        `json:"auth,omitempty"`
	Limit            *limitEntry       `json:"limit,omitempty"`
	Rate             int64             `json:"rate,omitempty"`       // bytes/s of a response
	RateAfter        int64             `json:"rate_after,omitempty"` // bytes
	CORS             *corsEntry        `json:"cors,omitempty"`
	Errors           *errorsEntry      `json:"errors,omitempty"`
	Fallback         string            `json:"fallback,omitempty"` // backend key
	Mirror           *urlEntry         `json:"mirror,omitempty"`
	Headers          [][2]string       `json:"headers,omitempty"` // of responses
	CookieDomain     *[2]string        `json:"cookie_domain,omitempty"`
	CookiePath       *[2]string        `json:"cookie_path,omitempty"`
	Location         *[2]string        `json:"location,omitempty"`
	Balance          *balanceEntry     `json:"balance,omitempty"`     // absent as the settings say
	Transaction      string            `json:"transaction,omitempty"` // template of ModSecurity's transaction ID
	TLS              *upstreamTLSEntry `json:"upstream_tls,omitempty"`
	FastCGI          *fastCGIEntry     `json:"fastcgi,omitempty"`
}

type redirectEntry struct {
	Code int    `json:"code"`
	URL  string `json:"url"`
}

type accessEntry struct {
	Allow []string `json:"allow,omitempty"` // CIDR
	Deny  []string `json:"deny,omitempty"`
}

// loginEntry holds the hashes of users by name.
type loginEntry struct {
	Digest int               `json:"digest,omitempty"`
	Realm  string            `json:"realm"`
	Users  map[string]string `json:"users"`
}

// urlEntry is a URL that nginx itself asks. Without a backend the connection goes to this nginx.
type urlEntry struct {
	HTTPS   int    `json:"https,omitempty"`
	Backend string `json:"backend,omitempty"` // key
	Host    string `json:"host"`              // template
	Path    string `json:"path"`              // template
}

type authEntry struct {
	URL             urlEntry       `json:"url"`
	Method          string         `json:"method,omitempty"`
	SignIn          string         `json:"signin,omitempty"` // template
	SignInParam     string         `json:"signin_param,omitempty"`
	ResponseHeaders []string       `json:"response_headers,omitempty"`
	RequestHeaders  [][2]string    `json:"request_headers,omitempty"`
	Redirect        string         `json:"redirect,omitempty"`
	AlwaysSetCookie int            `json:"always_set_cookie,omitempty"`
	CacheKey        string         `json:"cache_key,omitempty"` // template
	CacheFor        map[string]int `json:"cache_for,omitempty"` // seconds by status, "0" for any
}

type limitEntry struct {
	Name        string   `json:"name"`
	PerSecond   int      `json:"per_second,omitempty"`
	SecondBurst int      `json:"second_burst,omitempty"`
	PerMinute   int      `json:"per_minute,omitempty"`
	MinuteBurst int      `json:"minute_burst,omitempty"`
	Connections int      `json:"connections,omitempty"`
	Exempt      []string `json:"exempt,omitempty"` // CIDR
}

type corsEntry struct {
	Origins     []string `json:"origins"`
	Methods     string   `json:"methods"`
	Headers     string   `json:"headers"`
	Expose      string   `json:"expose,omitempty"`
	Credentials int      `json:"credentials,omitempty"`
	MaxAge      int      `json:"max_age"`
}

type errorsEntry struct {
	Codes   map[string]int `json:"codes"` // status as text: 1
	Backend string         `json:"backend,omitempty"`
	// Identity is what the backend is told of the route: namespace, Ingress, Service, port.
	Identity [4]string `json:"identity"`
}

type balanceEntry struct {
	ID        string         `json:"id"`
	Algorithm string         `json:"algorithm"`         // a model.Algorithm
	HashBy    string         `json:"hash_by,omitempty"` // template
	Subset    int            `json:"subset,omitempty"`
	SlowStart float64        `json:"slow_start,omitempty"` // seconds
	Affinity  *affinityEntry `json:"affinity,omitempty"`
}

type affinityEntry struct {
	Persistent      int    `json:"persistent,omitempty"`
	Name            string `json:"name"`
	Path            string `json:"path"`
	Domain          string `json:"domain,omitempty"`
	Secure          int    `json:"secure,omitempty"`
	SameSite        string `json:"same_site,omitempty"`
	UnlessBroken    int    `json:"unless_broken,omitempty"`
	MaxAge          *int   `json:"max_age,omitempty"`
	Expires         *int   `json:"expires,omitempty"`
	ChangeOnFailure int    `json:"change_on_failure,omitempty"`
}

type upstreamTLSEntry struct {
	Name        string `json:"name"` // template
	Certificate string `json:"certificate,omitempty"`
	Key         string `json:"key,omitempty"`
}

type fastCGIEntry struct {
	Index  string   `json:"index,omitempty"`
	Params []string `json:"params,omitempty"` // templates, by the number of their variable
}

type tlsEntry struct {
	ID              string `json:"id"`           // of the policy for client certificates; empty without
	CA              string `json:"ca,omitempty"` // PEM
	CRL             string `json:"crl,omitempty"`
	Verify          string `json:"verify,omitempty"`
	Depth           int    `json:"depth,omitempty"`
	ErrorPage       string `json:"error_page,omitempty"`
	PassCertificate int    `json:"pass_certificate,omitempty"`
	MatchCN         string `json:"match_cn,omitempty"`
	Ciphers         string `json:"ciphers,omitempty"`
	PreferServer    *bool  `json:"prefer_server,omitempty"`
}

// newPolicy gives what Lua has to do for a route, or nil.
func newPolicy(r *model.Route, settings *model.Settings) *policyEntry {
	p := &r.Policy
	entry := policyEntry{
		Unlogged: bit(p.Unlogged), LogRewrites: bit(p.LogRewrites && p.Rewrite != nil), PortInRedirects: bit(p.PortInRedirects),
		RelativeRedirect: bit(p.RelativeRedirects), Connection: p.Connection,
		Access: newAccess(p.Access), Any: bit(p.AnyAccess), Login: newLogin(p.Login), Auth: newAuth(p.ExternalAuth), Limit: newLimit(p.RateLimit),
		Rate: p.Bandwidth.Rate, RateAfter: p.Bandwidth.After, CORS: newCORS(p.CORS), Errors: newErrors(p.Errors, r),
		Headers: pairs(p.ResponseHeaders), CookieDomain: replacement(p.CookieDomain), CookiePath: replacement(p.CookiePath), Location: replacement(p.Location),
	}
	if p.Redirect != nil {
		entry.Redirect = &redirectEntry{p.Redirect.Code, p.Redirect.URL}
	}
	if p.Rewrite != nil {
		entry.ForwardedPrefix = p.ForwardedPrefix
	}
	if !p.Fallback.IsZero() {
		entry.Fallback = backendKey(p.Fallback)
	}
	if p.Mirror != nil {
		u := newURL(p.Mirror.URL)
		entry.Mirror = &u
	}
	entry.Balance = newBalance(p.Balance, settings)
	if p.WAF != nil {
		entry.Transaction = string(p.WAF.TransactionID)
	}
	if t := p.UpstreamTLS; t != nil {
		entry.TLS = &upstreamTLSEntry{Name: string(conf.TLSName(r))}
		if t.Certificate != nil {
			entry.TLS.Certificate, entry.TLS.Key = t.Certificate.Chain, t.Certificate.Key.Reveal()
		}
	}
	if p.Protocol == model.FCGI {
		entry.FastCGI = newFastCGI(p.FastCGI, r)
	}
	if reflect.DeepEqual(entry, policyEntry{}) {
		return nil
	}
	entry.ID = identify(entry)
	return &entry
}

// identify gives a hash of the JSON of v.
func identify(v any) string {
	sum := sha256.Sum256([]byte(encode(v)))
	return hex.EncodeToString(sum[:8])
}

func newAccess(a *model.Access) *accessEntry {
	if a == nil {
		return nil
	}
	return &accessEntry{Allow: cidrs(a.Allow), Deny: cidrs(a.Deny)}
}

func newLogin(l *model.Login) *loginEntry {
	if l == nil {
		return nil
	}
	entry := &loginEntry{Digest: bit(l.Digest), Realm: l.Realm, Users: map[string]string{}}
	for _, u := range l.Users {
		entry.Users[u.Name] = u.Hash.Reveal()
	}
	return entry
}

func newURL(u model.URL) urlEntry {
	entry := urlEntry{HTTPS: bit(u.HTTPS), Host: string(u.Host), Path: string(u.Path)}
	if !u.Backend.IsZero() {
		entry.Backend = backendKey(u.Backend)
	}
	return entry
}

func newAuth(a *model.ExternalAuth) *authEntry {
	if a == nil {
		return nil
	}
	entry := &authEntry{
		URL: newURL(a.URL), Method: a.Method, SignIn: string(a.SignIn), SignInParam: a.SignInParam, ResponseHeaders: a.ResponseHeaders,
		RequestHeaders: pairs(a.RequestHeaders), Redirect: a.RequestRedirect, AlwaysSetCookie: bit(a.AlwaysSetCookie), CacheKey: string(a.CacheKey),
	}
	if a.CacheKey != "" {
		entry.CacheFor = map[string]int{}
		for _, c := range a.CacheFor {
			entry.CacheFor[strconv.Itoa(c.Status)] = int(c.For.Seconds())
		}
	}
	return entry
}

func newLimit(l *model.RateLimit) *limitEntry {
	if l == nil {
		return nil
	}
	return &limitEntry{
		Name: l.Name, PerSecond: l.PerSecond, SecondBurst: l.SecondBurst, PerMinute: l.PerMinute, MinuteBurst: l.MinuteBurst, Connections: l.Connections,
		Exempt: cidrs(l.Exempt),
	}
}

func newCORS(c *model.CORS) *corsEntry {
	if c == nil {
		return nil
	}
	origins := c.Origins
	if origins == nil {
		origins = []string{}
	}
	return &corsEntry{origins, c.Methods, c.Headers, c.ExposeHeaders, bit(c.Credentials), c.MaxAge}
}

// newErrors gives how errors of a route are replaced, or those of requests that no route takes when r is nil.
func newErrors(e *model.Errors, r *model.Route) *errorsEntry {
	if e == nil {
		return nil
	}
	entry := &errorsEntry{Codes: map[string]int{}}
	for _, c := range e.Codes {
		entry.Codes[strconv.Itoa(c)] = 1
	}
	if !e.Backend.IsZero() {
		entry.Backend = backendKey(e.Backend)
	}
	if r != nil {
		entry.Identity = [4]string{r.Owner.Namespace, r.Owner.Name, r.Backend.Service, r.Backend.Port}
	}
	return entry
}

// newBalance gives what differs from how the settings balance, or nil.
func newBalance(b *model.Balance, settings *model.Settings) *balanceEntry {
	if reflect.DeepEqual(b, settings.Route.Balance) {
		return nil
	}
	return encodeBalance(b)
}

func encodeBalance(b *model.Balance) *balanceEntry {
	entry := &balanceEntry{Algorithm: model.RoundRobin.String()}
	if b != nil {
		entry.Algorithm = b.Algorithm.String()
		entry.HashBy, entry.Subset, entry.Affinity = string(b.HashBy), b.Subset, newAffinity(b.Affinity)
		entry.SlowStart = b.SlowStart.Seconds()
	}
	entry.ID = identify(entry)
	return entry
}

func newAffinity(a *model.Affinity) *affinityEntry {
	if a == nil {
		return nil
	}
	return &affinityEntry{
		bit(a.Persistent), a.Name, a.Path, a.Domain, bit(a.Secure), a.SameSite, bit(a.SameSiteUnlessBroken), a.MaxAge, a.Expires, bit(a.ChangeOnFailure),
	}
}

// balanceID names a way to balance for the balancer; "" for that of the settings.
func balanceID(entry *balanceEntry) string {
	if entry == nil {
		return ""
	}
	return entry.ID
}

func newFastCGI(f *model.FastCGI, r *model.Route) *fastCGIEntry {
	entry := &fastCGIEntry{}
	if f != nil {
		entry.Index = f.Index
		for _, p := range f.Params {
			entry.Params = append(entry.Params, fillRoute(p.Value, r))
		}
	}
	return entry
}

func newTLS(t *model.HostTLS) *tlsEntry {
	if t == nil {
		return nil
	}
	entry := &tlsEntry{Ciphers: t.Ciphers, PreferServer: t.PreferServer}
	if t.ClientCA != "" {
		entry.CA, entry.CRL, entry.Verify, entry.Depth = t.ClientCA, t.ClientCRL, t.Verify.String(), t.Depth
		entry.ErrorPage, entry.PassCertificate, entry.MatchCN = t.ErrorPage, bit(t.PassCertificate), t.MatchCN
		entry.ID = identify([]any{t.ClientCA, t.ClientCRL, t.Verify, t.Depth})
	}
	return entry
}

func cidrs(list []netip.Prefix) []string {
	var words []string
	for _, p := range list {
		words = append(words, p.String())
	}
	return words
}

func pairs(headers []model.Header) [][2]string {
	var list [][2]string
	for _, h := range headers {
		list = append(list, [2]string{h.Name, h.Value})
	}
	return list
}

func replacement(r *model.Replacement) *[2]string {
	if r == nil {
		return nil
	}
	return &[2]string{r.From, r.To}
}
