// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package value

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
)

// HostHeader reads a host for backends: a DNS name or an IP address, with an optional port, or text with variables, also those of the route, that may come to
// that.
func HostHeader(text string) (model.Template, error) {
	if strings.ContainsRune(text, '$') {
		return templateOf(text, "-._~:[]", ofRoute...)
	}
	if a, err := netip.ParseAddrPort(text); err == nil && a.Addr().Zone() == "" {
		return model.Template(text), nil
	}
	if a, err := netip.ParseAddr(text); err == nil && a.Is4() {
		return model.Template(text), nil
	}
	name, port, hasPort := strings.Cut(text, ":")
	if hasPort {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return "", errors.New("has no valid port")
		}
	}
	if !IsHostName(name) {
		return "", errors.New("is not a host name")
	}
	return model.Template(text), nil
}

// FileName reads the name of a file, without folders.
func FileName(text string) (string, error) {
	if text == "" || len(text) > 255 || !Only(text, IsLetterOrDigit, ".-_") {
		return "", errors.New("is no file name of letters, digits and . - _")
	}
	return text, nil
}

// FastCGIParams reads the data of a ConfigMap as FastCGI parameters, sorted by name. The names are the only text of tenants that
// enters nginx' configuration by itself, so no more than a word passes, and not too many.
func FastCGIParams(data map[string][]byte) ([]model.Param, error) {
	const mostParams, mostName = 64, 64
	if len(data) > mostParams {
		return nil, fmt.Errorf("names a ConfigMap with more than %d keys", mostParams)
	}
	further := append([]string{"fastcgi_script_name", "document_root", "document_uri"}, ofRoute...)
	params := make([]model.Param, 0, len(data))
	for name, content := range data {
		if name == "" || len(name) > mostName || !Only(name, IsLetterOrDigit, "._-") {
			return nil, fmt.Errorf("names a ConfigMap with the key %.80q, which is no name of at most %d letters, digits and . _ -", name, mostName)
		}
		t, err := templateWith(string(content), further...)
		if err != nil {
			return nil, fmt.Errorf("names a ConfigMap with the key %s, whose value %w", name, err)
		}
		params = append(params, model.Param{Name: name, Value: t})
	}
	slices.SortFunc(params, func(a, b model.Param) int { return strings.Compare(a.Name, b.Name) })
	return params, nil
}
