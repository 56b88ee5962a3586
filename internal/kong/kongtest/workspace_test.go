// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kongtest

import "testing"

func TestK22Workspaces(t *testing.T) {
	g := simulated(t, Options{Workspaces: []string{"edge"}})
	g.want(404, get, "/late/services", nil)
	g.want(404, get, "/workspaces/late", nil)
	g.want(201, post, "/workspaces", object{"name": "late"})
	g.refused(409, 5, post, "/workspaces", object{"name": "late"})
	g.want(200, get, "/late/services", nil)
	if o := g.want(200, get, "/workspaces/default", nil); o["id"] != "0dc6f45b-8f8d-40d2-a504-473544ee190b" {
		t.Errorf("the default workspace is %v", o)
	}
	if o := g.want(200, get, "/edge/kong", nil); o["version"] == nil {
		t.Errorf("/edge/kong: %v", o)
	}
	g.want(404, get, "/edge", nil)

	// Entities, and names, of one are not there in another.
	inEdge := g.want(201, post, "/edge/services", object{"name": "a", "host": "a.example"})
	g.want(404, get, "/services/a", nil)
	g.want(404, get, "/late/services/"+inEdge["id"].(string), nil)
	g.want(200, get, "/edge/services/a", nil)
	inDefault := g.want(201, post, "/services", object{"name": "a", "host": "a.example"})
	g.refused(400, 4, post, "/edge/routes", object{"paths": []any{"/"}, "service": ref(inDefault)})
	if all := g.sim.EntitiesIn("edge", "services"); len(all) != 1 || len(g.sim.Entities("services")) != 1 {
		t.Errorf("services of edge: %v", all)
	}

	// Server names are unique across, CA certificates in none.
	cert, key := pair(t, "a.example", false)
	g.want(201, post, "/edge/certificates", object{"cert": cert, "key": key, "snis": []any{"a.example"}})
	g.refused(400, 2, post, "/certificates", object{"cert": cert, "key": key, "snis": []any{"a.example"}}, "snis")
	other := g.want(201, post, "/certificates", object{"cert": cert, "key": key})
	g.refused(409, 5, post, "/snis", object{"name": "a.example", "certificate": ref(other)})
	authority, _ := pair(t, "authority", true)
	ca := g.want(201, post, "/ca_certificates", object{"cert": authority})
	g.want(404, get, "/edge/ca_certificates", nil)
	secure := object{"name": "s", "host": "a.example", "protocol": "https", "ca_certificates": []any{ca["id"]}}
	g.want(201, post, "/edge/services", secure)
	g.refused(400, 19, del, "/ca_certificates/"+ca["id"].(string), nil)
	g.want(204, del, "/edge/services/s", nil)
	g.want(204, del, "/ca_certificates/"+ca["id"].(string), nil)

	plain := simulated(t, Options{})
	plain.want(404, get, "/default/services", nil)
	plain.want(404, get, "/workspaces", nil)
}
