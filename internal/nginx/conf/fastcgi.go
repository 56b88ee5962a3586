// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"slices"

	"github.com/fairway-ingress/fairway/internal/model"
)

// fastCGIParams are the parameters that FastCGI programs expect of nginx, in the words of the directive behind the name: those of its file
// fastcgi_params, the program itself, and no HTTP_PROXY, which a client could set by the header Proxy (CVE-2016-5385).
var fastCGIParams = [][2]string{
	{"SCRIPT_FILENAME", "$document_root$fairway_script"},
	{"QUERY_STRING", "$query_string"},
	{"REQUEST_METHOD", "$request_method"},
	{"CONTENT_TYPE", "$content_type"},
	{"CONTENT_LENGTH", "$content_length"},
	{"SCRIPT_NAME", "$fairway_script"},
	{"REQUEST_URI", "$request_uri"},
	{"DOCUMENT_URI", "$document_uri"},
	{"DOCUMENT_ROOT", "$document_root"},
	{"SERVER_PROTOCOL", "$server_protocol"},
	{"REQUEST_SCHEME", "$scheme"},
	{"HTTPS", "$https if_not_empty"},
	{"GATEWAY_INTERFACE", "CGI/1.1"},
	{"SERVER_SOFTWARE", "nginx"},
	{"REMOTE_ADDR", "$remote_addr"},
	{"REMOTE_PORT", "$remote_port"},
	{"SERVER_ADDR", "$server_addr"},
	{"SERVER_PORT", "$server_port"},
	{"SERVER_NAME", "$host"},
	{"REDIRECT_STATUS", "200"},
	{"HTTP_PROXY", `""`},
}

// identityParams say who the client is by its certificate, in the names of the headers that other backends get. Nobody but nginx may set them.
var identityParams = [][2]string{
	{"HTTP_SSL_CLIENT_VERIFY", "$ssl_client_verify"},
	{"HTTP_SSL_CLIENT_SUBJECT_DN", "$ssl_client_s_dn"},
	{"HTTP_SSL_CLIENT_ISSUER_DN", "$ssl_client_i_dn"},
	{"HTTP_SSL_CLIENT_CERT", "$fairway_client_certificate if_not_empty"},
}

// usualParams gives the arguments of fastcgi_param for all parameters that the own ones of a route do not replace. Identity is 1 when the backend is told about
// the client's certificate.
func usualParams(own []model.Param, identity int64) []string {
	var list []string
	add := func(name, value string) {
		if !slices.ContainsFunc(own, func(p model.Param) bool { return p.Name == name }) {
			list = append(list, name+" "+value)
		}
	}
	for _, usual := range fastCGIParams {
		add(usual[0], usual[1])
	}
	for _, p := range identityParams {
		if identity == 0 {
			p[1] = `""`
		}
		add(p[0], p[1])
	}
	return list
}
