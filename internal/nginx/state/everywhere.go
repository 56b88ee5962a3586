// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"reflect"

	"github.com/fairway-ingress/fairway/internal/model"
)

// everywhereEntry is what the settings ask of every request. It is absent when that is nothing.
type everywhereEntry struct {
	Block          *blockEntry `json:"block,omitempty"`
	SkipLog        *textsEntry `json:"skip_log,omitempty"`
	OriginalURI    int         `json:"original_uri,omitempty"`
	RequestHeaders [][2]string `json:"request_headers,omitempty"` // name, template
}

type blockEntry struct {
	Networks []string    `json:"networks,omitempty"` // CIDR
	Agents   *textsEntry `json:"agents,omitempty"`
	Referers *textsEntry `json:"referers,omitempty"`
}

// textsEntry holds texts in lower case, and expressions with the options of ngx.re.
type textsEntry struct {
	Texts    map[string]int `json:"texts,omitempty"`
	Patterns [][2]string    `json:"patterns,omitempty"`
}

// addEverywhere puts into the settings entry what concerns every request.
func addEverywhere(entry map[string]any, s *model.Settings) {
	e := everywhereEntry{
		SkipLog: newTexts(s.SkipLog), OriginalURI: bit(s.Headers.OriginalURI), RequestHeaders: templates(s.Headers.Request),
	}
	b := blockEntry{Networks: cidrs(s.Blocked.Networks), Agents: newTexts(s.Blocked.UserAgents), Referers: newTexts(s.Blocked.Refers)}
	if !reflect.DeepEqual(b, blockEntry{}) {
		e.Block = &b
	}
	if !reflect.DeepEqual(e, everywhereEntry{}) {
		entry["everywhere"] = e
	}
	if len(s.StatusFrom) > 0 {
		entry["status_from"] = cidrs(s.StatusFrom)
	}
	if len(s.Headers.Response) > 0 {
		entry["response_headers"] = templates(s.Headers.Response)
	}
}

func newTexts(list []model.TextMatch) *textsEntry {
	if len(list) == 0 {
		return nil
	}
	e := &textsEntry{}
	for _, m := range list {
		switch {
		case !m.Pattern && e.Texts == nil:
			e.Texts = map[string]int{m.Text: 1}
		case !m.Pattern:
			e.Texts[m.Text] = 1
		case m.IgnoreCase:
			e.Patterns = append(e.Patterns, [2]string{m.Text, "ijo"})
		default:
			e.Patterns = append(e.Patterns, [2]string{m.Text, "jo"})
		}
	}
	return e
}

func templates(headers []model.TemplateHeader) [][2]string {
	var list [][2]string
	for _, h := range headers {
		list = append(list, [2]string{h.Name, string(h.Value)})
	}
	return list
}
