// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand"
	"net/netip"
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
			`{"r":[{"b":"ns/web/80","u":"ns-web-80","s":"grpcs_5_host","m":5,"o":"5 60 1.5","v":"h.example","w":"/(.*)","t":"/$1","z":1,"q":1,"k":1,` +
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

func TestEncodeBackendBracketsIPv6(t *testing.T) {
	b := &model.Backend{ID: id("web"), Endpoints: []model.Endpoint{netip.MustParseAddrPort("10.0.0.1:80"), netip.MustParseAddrPort("[fd00::1]:81")}}
	if got, want := encodeBackend(b), `{"e":[["10.0.0.1",80],["[fd00::1]",81]],"n":"ns-web-80"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestBackendKeysAreOneWord(t *testing.T) {
	if got, want := backendKey(model.BackendID{Namespace: "ns", Service: "a\n\tb/c", Port: "http"}), "ns/a%0A%09b%2Fc/http"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestEncodeRemembersByPointer(t *testing.T) {
	m := &model.Model{Settings: settings, Hosts: []*model.Host{{Name: "a"}}, Backends: []*model.Backend{{ID: id("web")}}}
	e := NewEncoder()
	first := e.Encode(m)
	if diff := cmp.Diff(first, e.Encode(m)); diff != "" {
		t.Error(diff)
	}
	changed := *m
	changed.Settings.Route.BodyLimit = 7 // another default shape: every route is written anew
	changed.Hosts = []*model.Host{{Name: "a", Matches: []model.Match{{Kind: model.Prefix, Path: "/", Route: route("web", nil)}}}}
	if diff := cmp.Diff(NewEncoder().Encode(&changed), e.Encode(&changed)); diff != "" {
		t.Error(diff)
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
