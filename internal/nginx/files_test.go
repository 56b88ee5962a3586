// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package nginx

import (
	"strings"
	"testing"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/nginx/conf"
)

// TestNotices checks what is said of settings that this nginx cannot obey, and that its configuration goes without them.
func TestNotices(t *testing.T) {
	settings := model.DefaultSettings()
	settings.Compression.Brotli, settings.GeoIP.On = true, true
	databases := map[string]conf.Database{"GeoLite2-City": {Path: "/cities.mmdb"}}
	for _, c := range []struct {
		name  string
		place conf.Place
		files files
		want  string
	}{
		{"neither module", conf.Place{}, files{databases: databases}, "data[enable-brotli] data[use-geoip2]"},
		{"no database", conf.Place{Brotli: []string{"b.so"}, GeoIP: true}, files{}, "data[use-geoip2]"},
		{"all there", conf.Place{Brotli: []string{"b.so"}, GeoIP: true}, files{databases: databases}, ""},
	} {
		d := &Driver{config: conf.Config{Place: c.place, Settings: settings, Shapes: conf.Shapes{}, Databases: c.files.databases}, files: c.files}
		var fields []string
		for _, p := range d.Notices() {
			fields = append(fields, p.Field)
		}
		if got := strings.Join(fields, " "); got != c.want {
			t.Errorf("%s: notices of %q, want %q", c.name, got, c.want)
		}
		text, _ := d.config.Render()
		if strings.Contains(string(text), "brotli on") != (c.place.Brotli != nil) || !strings.Contains(string(text), "$geoip2_city_country_code") {
			t.Errorf("%s: the configuration is another", c.name)
		}
	}
}
