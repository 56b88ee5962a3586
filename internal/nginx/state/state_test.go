// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fairway-ingress/fairway/internal/model"
)

var settings = model.DefaultSettings()

func id(service string) model.BackendID {
	return model.BackendID{Namespace: "ns", Service: service, Port: "80"}
}

func route(service string, change func(*model.Route)) *model.Route {
	r := &model.Route{Owner: model.Ref{Kind: "Ingress", Namespace: "ns", Name: "web"}, Path: "/p", Backend: id(service), Policy: settings.Route}
	r.Policy.HTTPSRedirect = false
	if change != nil {
		change(r)
	}
	return r
}

func TestEncodeHost(t *testing.T) {
	plain := route("web", nil)
	const identity = `"i":["ns","web","web","80","/p"]`
	const common = `{"b":"ns/web/80","u":"ns-web-80","m":1048576,`
	for name, test := range map[string]struct {
		matches []model.Match
		want    string
	}{
		"none": {nil, `{"r":[]}`},
		"the halves of a prefix share a route": {
			[]model.Match{{Kind: model.Exact, Path: "/p", Route: plain}, {Kind: model.Prefix, Path: "/p/", Route: plain}},
			`{"r":[` + common + identity + `}],"x":{"/p":1},"p":{"/p/":1},"max":3}`,
		},
		"slash": {
			[]model.Match{{Kind: model.Exact, Path: "/p", Route: plain, Slash: true}, {Kind: model.Prefix, Path: "/p/", Route: plain}},
			`{"r":[` + common + identity + `}],"l":{"/p":1},"p":{"/p/":1},"max":3}`,
		},
		"expressions are anchored as a whole": {
			[]model.Match{{Kind: model.Regex, Path: "/a|/b", Route: plain}},
			`{"r":[` + common + identity + `}],"re":[["^(?:/a|/b)",1]]}`,
		},
		"policy": {
			[]model.Match{{Kind: model.Prefix, Path: "/", Route: route("web", func(r *model.Route) {
				r.Policy.Protocol, r.Policy.BodyLimit, r.Policy.Host = model.GRPCS, 5, "h.example"
				r.Policy.Timeouts.Read = 1500 * time.Millisecond
				r.Policy.Rewrite = &model.Rewrite{Pattern: "/(.*)", Target: "/$1"}
				r.Policy.HTTPSRedirect, r.Policy.KeepTrailingSlash, r.Closed = true, true, "because"
			})}},
			`{"r":[{"b":"ns/web/80","u":"ns-web-80","s":"grpcs_5_h_1","m":5,"o":"5 60 1.5 3 -","v":"h.example","w":"/(.*)","t":"/$1","z":1,"q":1,"k":1,` +
				identity + `}],"p":{"/":1},"max":1}`,
		},
		"canary": {
			[]model.Match{{Kind: model.Prefix, Path: "/", Route: route("web", func(r *model.Route) {
				r.Canaries = []model.Canary{{Backend: id("new"), Header: "X", HeaderValue: "v", Cookie: "c", Weight: 1, WeightTotal: 4}}
			})}},
			`{"r":[` + common + `"c":[{"b":"ns/new/80","h":"X","hv":"v","k":"c","w":0.25}],` + identity + `}],"p":{"/":1},"max":1}`,
		},
		"default backend": {
			[]model.Match{{Kind: model.Prefix, Path: "/", Route: route("web", func(r *model.Route) { r.Backend = model.BackendID{} })}},
			`{"r":[{"m":1048576,"i":["ns","web","","","/p"]}],"p":{"/":1},"max":1}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := encodeHost(&model.Host{Name: "h", Matches: test.matches}, settings)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEncodeBackend(t *testing.T) {
	b := &model.Backend{ID: id("web"), Endpoints: []model.Endpoint{
		model.NewEndpoint(netip.MustParseAddrPort("10.0.0.1:80")), {AddrPort: netip.MustParseAddrPort("10.0.0.2:80"), Weight: 5},
		{AddrPort: netip.MustParseAddrPort("[fd00::1]:81"), Weight: 1},
	}}
	if got, want := encodeBackend(b), `{"e":[["10.0.0.1",80],["10.0.0.2",80,5],["[fd00::1]",81]],"n":"ns-web-80"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestBackendKeysAreOneWord(t *testing.T) {
	if got, want := backendKey(model.BackendID{Namespace: "ns", Service: "a\n\tb/c", Port: "http"}), "ns/a%0A%09b%2Fc/http"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestCompareIsDiff walks through random models that share parts, and demands the changes that a comparison of all entries gives.
func TestCompareIsDiff(t *testing.T) {
	random := rand.New(rand.NewSource(3))
	old := &model.Model{Settings: settings}
	var none *model.Model
	held := Entries{}
	held.Apply(Compare(held, none, old))
	for round := range 300 {
		next := &model.Model{Settings: old.Settings}
		switch random.Intn(30) {
		case 0:
			next.Settings.Route.BodyLimit = int64(random.Intn(9)) // another default: every route is written anew
		case 1:
			next.Settings.HTTPSRedirectCode = 300 + random.Intn(9)
		}
		share := func(n int) bool { return n > 0 && random.Intn(10) > 0 }
		for i := range 30 {
			name := fmt.Sprintf("host%02d", i)
			if h := old.Host(name); share(bit(h != nil)) {
				next.Hosts = append(next.Hosts, h)
			} else if random.Intn(2) == 0 {
				path := []string{"/", "/a/", "/b/"}[random.Intn(3)]
				next.Hosts = append(next.Hosts, &model.Host{Name: name, Matches: []model.Match{{Kind: model.Prefix, Path: path, Route: route("web", nil)}}})
			}
			if n := len(next.Hosts); n > 0 && next.Hosts[n-1].Name == name && random.Intn(10) == 0 {
				next.Hosts[n-1] = withNames(random, next.Hosts[n-1], i)
			}
			service := fmt.Sprintf("s\n%02d", i)
			if b := old.Backend(id(service)); share(bit(b != nil)) {
				next.Backends = append(next.Backends, b)
			} else if random.Intn(2) == 0 {
				endpoint := model.NewEndpoint(netip.AddrPortFrom(netip.MustParseAddr("10.0.0.1"), uint16(random.Intn(3))))
				next.Backends = append(next.Backends, &model.Backend{ID: id(service), Endpoints: []model.Endpoint{endpoint}})
			}
			if random.Intn(3) > 0 {
				c := &model.Certificate{ID: model.CertificateID(name)}
				next.Certificates = append(next.Certificates, c)
				server := model.ServerName{Name: name}
				if random.Intn(2) == 0 {
					server.Certificates = []model.CertificateID{c.ID}
				}
				next.ServerNames = append(next.ServerNames, server)
			}
		}
		dropTaken(next)
		changes := Compare(held, old, next)
		if diff := cmp.Diff(Diff(held, Encode(next)), changes); diff != "" {
			t.Fatalf("round %d: %s", round, diff)
		}
		held.Apply(changes)
		old = next
	}
}

// withNames gives a copy of a host with other aliases and patterns, among them names that are hosts before or after.
func withNames(random *rand.Rand, h *model.Host, i int) *model.Host {
	named := *h
	named.Aliases, named.Patterns = nil, nil
	for j := range 2 {
		switch random.Intn(4) {
		case 0:
			named.Aliases = append(named.Aliases, fmt.Sprintf("alias%02d-%d", i, j))
		case 1:
			named.Aliases = append(named.Aliases, fmt.Sprintf("host%02d", random.Intn(30)))
		case 2:
			named.Patterns = append(named.Patterns, fmt.Sprintf("x%d", random.Intn(3)))
		}
	}
	return &named
}

// dropTaken makes aliases unique, and no host's name, as package ingress does.
func dropTaken(m *model.Model) {
	taken := map[string]bool{}
	for _, h := range m.Hosts {
		taken[h.Name] = true
	}
	for i, h := range m.Hosts {
		var kept []string
		for _, alias := range h.Aliases {
			if !taken[alias] {
				taken[alias] = true
				kept = append(kept, alias)
			}
		}
		slices.Sort(kept)
		if !slices.Equal(kept, h.Aliases) {
			named := *h
			named.Aliases = kept
			m.Hosts[i] = &named
		}
	}
}

func BenchmarkCompare(b *testing.B) {
	build := func(turn int, old *model.Model) *model.Model {
		m := &model.Model{Settings: settings}
		for i := range 10000 {
			if old != nil && i > 0 {
				m.Hosts, m.Backends = append(m.Hosts, old.Hosts[i]), append(m.Backends, old.Backends[i])
				continue
			}
			name := fmt.Sprintf("host%05d", i)
			m.Hosts = append(m.Hosts, &model.Host{Name: name, Matches: []model.Match{{Kind: model.Prefix, Path: "/", Route: route(name, nil)}}})
			m.Backends = append(m.Backends, &model.Backend{ID: id(name), Endpoints: []model.Endpoint{model.NewEndpoint(netip.AddrPortFrom(netip.MustParseAddr("10.0.0.1"), uint16(turn)))}})
		}
		return m
	}
	one := build(1, nil)
	two := build(2, one)
	held := Encode(one)
	for b.Loop() {
		if len(Compare(held, one, two)) != 1 {
			b.Fatal("not one change")
		}
	}
}

func TestDiffSetsBeforeAndDeletesAfterWhatRefers(t *testing.T) {
	from := Entries{"h:old": "1", "b:old": "1", "c:old": "1", "s:old": "1", "h:same": "1"}
	to := Entries{"h:new": "1", "b:new": "1", "c:new": "1", "s:new": "1", "h:same": "1"}
	var got []string
	for _, c := range Diff(from, to) {
		got = append(got, fmt.Sprintf("%v %s", c.Delete, c.Key))
	}
	want := []string{"false c:new", "false b:new", "false s:new", "false h:new", "true h:old", "true s:old", "true b:old", "true c:old"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestReplayGivesWhatWasPushed(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	var file bytes.Buffer
	held, generation := Entries{}, uint64(0)
	for range 50 {
		next := Entries{}
		for i := range random.Intn(200) {
			next[fmt.Sprintf("h:host%d", i)] = strings.Repeat("x", random.Intn(9000)) + " +-=.\t"
		}
		for _, p := range Pushes(generation, Diff(held, next)) {
			file.Write(p.Text)
			generation = p.Generation
		}
		held = next
	}
	got, latest, err := Replay(&file)
	if err != nil || latest != generation {
		t.Fatalf("generation %d, want %d: %v", latest, generation, err)
	}
	if diff := cmp.Diff(held, got); diff != "" {
		t.Error(diff)
	}
}

func TestReplayOfATornFile(t *testing.T) {
	whole := "= 1\n+ h:a\t1\n. 1\n"
	got, generation, err := Replay(strings.NewReader(whole + "= 2\n+ h:a\t2\n"))
	if !errors.Is(err, ErrTruncated) || generation != 1 || got["h:a"] != "1" {
		t.Errorf("got %v, generation %d, %v", got, generation, err)
	}
	if _, _, err := Replay(strings.NewReader("nonsense\n")); err == nil {
		t.Error("nonsense was accepted")
	}
}

func FuzzReplay(f *testing.F) {
	f.Add("= 1\n+ h:a\t1\n. 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		entries, _, err := Replay(strings.NewReader(text))
		if err == nil && entries == nil {
			t.Error("neither state nor error")
		}
	})
}

// What a route says of itself is filled in, if it is a name, and nothing else.
func TestFillRoute(t *testing.T) {
	route := &model.Route{
		Owner:   model.Ref{Kind: "Ingress", Namespace: "shop", Name: "cart"},
		Backend: model.BackendID{Namespace: "shop", Service: "web", Port: "8080"},
	}
	for text, want := range map[model.Template]string{
		"inner.example": "inner.example",
		"${service_name}.${namespace}.svc:${service_port}": "web.shop.svc:8080",
		"${ingress_name}.${host}":                          "cart.${host}",
	} {
		if got := fillRoute(text, route); got != want {
			t.Errorf("%s gives %s, want %s", text, got, want)
		}
	}
	route.Backend.Service = "${http_cookie}"
	if got := fillRoute("a.${service_name}", route); got != "a." {
		t.Errorf("the name of a Service becomes a variable: %s", got)
	}
}
