// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package translate

import (
	"net/url"

	"github.com/fairway-ingress/fairway/internal/model"
)

// redirect answers every request. Where that cannot be done nobody may be served what the redirect was to keep them from.
//
// The plugin for it came with Kong 3.9 and takes whole URLs alone. What it does not do another plugin does, which answers with a status, and a third,
// which adds the header.
func (t *translation) redirect(r *route, to *model.KongRedirect) {
	switch {
	case isURL(to.URL) && t.gateway.Version.AtLeast(3, 9) && t.gateway.HasPlugin("redirect"):
		t.plugin(r, "redirect", map[string]any{"status_code": to.Code, "location": to.URL, "keep_incoming_path": to.KeepPath})
	case to.KeepPath:
		t.close503(r, "a redirect to the same path elsewhere needs Kong 3.9")
	case r.attaches(requestTermination):
		t.close503(r, "a KongPlugin of the plugin request-termination is in the place of a redirect")
	case !t.gateway.HasPlugin(requestTermination) || !t.gateway.HasPlugin(responseTransformer):
		t.close503(r, "a redirect needs the plugins request-termination and response-transformer")
	default:
		t.plugin(r, requestTermination, map[string]any{"status_code": to.Code, "message": "Redirect"})
		r.response.add = append(r.response.add, "Location:"+to.URL)
	}
}

// isURL tells whether the plugin takes it.
func isURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Scheme != "" && u.Hostname() != ""
}

func (t *translation) close503(r *route, why string) {
	t.problem(r.source.Origin.Ref, "metadata.annotations", model.ReasonUnsupported, "%s, so the routes answer 503", why)
	r.closed = firstOf(r.closed, why)
}
