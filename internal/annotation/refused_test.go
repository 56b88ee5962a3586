// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"slices"
	"strings"
	"testing"

	"github.com/fairway-ingress/fairway/internal/model"
)

// refusedThere are the keys with whose bad values the predecessor's webhook refused an Ingress.
const refusedThere = `auth-realm auth-secret-type auth-tls-error-page auth-tls-match-cn auth-tls-pass-certificate-to-upstream auth-type auth-url
	client-body-buffer-size connection-proxy-header custom-http-errors default-backend fastcgi-index from-to-www-redirect http2-push-preload
	limit-allowlist limit-connections limit-rpm limit-rps load-balance opentelemetry-operation-name permanent-redirect permanent-redirect-code
	relative-redirects server-alias ssl-ciphers ssl-passthrough temporal-redirect temporal-redirect-code upstream-hash-by upstream-hash-by-subset
	upstream-hash-by-subset-size upstream-vhost x-forwarded-prefix`

func TestRefused(t *testing.T) {
	want := strings.Fields(refusedThere)
	defaults := model.DefaultSettings()
	var got []string
	for _, group := range groups {
		for _, key := range group.Keys {
			if key.Refused {
				got = append(got, key.Name)
			}
			_, problems := Parse("", model.Ref{}, map[string]string{DefaultPrefix + "/" + key.Name: "\x01{no such value"}, &defaults)
			refused := slices.ContainsFunc(problems, func(p model.Problem) bool { return p.Reason == model.ReasonInvalidAnnotation && p.Refusal != "" })
			if refused != key.Refused {
				t.Errorf("%s: a bad value is refused: %v; problems %v", key.Name, refused, problems)
			}
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("refused are %q, the predecessor refused %q", got, want)
	}
}
