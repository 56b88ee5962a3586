// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

import "time"

var geoip = Group{
	Name: "geoip", Doc: "Variables about where clients are, from the databases of MaxMind.",
	Keys: []Key{
		Parsed("geoip2-autoreload-in-minutes", "number", Spec{
			Default: "0", Example: "60", Reload: true, With: "use-geoip2",
			Differs: "With 0 the controller watches the files; there they were read once.",
			Doc:     "How often workers look for other databases by themselves. With 0 the controller watches the files, and nginx is reloaded when one changes.",
		}, within(0, 1<<20), func(d *draft, v int) { d.GeoIP.Reload = time.Duration(v) * time.Minute }),

		Bool("use-geoip2", Spec{
			Default: "false", Example: "true", Reload: true,
			Differs: "Variables without a database are empty; there nginx refused log lines with them.",
			Doc: "Reads the databases that --maxmind-edition-ids names and sets $geoip2_city_country_code and its kin, for log lines and raw configuration. The variables " +
				"are empty where a database or the module is missing, which a Problem says.",
		}, func(d *draft, v bool) { d.GeoIP.On = v }),
	},
}
