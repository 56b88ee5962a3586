// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

import "github.com/fairway-ingress/fairway/internal/model"

var log = Group{
	Name: "log", Doc: "The access log.",
	Keys: []Key{
		Bool("disable-access-log", Spec{
			Default: "false", Example: "true", Reload: true,
			Doc: "Writes no access log.",
		}, func(d *draft, v bool) { d.AccessLog = !v }),

		Bool("enable-access-log-for-default-backend", Spec{
			Default: "false", Example: "true", Reload: true,
			Doc: "Logs also requests for hosts that no rule names.",
		}, func(d *draft, v bool) { d.DefaultBackendLog = v }),

		Parsed("log-format-upstream", "log line with nginx variables", Spec{
			Default: model.DefaultLogFormat, Example: `$remote_addr "$request" $status $request_time`, Reload: true,
			Doc: "The access log line. Control characters are refused.",
		}, parseLogFormat, func(d *draft, v string) { d.LogFormat = v }),
	},
}
