// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

// Lookup is a ConfigMap or Secret that a setting names.
type Lookup struct {
	Key string // of the setting
	Ref model.Ref
	use func(s *model.Settings, headers []model.TemplateHeader)
	own func(name string) bool // headers that are not to be set
	// read takes the data instead, and gives the reason and message of a Problem; nil data is none.
	read func(s *model.Settings, data map[string][]byte) (reason, message string)
}

// Lookups gives the objects that settings name. Until each was resolved, the settings lack what they say.
func Lookups(s *model.Settings) []Lookup {
	var list []Lookup
	if ref := s.Headers.ResponseFrom; ref != (model.Ref{}) {
		list = append(list, Lookup{Key: "add-headers", Ref: ref,
			use: func(s *model.Settings, h []model.TemplateHeader) { s.Headers.Response = h }, own: func(string) bool { return false }})
	}
	if ref := s.Headers.RequestFrom; ref != (model.Ref{}) {
		list = append(list, Lookup{Key: "proxy-set-headers", Ref: ref,
			use: func(s *model.Settings, h []model.TemplateHeader) { s.Headers.Request = h }, own: isOwn})
	}
	if ref := s.TLS.DHParamsFrom; ref != (model.Ref{}) {
		list = append(list, Lookup{Key: "ssl-dh-param", Ref: ref, read: readDHParams})
	}
	return list
}

// isOwn tells whether Fairway sets a header of requests itself, so that another value would not arrive.
func isOwn(name string) bool {
	return slices.Contains([]string{
		"Connection", "Host", "Proxy", "Upgrade", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Port", "X-Forwarded-Proto",
		"X-Forwarded-Scheme", "X-Original-Forwarded-For", "X-Original-Forwarded-Host", "X-Real-Ip", "X-Request-Id", "X-Scheme",
		"Content-Length", "Transfer-Encoding",
	}, name) || strings.HasPrefix(name, "Ssl-Client-")
}

// Resolve reads the data of the object, nil when there is none, into the settings. Owner is the ConfigMap of the settings.
func (l Lookup) Resolve(s *model.Settings, owner model.Ref, data map[string][]byte) []model.Problem {
	if l.read != nil {
		if reason, message := l.read(s, data); reason != "" {
			return []model.Problem{{Object: owner, Field: "data[" + l.Key + "]", Reason: reason, Message: fmt.Sprintf(message, l.Ref)}}
		}
		return nil
	}
	if data == nil {
		return []model.Problem{{Object: owner, Field: "data[" + l.Key + "]", Reason: model.ReasonMissingConfigMap,
			Message: fmt.Sprintf("there is no %s, or it may not be read; no headers are set", l.Ref)}}
	}
	var problems []model.Problem
	var headers []model.TemplateHeader
	for _, key := range slices.Sorted(maps.Keys(data)) {
		header, err := parseHeader(key, string(data[key]))
		switch {
		case err == nil && l.own(header.Name):
			err = fmt.Errorf("is a header that Fairway sets itself")
		case err == nil && slices.ContainsFunc(headers, func(h model.TemplateHeader) bool { return h.Name == header.Name }):
			err = fmt.Errorf("is there in another spelling too")
		}
		if err != nil {
			problems = append(problems, model.Problem{Object: l.Ref, Field: "data[" + key + "]", Reason: model.ReasonInvalidSetting,
				Message: fmt.Sprintf("the header %.60q %v; it is not set, as %s asks", key, err, l.Key)})
			continue
		}
		headers = append(headers, header)
	}
	l.use(s, headers)
	return problems
}

func parseHeader(key, text string) (model.TemplateHeader, error) {
	name, err := value.HeaderName(key)
	if err != nil {
		return model.TemplateHeader{}, err
	}
	template, err := value.Template(strings.Trim(strings.TrimSpace(text), `"`))
	return model.TemplateHeader{Name: name, Value: template}, err
}
