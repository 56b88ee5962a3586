// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kongtest

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Options say which gateway is simulated. The zero value is Kong 3.9.3 with a database and every bundled plugin.
type Options struct {
	Version string
	DBLess  bool
	// Enterprise adds consumer groups, which, with workspaces, is all of Kong Enterprise that is simulated.
	Enterprise bool
	// Plugins are those that the gateway has; nil for [Bundled].
	Plugins []string
	Flavor  string // traditional_compatible unless given
	// Workspaces are those besides the default one. With any the gateway is of Enterprise.
	Workspaces []string
	// Token must come in the header Kong-Admin-Token unless empty.
	Token string
	// MaxBody bounds the bodies of requests, 10 MiB unless given.
	MaxBody int64
	// EmptyObjects writes empty lists as {}, and Extra, unless empty, is a field that all answers have besides: clients must cope with both.
	EmptyObjects bool
	Extra        string
	// Now is the clock; nil for the real one.
	Now func() time.Time
}

// Simulator is one gateway's Admin API. It is safe for concurrent use.
type Simulator struct {
	version      version
	versionText  string
	dbless       bool
	enterprise   bool
	flavor       string
	token        string
	plugins      []string
	maxBody      int64
	emptyObjects bool
	extra        string
	now          func() time.Time
	pluginTable  map[string]plugin
	schemas      map[string]*schema
	order        []*schema

	mu         sync.Mutex // guards what follows
	store      *store     // of the default workspace
	workspaces map[string]*store
	loaded     declared
	calls      []Call
	fault      func(Call) *Fault
	after      func(Call)
}

// New makes an empty gateway.
func New(o Options) *Simulator {
	s := &Simulator{
		versionText: cmp.Or(o.Version, "3.9.3"), dbless: o.DBLess, enterprise: o.Enterprise || len(o.Workspaces) > 0,
		flavor: cmp.Or(o.Flavor, "traditional_compatible"), token: o.Token,
		plugins: o.Plugins, maxBody: cmp.Or(o.MaxBody, 10<<20), emptyObjects: o.EmptyObjects, extra: o.Extra, now: o.Now,
		pluginTable: plugins(), schemas: map[string]*schema{}, store: newStore(), loaded: declared{hash: zeroHash},
	}
	s.version = parseVersion(s.versionText)
	for _, name := range o.Workspaces {
		if s.workspaces == nil {
			s.workspaces = map[string]*store{}
		}
		s.workspaces[name] = s.store.workspace()
	}
	if s.plugins == nil {
		s.plugins = Bundled()
	}
	if s.now == nil {
		s.now = time.Now
	}
	kinds := schemas(s.version, s.flavor)
	if s.enterprise {
		kinds = enterprise(kinds)
	}
	for _, sc := range kinds {
		if sc.plugin == "" || slices.Contains(s.plugins, sc.plugin) {
			s.order = append(s.order, sc)
			s.schemas[sc.name] = sc
		}
	}
	return s
}

// version of Kong.
type version struct{ major, minor int }

func (v version) atLeast(o version) bool {
	return v.major > o.major || v.major == o.major && v.minor >= o.minor
}

func parseVersion(text string) version {
	parts := strings.SplitN(text, ".", 3)
	major, _ := strconv.Atoi(parts[0]) // a constant of a test
	minor, _ := strconv.Atoi(parts[1])
	return version{major, minor}
}

// Restart is what a crash does: a gateway without a database comes back empty, a database keeps all.
func (s *Simulator) Restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dbless {
		s.store, s.loaded = newStore(), declared{hash: zeroHash}
	}
}

// Call is a request that came.
type Call struct {
	Method, Path, Query string
	Body                string
	// Status is what was answered, 0 for a connection that was cut.
	Status int
}

// Writes tells whether the call was to change something.
func (c Call) Writes() bool {
	return c.Method != http.MethodGet && c.Method != http.MethodHead && c.Method != http.MethodOptions && !strings.HasPrefix(c.Path, "/schemas/")
}

// Calls gives the requests since the last [Simulator.Forget], in order.
func (s *Simulator) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// Writes gives those of [Simulator.Calls] that were to change something.
func (s *Simulator) Writes() []Call {
	return slices.DeleteFunc(s.Calls(), func(c Call) bool { return !c.Writes() })
}

// Forget empties the list of calls.
func (s *Simulator) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = nil
}

// Observe has f called after each request was answered, one at a time; f may call [Simulator.Route]. Nil ends it.
func (s *Simulator) Observe(f func(Call)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.after = f
}

// ServeHTTP is the Admin API.
func (s *Simulator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, s.maxBody+1))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	call := Call{Method: r.Method, Path: r.URL.EscapedPath(), Query: r.URL.RawQuery, Body: string(body)}
	fault := s.faultFor(call)
	if fault.before(w, r) {
		s.note(call, fault.status())
		return
	}
	answer := s.serve(r, body, call, fault)
	if fault.afterwards(w) {
		return
	}
	s.send(w, r, answer)
}

// serve answers and notes the call at once: whoever sees what it changed finds it among the calls.
func (s *Simulator) serve(r *http.Request, body []byte, call Call, fault *Fault) reply {
	var after func(Call)
	answer := func() reply {
		s.mu.Lock()
		defer s.mu.Unlock()
		answer := s.answer(r, body)
		call.Status, after = answer.status, s.after
		if fault != nil {
			call.Status = fault.status()
		}
		s.calls = append(s.calls, call)
		return answer
	}()
	if after != nil {
		after(call)
	}
	return answer
}

func (s *Simulator) note(call Call, status int) {
	call.Status = status
	s.mu.Lock()
	s.calls = append(s.calls, call)
	after := s.after
	s.mu.Unlock()
	if after != nil {
		after(call)
	}
}

// reply is a status and a body: an object or list, text, or nothing.
type reply struct {
	status int
	value  any
	html   string
	header http.Header
}

func failed(f *failure) reply { return reply{status: f.status, value: f.body()} }

func page(status int) reply {
	text := strconv.Itoa(status) + " " + http.StatusText(status)
	return reply{status: status, html: "<html>\n<head><title>" + text + "</title></head>\n<body>\n" +
		"<center><h1>" + text + "</h1></center>\n</body>\n</html>\n"}
}

func (s *Simulator) send(w http.ResponseWriter, r *http.Request, a reply) {
	w.Header().Set("Server", "kong/"+s.versionText)
	w.Header().Set("X-Kong-Admin-Latency", "1")
	for name, values := range a.header {
		w.Header()[name] = values
	}
	switch {
	case a.html != "":
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(a.status)
		_, _ = io.WriteString(w, a.html) // whoever hangs up has seen enough
	case a.value == nil:
		w.WriteHeader(a.status)
	default:
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(a.status)
		if r.Method != http.MethodHead {
			_ = json.NewEncoder(w).Encode(a.value) // as above
		}
	}
}

// answer finds out what is asked and answers it. The lock is held.
func (s *Simulator) answer(r *http.Request, body []byte) reply {
	switch {
	case int64(len(body)) > s.maxBody:
		return page(http.StatusRequestEntityTooLarge)
	case s.token != "" && r.Header.Get("Kong-Admin-Token") == "":
		return reply{status: http.StatusUnauthorized, value: object{"message": "Invalid RBAC credentials. Token or User credentials required"}}
	case s.token != "" && r.Header.Get("Kong-Admin-Token") != s.token:
		return reply{status: http.StatusUnauthorized, value: object{"message": "Invalid RBAC credentials"}}
	}
	q := &request{Simulator: s, method: r.Method, query: r.URL.Query(), header: r.Header, raw: body, segments: segmentsOf(r.URL.EscapedPath())}
	if q.method == http.MethodHead {
		q.method = http.MethodGet
	}
	return q.answer()
}
