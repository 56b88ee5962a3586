// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"maps"
	"slices"
	"strings"
)

// Database is a file of an edition of MaxMind's databases.
type Database struct {
	Path string
	// Version differs between two contents of the file.
	Version string
}

// geoVariable is a variable with the place of its value in a database.
type geoVariable struct{ Name, Field string }

type geoDatabase struct {
	Database
	Variables []geoVariable
}

// geo is what the template needs: the databases to read, the variables that have none, and the minutes between two looks at the files.
type geo struct {
	Databases []geoDatabase
	Missing   []string
	Reload    int
}

// GeoEditions gives the editions that are understood.
func GeoEditions() []string {
	return []string{
		"GeoIP2-Anonymous-IP", "GeoIP2-City", "GeoIP2-Connection-Type", "GeoIP2-Country", "GeoIP2-ISP", "GeoLite2-ASN", "GeoLite2-City", "GeoLite2-Country",
	}
}

// geoVariables gives the variables of an edition. The paid and the free one of a kind have the same.
func geoVariables(edition string) []geoVariable {
	_, kind, _ := strings.Cut(edition, "-")
	switch kind {
	case "City":
		return []geoVariable{
			{"geoip2_city", "city names en"},
			{"geoip2_city_continent_code", "continent code"},
			{"geoip2_city_continent_name", "continent names en"},
			{"geoip2_city_country_code", "country iso_code"},
			{"geoip2_city_country_name", "country names en"},
			{"geoip2_city_geoname_id", "city geoname_id"},
			{"geoip2_dma_code", "location metro_code"},
			{"geoip2_latitude", "location latitude"},
			{"geoip2_longitude", "location longitude"},
			{"geoip2_postal_code", "postal code"},
			{"geoip2_region_code", "subdivisions 0 iso_code"},
			{"geoip2_region_geoname_id", "subdivisions 0 geoname_id"},
			{"geoip2_region_name", "subdivisions 0 names en"},
			{"geoip2_subregion_code", "subdivisions 1 iso_code"},
			{"geoip2_subregion_geoname_id", "subdivisions 1 geoname_id"},
			{"geoip2_subregion_name", "subdivisions 1 names en"},
			{"geoip2_time_zone", "location time_zone"},
		}
	case "Country":
		return []geoVariable{
			{"geoip2_continent_code", "continent code"},
			{"geoip2_continent_name", "continent names en"},
			{"geoip2_country_code", "country iso_code"},
			{"geoip2_country_geoname_id", "country geoname_id"},
			{"geoip2_country_name", "country names en"},
		}
	case "ASN":
		return []geoVariable{{"geoip2_asn", "autonomous_system_number"}, {"geoip2_org", "autonomous_system_organization"}}
	case "ISP":
		return []geoVariable{{"geoip2_isp", "isp"}, {"geoip2_isp_org", "organization"}, {"geoip2_asn", "autonomous_system_number"}}
	case "Connection-Type":
		return []geoVariable{{"geoip2_connection_type", "connection_type"}}
	case "Anonymous-IP":
		return []geoVariable{
			{"geoip2_is_anon", "is_anonymous"}, {"geoip2_is_anonymous", "is_anonymous"}, {"geoip2_is_hosting_provider", "is_hosting_provider"},
			{"geoip2_is_public_proxy", "is_public_proxy"}, {"geoip2_is_tor_exit_node", "is_tor_exit_node"}, {"geoip2_is_anonymous_vpn", "is_anonymous_vpn"},
		}
	}
	return nil
}

// geoIP shares the variables out. A variable that two databases have is that of the first, the paid one.
func (c Config) geoIP() geo {
	g := geo{Reload: int(c.Settings.GeoIP.Reload.Minutes())}
	if !c.Settings.GeoIP.On {
		return g
	}
	defined, known := map[string]bool{}, map[string]bool{}
	for _, edition := range GeoEditions() {
		d, found := c.Databases[edition]
		db := geoDatabase{Database: d}
		if g.Reload > 0 {
			db.Version = "workers look for another one by themselves"
		}
		for _, v := range geoVariables(edition) {
			known[v.Name] = true
			if found && c.Place.GeoIP && !defined[v.Name] {
				defined[v.Name] = true
				db.Variables = append(db.Variables, v)
			}
		}
		if db.Variables != nil {
			g.Databases = append(g.Databases, db)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if !defined[name] {
			g.Missing = append(g.Missing, name)
		}
	}
	return g
}
