// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package http

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairway-ingress/fairway/internal/nginx/conf"
)

// mostShapes is how many shapes a realistic cluster of 200 Ingresses may need.
const mostShapes = 25

// usual are sets of annotations as they are met in clusters, each with the number of Ingresses out of 200 that have it: most have none or a
// larger body, a longer timeout or a redirect; few have more than two kinds of them. "@" stands for the prefix.
var usual = []struct {
	count       int
	annotations string
}{
	{58, ``},
	{18, `@ssl-redirect: "true"`},
	{6, `@force-ssl-redirect: "true"`},
	{8, `@proxy-body-size: 8m`},
	{8, `@proxy-body-size: 50m`},
	{6, `@proxy-body-size: 100m, @proxy-read-timeout: "600", @proxy-send-timeout: "600"`},
	{5, `@proxy-body-size: "0", @proxy-read-timeout: "3600"`},
	{8, `@proxy-read-timeout: "3600", @proxy-send-timeout: "3600"`},
	{6, `@proxy-connect-timeout: "30"`},
	{12, `@rewrite-target: /$2`},
	{5, `@use-regex: "true"`},
	{5, `@backend-protocol: HTTPS`},
	{4, `@backend-protocol: GRPC`},
	{1, `@backend-protocol: GRPCS`},
	{7, `@enable-cors: "true", @cors-allow-origin: "https://app.example, https://*.example"`},
	{2, `@enable-cors: "true", @proxy-body-size: 50m`},
	{6, `@auth-url: "http://192.0.2.1/verify", @auth-signin: "https://$host/start", @auth-response-headers: X-User`},
	{4, `@auth-type: basic, @auth-secret: users, @auth-realm: staff`},
	{5, `@whitelist-source-range: "10.0.0.0/8, 192.168.0.0/16"`},
	{4, `@affinity: cookie, @session-cookie-name: route, @session-cookie-max-age: "3600"`},
	{2, `@upstream-hash-by: "$remote_addr"`},
	{3, `@limit-rps: "20", @limit-burst-multiplier: "3"`},
	{1, `@limit-connections: "10"`},
	{2, `@proxy-buffer-size: 16k`},
	{1, `@proxy-buffering: "on", @proxy-buffers-number: "8"`},
	{1, `@proxy-request-buffering: "off", @proxy-body-size: "0"`},
	{3, `@permanent-redirect: "https://new.example/"`},
	{1, `@from-to-www-redirect: "true"`},
	{2, `@app-root: /app`},
	{1, `@custom-http-errors: "404,503"`},
	{1, `@upstream-vhost: inner.example`},
	{1, `@server-alias: "other.example"`},
	{1, `@auth-tls-secret: default/clients`},
	{1, `@enable-access-log: "false"`},
	{1, `@load-balance: ewma`},
}

// TestShapesOfACluster counts the shapes, and applies the whole to nginx: it is one reload at most, and none when all of it is there.
func TestShapesOfACluster(t *testing.T) {
	var cluster strings.Builder
	total := 0
	for i, set := range usual {
		for n := range set.count {
			annotations := strings.ReplaceAll(set.annotations, "@", prefix)
			cluster.WriteString(rule(fmt.Sprintf("i%d-%d", i, n), fmt.Sprintf("i%d-%d.example", i, n), "/", "web", annotations))
			total++
		}
	}
	cluster.WriteString("---\napiVersion: v1\nkind: Secret\nmetadata: {name: users}\ndata: {auth: dTp7UExBSU59cAo=}\n")
	if total != 200 {
		t.Fatalf("%d Ingresses, not 200", total)
	}
	m := shared.build(t, cluster.String(), "")
	shapes := conf.Needed(m.Hosts, &m.Settings)
	for _, shape := range shapes.Sorted() {
		t.Log(shape.Name())
	}
	if len(shapes) > mostShapes {
		t.Errorf("%d shapes, more than %d", len(shapes), mostShapes)
	}
	shared.applyModel(t, m)
	again := shared.build(t, cluster.String(), "")
	if change := shared.applyModel(t, again); change.Reload {
		t.Errorf("the same again reloads: %v", change.Reasons)
	}
}
