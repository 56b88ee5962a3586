// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"regexp"
	"strings"
	"testing"

	"github.com/fairway-ingress/fairway/internal/model"
)

func config(shapes ...Shape) Config {
	settings := model.DefaultSettings()
	c := Config{
		Place:    Place{Dir: "/run/fairway", ModulesDir: "/usr/lib/nginx/modules", HTTPPort: 80, HTTPSPort: 443, HTTP2OnPort: true, HealthPath: "/healthz"},
		Settings: settings, Shapes: Shapes{DefaultShape(settings): {}}, ZoneBytes: 1 << 20,
	}
	for _, s := range shapes {
		c.Shapes[s] = Parts{}
	}
	return c
}

func TestRenderIsAFunctionOfShapes(t *testing.T) {
	a, b := Shape{Protocol: model.HTTPS, BodyLimit: 5}, Shape{Protocol: model.GRPC, BodyLimit: 7, OwnHost: 1}
	one, hash := config(a, b).Render()
	two, again := config(b, a).Render()
	if string(one) != string(two) || hash != again {
		t.Error("the order in which shapes were met shows")
	}
	if _, other := config(a).Render(); other == hash {
		t.Error("another set of shapes has the same hash")
	}
}

func TestEveryShapeHasALocationInBothServers(t *testing.T) {
	text, _ := config(Shape{Protocol: model.GRPCS, BodyLimit: 7, OwnHost: 1}).Render()
	if n := strings.Count(string(text), "location @grpcs_7_h_1 {"); n != 2 {
		t.Errorf("%d locations", n)
	}
	if !strings.Contains(string(text), "grpc_pass grpcs://fairway_grpcs;") {
		t.Error("no grpc_pass")
	}
}

// nginx reads Lua in pieces that end at quotes and braces and refuses one of 4096 bytes, so a list of many shapes must have such.
func TestManyShapes(t *testing.T) {
	var shapes []Shape
	for i := range int64(1000) {
		shapes = append(shapes, Shape{BodyLimit: i, BufferSize: i + 1, Errors: "404x503"})
	}
	text, _ := config(shapes...).Render()
	block := string(text)[strings.Index(string(text), "init_by_lua_block"):strings.Index(string(text), "init_worker_by_lua_block")]
	for _, piece := range regexp.MustCompile(`["'{}]`).Split(block, -1) {
		if len(piece) > 2048 {
			t.Fatalf("%d bytes without an end: %.100s", len(piece), piece)
		}
	}
}

func TestEntryLimitIsTheLargest(t *testing.T) {
	for want, shapes := range map[int64][]Shape{
		1 << 20: nil,
		5 << 20: {{BodyLimit: 5 << 20}, {BodyLimit: 9}},
		0:       {{BodyLimit: 5 << 20}, {BodyLimit: 0}},
	} {
		if got := config(shapes...).Shapes.BodyLimit(); got != want {
			t.Errorf("%v: got %d, want %d", shapes, got, want)
		}
	}
}

// TestErrorsOfOtherProtocols checks that only statuses of HTTP backends are replaced, and that a fallback is asked over HTTP and replaced by nobody.
func TestErrorsOfOtherProtocols(t *testing.T) {
	settings := model.DefaultSettings()
	r := &model.Route{Policy: settings.Route}
	r.Policy.Errors = &model.Errors{Codes: []int{404, 503}, Intercept: true}
	r.Policy.Fallback = model.BackendID{Namespace: "a", Service: "b", Port: "80"}
	for protocol, want := range map[model.Protocol]string{
		model.HTTP: "http_1048576_ei_1_e_404x503", model.HTTPS: "https_1048576_ei_1_e_404x503",
		model.GRPC: "grpc_1048576_e_404x503", model.GRPCS: "grpcs_1048576_e_404x503", model.FCGI: "fcgi_1048576_e_404x503",
	} {
		r.Policy.Protocol = protocol
		if plain, _ := ShapesOf(&model.Host{}, r, &settings); plain.Name() != want {
			t.Errorf("got %s, want %s", plain.Name(), want)
		}
		if got, want := FallbackShape(&model.Host{}, r, &settings), DefaultShape(settings); got != want {
			t.Errorf("the fallback of %s has the shape %s", protocol, got.Name())
		}
	}
}

func TestEntryReplaces413(t *testing.T) {
	c := config(Shape{BodyLimit: 5, Errors: "413"})
	text, _ := c.Render()
	entry := string(text[strings.Index(string(text), "location / {"):strings.Index(string(text), "location @default {")])
	if !strings.Contains(entry, "error_page 413 = @error_413;") || strings.Contains(entry, "intercept") {
		t.Errorf("entry location: %s", entry)
	}
	c.Settings.Route.Errors = &model.Errors{Codes: []int{404, 413}, Intercept: true}
	c.Shapes = Shapes{DefaultShape(c.Settings): {}}
	text, _ = c.Render()
	entry = string(text[strings.Index(string(text), "location / {"):strings.Index(string(text), "location @default {")])
	if strings.Count(entry, "error_page 413") != 1 || !strings.Contains(entry, "proxy_intercept_errors on;") {
		t.Errorf("entry location: %s", entry)
	}
}

func TestShapeNamesAreWordsAndUnique(t *testing.T) {
	word := regexp.MustCompile(`^[a-z0-9_]+$`)
	seen := map[string]Shape{}
	for _, p := range protocols {
		for _, limit := range []int64{0, 1, 1 << 40} {
			for i := range len((&Shape{}).numbers()) + len((&Shape{}).words()) {
				s := Shape{Protocol: p, BodyLimit: limit}
				if numbers := s.numbers(); i < len(numbers) {
					*numbers[i].value = int64(i + 1)
				} else {
					*s.words()[i-len(numbers)].value = "404x503"
				}
				if other, taken := seen[s.Name()]; taken || !word.MatchString(s.Name()) {
					t.Errorf("%v and %v are named %q", s, other, s.Name())
				}
				seen[s.Name()] = s
				if parsed, ok := ParseShape(s.Name()); !ok || parsed != s {
					t.Errorf("%v comes back as %v", s, parsed)
				}
			}
		}
	}
}

func TestParseShapeRefusesWhatIsNone(t *testing.T) {
	for _, name := range []string{"", "http", "http_", "http_-1", "http_x", "ftp_1", "default", "http_1_h", "http_1_zz_1", "http_1_h_x", "http_1_h_1_h_1"} {
		if s, ok := ParseShape(name); ok {
			t.Errorf("%q is taken for %v", name, s)
		}
	}
}

func TestQuoting(t *testing.T) {
	if got := quote(`a'b\c`); got != `'a\'b\\c'` {
		t.Errorf("quote: %s", got)
	}
	if got := luaQuote("/run/a\"]]}\n"); strings.ContainsAny(got[1:len(got)-1], "\"]}\n") {
		t.Errorf("luaQuote: %s", got)
	}
}
