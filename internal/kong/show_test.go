// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kong

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/kong/kongtest"
	"github.com/fairway-ingress/fairway/internal/model"
)

// diff gives the lines of a comparison, without the gateway's URL.
func (b *bench) diff() []string {
	b.Helper()
	shown, err := b.driver.Diff(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	var out bytes.Buffer
	shown.Print(&out)
	if strings.Contains(out.String(), "SESAME") || bytes.Contains(shown.JSON(), []byte("SESAME")) {
		b.Errorf("secrets are shown: %s", out.String())
	}
	if !json.Valid(shown.JSON()) {
		b.Errorf("no JSON: %s", shown.JSON())
	}
	return strings.Split(strings.TrimSpace(strings.ReplaceAll(out.String(), b.endpoints[0].URL+": ", "")), "\n")
}

func (b *bench) wantDiff(when string, lines ...string) {
	b.Helper()
	got := b.diff()
	same := slices.EqualFunc(got, lines, func(got, want string) bool {
		return got == want || strings.HasSuffix(want, "…") && strings.HasPrefix(got, want[:len(want)-3])
	})
	if !same {
		b.Errorf("%s the diff is\n%s\nwant\n%s", when, strings.Join(got, "\n"), strings.Join(lines, "\n"))
	}
}

// TestDiff compares entity by entity in both modes.
func TestDiff(t *testing.T) {
	for name, options := range map[string]kongtest.Options{"database": withDatabase, "DB-less": dbless} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil, options)
			key := &entity.KeyAuth{
				Meta: metaOf(entity.KeyAuths, "ann", "ann"), Key: model.NewSecret("SESAME"),
				Consumer: &entity.Reference{ID: entity.NewID(entity.Consumers, "ann")},
			}
			ann := []entity.Entity{&entity.Consumer{Meta: metaOf(entity.Consumers, "ann", "ann"), Username: "ann"}, key}
			b.want(app("web", "10.0.0.1:80"), limit("web", 5), ann)
			b.apply()
			b.wantDiff("after a round", "nothing would change")
			other := app("web", "10.0.0.2:80")
			other[2].(*entity.Route).Paths = []string{"/v2"}
			rotated := *key
			rotated.Key = model.NewSecret("OPEN SESAME")
			b.want(other, limit("web", 6), []entity.Entity{ann[0], &rotated})
			b.wantDiff("after a change of objects", "update keyauth_credential "+rotated.ID+": key",
				"update plugin "+limit("web", 0)[0].Common().ID+": config.minute",
				`update route shop.web: paths ["/"] -> ["/v2"]`, "delete target 10.0.0.1:80", "create target 10.0.0.2:80")
			b.want(app("web", "10.0.0.1:80"), limit("web", "many"), ann)
			b.apply()
			b.wantDiff("with a broken plugin", "update plugin "+limit("web", 0)[0].Common().ID+": config.minute; refused: …")
			b.want(app("web", "10.0.0.1:80"), limit("web", 5), ann)
			b.apply()
			b.tamper(options)
			b.wantDiff("after a change by hand", `update route shop.web: hosts ["evil.example"] -> ["web.example"]`)
		})
	}
}

// tamper gives the one route another host, as somebody else would.
func (b *bench) tamper(options kongtest.Options) {
	b.Helper()
	if !options.DBLess {
		b.send(0, "PATCH", "/routes/"+entity.NewID(entity.Routes, "web"), `{"hosts":["evil.example"]}`)
		return
	}
	text := string(b.driver.ready()[0].took.text)
	body, err := json.Marshal(map[string]string{"config": strings.ReplaceAll(text, "web.example", "evil.example")})
	if err != nil {
		b.Fatal(err)
	}
	b.send(0, "POST", "/config", string(body))
}

func TestDiffOfAnEmptyGateway(t *testing.T) {
	b := newBench(t, nil, dbless)
	b.want(app("web"))
	b.apply()
	b.simulators[0].Restart()
	b.wantDiff("of a gateway that restarted", "create route shop.web", "create service shop.web.80", "create upstream web.shop.80.svc")
}

// TestDump gives what --dump-config shows, in both modes.
func TestDump(t *testing.T) {
	for name, options := range map[string]kongtest.Options{"database": withDatabase, "DB-less": dbless} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(o *Options) { o.KeepFailed = true }, options)
			dump := func(what Dump, secrets bool) string {
				t.Helper()
				text, err := b.driver.Dump("", what, secrets)
				if err != nil {
					t.Fatal(err)
				}
				return string(text)
			}
			if _, err := b.driver.Dump("", Failed, false); err == nil {
				t.Error("there is something that failed")
			}
			if _, err := b.driver.Dump("http://nowhere", Successful, false); err == nil {
				t.Error("an unknown gateway has a configuration")
			}
			secret := plugin("web", "key-auth", map[string]any{"anonymous": model.NewSecret("SESAME")})
			b.want(app("web", "10.0.0.1:80"), secret)
			b.apply()
			if text := dump(Successful, false); !strings.Contains(text, "shop.web.80") || strings.Contains(text, "SESAME") || !json.Valid([]byte(text)) {
				t.Errorf("successful: %s", text)
			}
			if text := dump(Successful, true); !strings.Contains(text, "SESAME") {
				t.Errorf("successful, with secrets: %s", text)
			}
			if text := dump(Fallback, false); !strings.Contains(text, `"not-triggered"`) {
				t.Errorf("fallback: %s", text)
			}
			b.want(app("web", "10.0.0.1:80"), secret, limit("web", "many"))
			b.apply()
			if text := dump(Failed, false); !strings.Contains(text, "many") || !json.Valid([]byte(text)) {
				t.Errorf("failed: %s", text)
			}
			if text := dump(RawError, false); !strings.Contains(text, "minute") {
				t.Errorf("error: %s", text)
			}
			if text := dump(Fallback, false); options.DBLess && !strings.Contains(text, `"excludedObjects":[{"kind":"Ingress","namespace":"shop","name":"web","entity":"plugin `) {
				t.Errorf("fallback: %s", text)
			}
		})
	}
}
