// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
)

// Shape is what a route needs of nginx that no variable and no Lua can give: one named location serves all routes of one shape.
// A field here costs a reload whenever a cluster first uses a new value of it, so whatever can be data must not be here.
//
// But for Protocol and BodyLimit, zero is what the settings say. Texts are numbers or hashes of the parts that [Parts] holds.
type Shape struct {
	// Protocol decides the module that proxies and the pool of kept connections. It is never AutoHTTP.
	Protocol model.Protocol
	// BodyLimit in bytes is enforced by nginx for bodies whose length is not announced; 0 is none.
	BodyLimit int64
	// OwnHost is 1 when the backend gets another Host header than the client sent.
	OwnHost int64
	// Respond is 1 when Lua looks at responses: cookies, headers, CORS.
	Respond int64
	// Identity is 1 when the backend is told about the client's certificate.
	Identity int64
	// Auth is 1 when another server is asked about each request.
	Auth int64
	// Mirror is 1 for copies with the body, 2 without.
	Mirror int64
	// SlowLogin is 1 when passwords are verified in threads beside the worker.
	SlowLogin int64
	// Connections bounds the requests of one key at once; 0 is none.
	Connections int64

	// Buffering is 1 for on and 2 for off, where the settings say otherwise; RequestBuffering likewise.
	Buffering, RequestBuffering int64
	// BufferNumber, BufferSize, BusySize and MaxTempFile are set together, numbers and bytes, the last and 1 more; BodyBuffer is bytes.
	BufferNumber, BufferSize, BusySize, MaxTempFile, BodyBuffer int64
	// Version is 10 or 11.
	Version int64
	// RetryOn is a model.RetryCondition and 1 more; RetryWithin is seconds and 1 more.
	RetryOn, RetryWithin int64
	// Tries bounds how often endpoints are asked, where that is less than what an upstream allows anyway: see [UpstreamTries]. More is data.
	Tries int64

	// Errors are the statuses that are replaced, "404x503"; InterceptErrors is 1 when also those of the backend are.
	Errors          string
	InterceptErrors int64
	// TLS is the hash of how backends are verified.
	TLS string
	// Params is the hash of the names of FastCGI parameters.
	Params string
	// WAF is 1 for ModSecurity, 2 with the core rules; Transaction is 1 with IDs of ours; Rules is the hash of rules.
	WAF, Transaction int64
	Rules            string
	// Snippet and AuthSnippet are hashes of raw configuration.
	Snippet, AuthSnippet string
}

// Parts are the texts whose hashes stand in a Shape; equal hashes are equal parts.
type Parts struct {
	TLS         *model.UpstreamTLS
	Params      []model.Param
	Rules       model.Snippet
	Snippet     model.Snippet
	AuthSnippet model.Snippet
}

// numbers and words give the fields of a shape and the letters that they have in its name.
func (s *Shape) numbers() []field[int64] {
	return []field[int64]{
		{"h", &s.OwnHost}, {"r", &s.Respond}, {"i", &s.Identity}, {"a", &s.Auth}, {"m", &s.Mirror}, {"l", &s.SlowLogin}, {"c", &s.Connections},
		{"b", &s.Buffering}, {"q", &s.RequestBuffering}, {"bn", &s.BufferNumber}, {"bs", &s.BufferSize}, {"bb", &s.BusySize}, {"bt", &s.MaxTempFile}, {"bq", &s.BodyBuffer},
		{"v", &s.Version}, {"n", &s.RetryOn}, {"nt", &s.RetryWithin}, {"nr", &s.Tries},
		{"ei", &s.InterceptErrors}, {"w", &s.WAF}, {"wt", &s.Transaction},
	}
}

func (s *Shape) words() []field[string] {
	return []field[string]{
		{"e", &s.Errors}, {"t", &s.TLS}, {"f", &s.Params}, {"wr", &s.Rules}, {"s", &s.Snippet}, {"as", &s.AuthSnippet},
	}
}

type field[T any] struct {
	letters string
	value   *T
}

// DefaultShape is what the entry location itself serves: the shape of a route without annotations, unless the settings ask for more
// than proxying and error pages.
func DefaultShape(s model.Settings) Shape {
	shape := Shape{Protocol: s.Route.Protocol, BodyLimit: s.Route.BodyLimit}
	shape.setErrors(s.Route.Errors)
	return shape
}

// ShapesOf gives the shape that a route of a host needs for requests over plain HTTP, and that for requests over TLS; they only differ for a backend of
// AutoHTTP.
func ShapesOf(h *model.Host, r *model.Route, settings *model.Settings) (plain, secure Shape) {
	if r.Policy.Protocol != model.AutoHTTP {
		plain = shapeOf(h, r, settings, r.Policy.Protocol)
		return plain, plain
	}
	return shapeOf(h, r, settings, model.HTTP), shapeOf(h, r, settings, model.HTTPS)
}

// FallbackShape gives the shape for requests of a route that its fallback gets: the same, over plain HTTP and without replaced errors, as the fallback
// itself is to answer.
func FallbackShape(h *model.Host, r *model.Route, settings *model.Settings) Shape {
	s := shapeOf(h, r, settings, model.HTTP)
	s.Errors, s.InterceptErrors = "", 0
	return s
}

func shapeOf(h *model.Host, r *model.Route, settings *model.Settings, protocol model.Protocol) Shape {
	p := &r.Policy
	s := Shape{
		Protocol: protocol, BodyLimit: p.BodyLimit, OwnHost: bit(p.Host != ""), Respond: bit(responds(r)),
		Identity: bit(h.TLS != nil && h.TLS.ClientCA != ""), Auth: bit(p.ExternalAuth != nil),
		SlowLogin: bit(p.Login.IsSlow()),
	}
	if m := p.Mirror; m != nil {
		s.Mirror = 1 + bit(!m.Body)
	}
	if p.RateLimit != nil {
		s.Connections = int64(p.RateLimit.Connections)
	}
	s.setBuffers(p, &settings.Route)
	s.setErrors(p.Errors)
	if p.UpstreamTLS != nil && (protocol == model.HTTPS || protocol == model.GRPCS) {
		s.TLS = hashOf(tlsIdentity(r))
	}
	if p.FastCGI != nil && protocol == model.FCGI && len(p.FastCGI.Params) > 0 {
		s.Params = hashOf(paramNames(p.FastCGI.Params))
	}
	if w := p.WAF; w != nil {
		s.WAF, s.Transaction = 1+bit(w.CoreRules), bit(w.TransactionID != "")
		s.Rules = hashSnippet(w.Rules)
	}
	s.Snippet = hashSnippet(p.Snippet)
	if p.ExternalAuth != nil {
		s.AuthSnippet = hashSnippet(p.ExternalAuth.Snippet)
	}
	return s
}

// setErrors notes which statuses are replaced; those of the backend only where it speaks HTTP.
func (s *Shape) setErrors(e *model.Errors) {
	if e == nil {
		return
	}
	codes := make([]string, len(e.Codes))
	for i, c := range e.Codes {
		codes[i] = strconv.Itoa(c)
	}
	s.Errors = strings.Join(codes, "x")
	s.InterceptErrors = bit(e.Intercept && (s.Protocol == model.HTTP || s.Protocol == model.HTTPS))
}

// UpstreamTries is how often endpoints are asked without a word of Lua, when a route says as much as the settings do. For more, Lua has to ask
// nginx in each request.
func UpstreamTries(base *model.Policy) int { return min(max(base.Retries.Tries, 1), 8) }

// setBuffers notes where buffers, retries and version differ from the settings.
func (s *Shape) setBuffers(p, base *model.Policy) {
	onOff := func(on, usual bool) int64 {
		if on == usual {
			return 0
		}
		return 1 + bit(!on)
	}
	differing := func(n, usual, offset int64) int64 {
		if n == usual {
			return 0
		}
		return n + offset
	}
	if tries := p.Retries.Tries; tries > 0 && tries < UpstreamTries(base) {
		s.Tries = int64(tries)
	}
	b, u := p.Buffers, base.Buffers
	s.BodyBuffer = differing(b.RequestBody, u.RequestBody, 0)
	if s.Protocol == model.HTTP || s.Protocol == model.HTTPS {
		s.Buffering, s.RequestBuffering = onOff(b.Response, u.Response), onOff(b.Request, u.Request)
		// All four or none, so that a shape that outlives a change of the settings is still what nginx takes.
		if b.Number != u.Number || b.Size != u.Size || b.BusySize() != u.BusySize() || b.MaxTempFile != u.MaxTempFile {
			s.BufferNumber, s.BufferSize, s.BusySize, s.MaxTempFile = int64(b.Number), b.Size, b.BusySize(), b.MaxTempFile+1
		}
		if p.HTTPVersion10 != base.HTTPVersion10 {
			s.Version = 11 - bit(p.HTTPVersion10)
		}
		s.RetryOn = differing(int64(p.Retries.On), int64(base.Retries.On), 1)
		s.RetryWithin = differing(int64(p.Retries.Within.Seconds()), int64(base.Retries.Within.Seconds()), 1)
	}
}

// buffers tells whether responses may be written to files where the settings buffer none.
func (s Shape) buffers() bool { return s.Buffering == 1 || s.Protocol == model.FCGI }

// writesFiles tells whether responses may be written to files, by threads.
func writesFiles(settings model.Settings, shapes Shapes) bool {
	return settings.Worker.AIOWrite && (settings.Route.Buffers.Response || shapes.any(Shape.buffers))
}

// responds tells whether Lua has to look at the responses of a route.
func responds(r *model.Route) bool {
	p := &r.Policy
	return p.CORS != nil || p.ExternalAuth != nil || len(p.ResponseHeaders) > 0 || p.CookieDomain != nil || p.CookiePath != nil || p.Location != nil
}

// PartsOf gives the parts of the shape that a route needs.
func PartsOf(r *model.Route) Parts {
	p := &r.Policy
	parts := Parts{TLS: p.UpstreamTLS, Snippet: p.Snippet}
	if p.FastCGI != nil {
		parts.Params = p.FastCGI.Params
	}
	if p.WAF != nil {
		parts.Rules = p.WAF.Rules
	}
	if p.ExternalAuth != nil {
		parts.AuthSnippet = p.ExternalAuth.Snippet
	}
	return parts
}

// tlsIdentity is what connections to a backend must agree in before one may stand in for another.
func tlsIdentity(r *model.Route) any {
	t := r.Policy.UpstreamTLS
	var certificate model.CertificateID
	if t.Certificate != nil {
		certificate = t.Certificate.ID
	}
	return []any{t.CA, t.Verify, t.Depth, t.SNI, t.Ciphers, t.Protocols, certificate, TLSName(r)}
}

// TLSName is the name that the certificate of a route's backend is verified against.
func TLSName(r *model.Route) model.Template {
	return cmp.Or(r.Policy.UpstreamTLS.Name, model.Template(r.Backend.Service+"."+r.Backend.Namespace+".svc"))
}

func paramNames(params []model.Param) any {
	names := make([]string, len(params))
	for i, p := range params {
		names[i] = p.Name
	}
	return names
}

func hashSnippet(s model.Snippet) string {
	if s == "" {
		return ""
	}
	return hashOf(s)
}

func hashOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// Name is unique among shapes and safe in a configuration: lower-case letters, digits and "_".
func (s Shape) Name() string {
	name := protocolWord(s.Protocol) + "_" + strconv.FormatInt(s.BodyLimit, 10)
	for _, f := range s.numbers() {
		if *f.value != 0 {
			name += "_" + f.letters + "_" + strconv.FormatInt(*f.value, 10)
		}
	}
	for _, f := range s.words() {
		if *f.value != "" {
			name += "_" + f.letters + "_" + *f.value
		}
	}
	return name
}

// ParseShape gives the shape of a name, and whether it is one.
func ParseShape(name string) (Shape, bool) {
	var s Shape
	words := strings.Split(name, "_")
	if len(words) < 2 || len(words)%2 != 0 {
		return s, false
	}
	i := slices.IndexFunc(protocols, func(p model.Protocol) bool { return protocolWord(p) == words[0] })
	limit, err := strconv.ParseInt(words[1], 10, 64)
	if i < 0 || err != nil || limit < 0 {
		return s, false
	}
	s.Protocol, s.BodyLimit = protocols[i], limit
	for words = words[2:]; len(words) > 0; words = words[2:] {
		if !s.set(words[0], words[1]) {
			return Shape{}, false
		}
	}
	return s, s.Name() == name
}

func (s *Shape) set(letters, value string) bool {
	for _, f := range s.numbers() {
		if f.letters == letters {
			n, err := strconv.ParseInt(value, 10, 64)
			*f.value = n
			return err == nil && n > 0
		}
	}
	for _, f := range s.words() {
		if f.letters == letters {
			*f.value = value
			return value != ""
		}
	}
	return false
}

var protocols = []model.Protocol{model.HTTP, model.HTTPS, model.GRPC, model.GRPCS, model.FCGI}

func protocolWord(p model.Protocol) string { return strings.ToLower(p.String()) }

// hasParts tells whether the shape is incomplete without Parts.
func (s Shape) hasParts() bool {
	return s.TLS+s.Params+s.Rules+s.Snippet+s.AuthSnippet != ""
}

// Shapes is a set of shapes with their parts.
type Shapes map[Shape]Parts

// Needed gives the shapes of all routes of hosts, and the default one.
func Needed(hosts []*model.Host, settings *model.Settings) Shapes {
	shapes := Shapes{DefaultShape(*settings): {}}
	for _, h := range hosts {
		for _, match := range h.Matches {
			shapes.need(h, match.Route, settings)
		}
	}
	return shapes
}

func (s Shapes) need(h *model.Host, r *model.Route, settings *model.Settings) {
	plain, secure := ShapesOf(h, r, settings)
	needed := []Shape{plain, secure}
	if !r.Policy.Fallback.IsZero() {
		needed = append(needed, FallbackShape(h, r, settings))
	}
	for _, shape := range needed {
		if _, found := s[shape]; !found {
			s[shape] = PartsOf(r)
		}
	}
}

// Add puts all of others into s. What is there keeps its parts.
func (s Shapes) Add(others Shapes) {
	for shape, parts := range others {
		if _, found := s[shape]; !found {
			s[shape] = parts
		}
	}
}

// Contains tells whether all of others are in s.
func (s Shapes) Contains(others Shapes) bool {
	for shape := range others {
		if _, found := s[shape]; !found {
			return false
		}
	}
	return true
}

// WithoutParts gives those that a name says all about. What an earlier controller left in nginx is known by its name alone.
func (s Shapes) WithoutParts() Shapes {
	kept := Shapes{}
	for shape, parts := range s {
		if !shape.hasParts() {
			kept[shape] = parts
		}
	}
	return kept
}

// Sorted gives the shapes by name.
func (s Shapes) Sorted() []Shape {
	return slices.SortedFunc(maps.Keys(s), func(a, b Shape) int { return cmp.Compare(a.Name(), b.Name()) })
}

// BodyLimit is the largest limit of all shapes, 0 when one has none: what the entry location must let pass, because nginx compares
// Content-Length with it before any Lua runs.
func (s Shapes) BodyLimit() int64 {
	var largest int64
	for shape := range s {
		if shape.BodyLimit == 0 {
			return 0
		}
		largest = max(largest, shape.BodyLimit)
	}
	return largest
}

// replacesLate tells whether 413 is replaced on some routes but not on those of the default shape: nginx compares announced bodies with the limit of
// the entry location, before it is known which route takes the request.
func (s Shapes) replacesLate(usual Shape) bool {
	const tooLarge = 413
	return slices.Contains(s.ErrorCodes(), tooLarge) && !slices.Contains(usual.errorCodes(), tooLarge)
}

// ErrorCodes gives the statuses that any shape replaces, sorted.
func (s Shapes) ErrorCodes() []int {
	codes := map[int]bool{}
	for shape := range s {
		for _, c := range shape.errorCodes() {
			codes[c] = true
		}
	}
	return slices.Sorted(maps.Keys(codes))
}

func (s Shape) errorCodes() []int {
	if s.Errors == "" {
		return nil
	}
	var codes []int
	for word := range strings.SplitSeq(s.Errors, "x") {
		if n, err := strconv.Atoi(word); err == nil {
			codes = append(codes, n)
		}
	}
	return codes
}
