// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import "github.com/fairway-ingress/fairway/internal/model"

var clientTLS = Group{
	Name: "tls", Doc: "TLS towards clients, for whole hosts. The oldest Ingress of a host that sets a key has it.",
	Keys: []Key{
		Parsed("ssl-ciphers", "OpenSSL cipher list", Spec{
			Scope: Host, Risk: Low, Refused: true, Default: "what the setting says", Setting: "ssl-ciphers", Example: "ECDHE+AESGCM:ECDHE+CHACHA20",
			Doc: "The ciphers of TLS 1.2 that clients of the host are offered: suites and groups of OpenSSL, with !, - and + before them, @STRENGTH and @SECLEVEL=0 to 5. " +
				"TLS 1.3 has its own.",
			Source: "ssl_ciphers of ngx_http_ssl_module, done in Lua; ciphers(1)",
		}, parseServerCiphers, func(e *Effect, v string) { e.hostTLS().Ciphers = v }),

		Bool("ssl-prefer-server-ciphers", Spec{
			Scope: Host, Risk: Low, Default: "true", Example: "false",
			Doc:    "Whether the order of the server decides between ciphers that both know, or that of the client.",
			Source: "ssl_prefer_server_ciphers of ngx_http_ssl_module, done in Lua",
		}, func(e *Effect, v bool) { e.hostTLS().PreferServer = &v }),
	},
}

// hostTLS gives what is asked for the handshake, to be changed while the annotations are read.
func (e *Effect) hostTLS() *model.HostTLS {
	if e.Host.TLS == nil {
		e.Host.TLS = &model.HostTLS{}
	}
	return e.Host.TLS
}
