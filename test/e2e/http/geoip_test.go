// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package http

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/maxmind/mmdbwriter"
	"github.com/maxmind/mmdbwriter/mmdbtype"

	"github.com/fairway-ingress/fairway/internal/nginx/conf"
)

// writeCities makes a database of cities in which this machine is in a country.
func writeCities(t testing.TB, path, country string) {
	t.Helper()
	tree, err := mmdbwriter.New(mmdbwriter.Options{DatabaseType: "GeoLite2-City", IncludeReservedNetworks: true})
	if err != nil {
		t.Fatal(err)
	}
	_, network, _ := net.ParseCIDR("127.0.0.0/8")
	if err := tree.Insert(network, mmdbtype.Map{"country": mmdbtype.Map{"iso_code": mmdbtype.String(country)}}); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path + ".new")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := tree.WriteTo(f); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

const geoSettings = "use-geoip2: \"true\"\nlog-format-upstream: \"country=$geoip2_city_country_code asn=[$geoip2_asn]\"\n"

// country gives the country in the log line of a request.
func country(t *testing.T) string {
	t.Helper()
	offset := len(shared.access.String())
	r, err := newRequest("GET", "http://h.example/")
	if err == nil {
		_, err = r.send(shared)
	}
	if err != nil {
		t.Fatal(err)
	}
	line := awaitLog(offset, "country=")
	return strings.TrimSpace(line)
}

// TestGeoIP follows a database that is missing, comes, changes and goes.
func TestGeoIP(t *testing.T) {
	path := filepath.Join(t.TempDir(), "GeoLite2-City.mmdb")
	cluster := rule("web", "h.example", "/", "web", "")
	shared.inForce = nil
	shared.driver.UseDatabases(nil)
	defer shared.driver.UseDatabases(nil)
	shared.apply(t, cluster, "")
	steps := []struct {
		name, written, version, want, reasons string
		settings                              string
	}{
		{"missing", "", "", "country= asn=[]", "Settings", geoSettings},
		{"there", "DE", "1", "country=DE asn=[-]", "Database", geoSettings},
		{"changed", "FR", "2", "country=FR asn=[-]", "Database", geoSettings},
		{"the same", "FR", "2", "country=FR asn=[-]", "", geoSettings},
		{"workers look themselves", "FR", "2", "country=FR asn=[-]", "Settings", geoSettings + "geoip2-autoreload-in-minutes: \"1\"\n"},
		{"changed, workers look themselves", "FR", "3", "country=FR asn=[-]", "", geoSettings + "geoip2-autoreload-in-minutes: \"1\"\n"},
		{"gone", "", "", "country= asn=[]", "Database,Settings", geoSettings},
	}
	for _, s := range steps {
		if s.written == "" {
			shared.driver.UseDatabases(nil)
		} else {
			writeCities(t, path, s.written)
			shared.driver.UseDatabases(map[string]conf.Database{"GeoLite2-City": {Path: path, Version: s.version}})
		}
		change := shared.apply(t, cluster, s.settings)
		if got := strings.Join(change.Reasons, ","); got != s.reasons {
			t.Errorf("%s: reload because of %q, want %q", s.name, got, s.reasons)
		}
		if got := country(t); !strings.HasPrefix(got, strings.ReplaceAll(s.want, "asn=[-]", "asn=[")) {
			t.Errorf("%s: log line %q, want %q", s.name, got, s.want)
		}
	}
}
