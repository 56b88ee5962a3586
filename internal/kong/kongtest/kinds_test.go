// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kongtest

import "testing"

func TestK13Certificates(t *testing.T) {
	g := withDatabase(t)
	cert, key := pair(t, "a.example", false)
	_, otherKey := pair(t, "b.example", false)
	g.refused(400, 2, post, "/certificates", object{"cert": cert, "key": otherKey}, "@entity")
	name := g.unique + ".example"
	c := g.create("/certificates", object{"cert": cert, "key": key, "snis": []any{name}})
	path := "/certificates/" + c["id"].(string)
	snis := func() int { return len(list0(g.want(200, get, path, nil)["snis"])) }
	g.want(200, patch, path, object{"tags": []any{"x"}})
	if n := snis(); n != 1 {
		t.Errorf("after PATCH the certificate has %d SNIs, want 1", n)
	}
	if found := g.want(200, get, "/certificates/"+name, nil); found["id"] != c["id"] {
		t.Errorf("by the SNI %v is found", found["id"])
	}
	other := g.create("/certificates", object{"cert": cert, "key": key})
	g.refused(400, 2, patch, "/certificates/"+other["id"].(string), object{"snis": []any{name}}, "snis")
	g.want(200, put, path, object{"cert": cert, "key": key})
	if n := snis(); n != 0 {
		t.Errorf("after PUT the certificate has %d SNIs, want 0", n)
	}
}

func TestK14WriteOnly(t *testing.T) {
	g := withDatabase(t)
	c := g.create("/consumers", object{"username": g.name("c")})
	below := "/consumers/" + c["id"].(string)
	b := g.want(201, post, below+"/basic-auth", object{"username": g.name("u"), "password": "open sesame"})
	hash, _ := b["password"].(string)
	if hash == "open sesame" || hash != hashed("open sesame", c["id"].(string)) {
		t.Errorf("password is shown as %q", hash)
	}
	path := "/basic-auths/" + b["id"].(string)
	if kept := g.want(200, patch, path, object{"tags": []any{"x"}}); kept["password"] != hash {
		t.Errorf("PATCH without the password changes it to %v", kept["password"])
	}
	if again := g.want(200, patch, path, object{"password": hash}); again["password"] == hash {
		t.Error("a written hash is not hashed again")
	}
	k := g.want(201, post, below+"/key-auth", object{})
	j := g.want(201, post, below+"/jwt", object{})
	if k["key"] == nil || j["key"] == nil || j["secret"] == nil {
		t.Errorf("nothing is made up: %v %v", k, j)
	}
	g.refused(400, 2, post, below+"/jwt", object{"algorithm": "RS256"}, "rsa_public_key")
	g.refused(400, 2, post, below+"/oauth2", object{"name": "a", "redirect_uris": []any{"https://a.example/#b"}}, "redirect_uris")
}

func TestK15Targets(t *testing.T) {
	g := withDatabase(t)
	u := g.create("/upstreams", object{"name": g.name("u")})
	targets := "/upstreams/" + u["id"].(string) + "/targets"
	for sent, want := range map[string]string{
		"10.0.0.1": "10.0.0.1:8000", "a.example:81": "a.example:81", "[::1]:80": "[0000:0000:0000:0000:0000:0000:0000:0001]:80",
	} {
		if got := g.want(201, post, targets, object{"target": sent}); got["target"] != want {
			t.Errorf("target %q is stored as %v, want %q", sent, got["target"], want)
		}
	}
	g.refused(400, 2, post, targets, object{"target": "a b"}, "target")
	g.refused(400, 2, post, targets, object{"target": "a:70000"}, "target")
	g.refused(400, 2, post, targets, object{"target": "a:1", "weight": 70000}, "weight")
	g.want(200, get, targets+"/a.example:81", nil)
	g.want(200, patch, targets+"/a.example:81", object{"weight": 0})
}

func TestK15OldTargets(t *testing.T) {
	g := simulated(t, Options{Version: "2.8.5"})
	u := g.create("/upstreams", object{"name": "u"})
	targets := "/upstreams/" + u["id"].(string) + "/targets"
	first := g.want(201, post, targets, object{"target": "10.0.0.1:80"})
	if again := g.want(200, post, targets, object{"target": "10.0.0.1:80", "weight": 1}); again["id"] != first["id"] {
		t.Errorf("a known target is answered with %v", again)
	}
}

func TestK16Paths(t *testing.T) {
	g := withDatabase(t)
	for path, taken := range map[string]bool{
		"/a": true, "/a/": true, "/a%20b": true, "~/a(b)?$": true, "/ümlaut": true, "~/v1\\.0": true,
		"a": false, "//a": false, "/a//b": false, "/a/../b": false, "/%61": false, "~a": false, "~/a(": false, "~/a//b": false, "/a b": false,
	} {
		body := object{"paths": []any{path}, "name": g.unique}
		a := g.do(post, "/schemas/routes/validate", body)
		if (a.status == 200) != taken {
			t.Errorf("path %q: status %d, want it taken: %v: %s", path, a.status, taken, a.text)
		}
	}
}

func TestK16Engines(t *testing.T) {
	lookAround := object{"paths": []any{"~/a(?=b)"}}
	simulated(t, Options{}).refused(400, 2, post, "/schemas/routes/validate", lookAround, "paths")
	simulated(t, Options{Flavor: "traditional"}).want(200, post, "/schemas/routes/validate", lookAround)
	simulated(t, Options{Version: "2.8.5"}).want(200, post, "/schemas/routes/validate", object{"paths": []any{"/a(b)"}})
	simulated(t, Options{Version: "2.8.5"}).refused(400, 2, post, "/schemas/routes/validate", object{"paths": []any{"~/a"}}, "paths")
}

func TestK17Plugins(t *testing.T) {
	g := withDatabase(t)
	g.refused(400, 2, post, "/plugins", object{"name": "no-such-plugin"}, "name")
	g.refused(400, 2, post, "/plugins", object{"name": "key-auth", "config": object{"bogus": 1}}, "config.bogus")
	g.refused(400, 2, post, "/plugins", object{"name": "rate-limiting", "config": object{}}, "config")
	c := g.create("/consumers", object{"username": g.name("c")})
	g.refused(400, 2, post, "/plugins", object{"name": "key-auth", "consumer": ref(c)}, "consumer")
	s := g.service("s")
	r := g.create("/routes", object{"paths": []any{"/" + g.unique}, "service": ref(s)})
	g.refused(400, 2, post, "/plugins", object{"name": "cors", "route": ref(r), "protocols": []any{"grpc"}}, "protocols")
	p := g.create("/plugins", object{"name": "cors", "route": ref(r)})
	if at(p, "config.preflight_continue") != false || len(list0(p["protocols"])) != 4 {
		t.Errorf("defaults of a plugin: %v", p)
	}
	g.want(200, post, "/schemas/plugins/validate", object{"name": "rate-limiting", "config": object{"minute": 5}})
}

func TestK17Shorthands(t *testing.T) {
	g := simulated(t, Options{})
	p := g.create("/plugins", object{"name": "rate-limiting", "config": object{"minute": 5, "redis_host": "r.example"}})
	if at(p, "config.redis.host") != "r.example" || at(p, "config.redis_host") != "r.example" {
		t.Errorf("a shorthand is echoed beside what it stands for: %v", p["config"])
	}
}
