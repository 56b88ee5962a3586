// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

// Parse reads the data of the controller's ConfigMap, owner. The problems are in the order of the keys.
func Parse(owner model.Ref, data map[string]string) (model.Settings, []model.Problem) {
	d := draft{
		Settings: model.DefaultSettings(), hsts: hsts{on: true, subdomains: true, maxAge: 31536000},
		errors: model.Errors{Intercept: true}, log: logDraft{port: 514},
	}
	d.status = statusFrom{d.StatusFrom[:1], d.StatusFrom[1:]}
	var problems []model.Problem
	for _, name := range slices.Sorted(maps.Keys(data)) {
		if reason, message := d.apply(name, data[name]); reason != "" {
			problems = append(problems, model.Problem{Object: owner, Field: "data[" + name + "]", Reason: reason, Message: message})
		}
	}
	d.HSTS = d.hsts.header()
	d.finishAuth()
	d.finishWAF()
	d.finishErrors()
	d.finishTracing()
	d.finishRetries()
	d.finishResponse()
	d.finishSessions()
	d.finishListen()
	d.finishStatus()
	problem := func(name, message string) {
		problems = append(problems, model.Problem{Object: owner, Field: "data[" + name + "]", Reason: model.ReasonInvalidSetting, Message: message})
	}
	d.finishLogs(problem)
	d.finishBuffers(problem, data)
	return d.Settings.WithRaw(d.Raw), problems
}

// apply sets one key and gives the reason and the message of the problem, if there is one.
func (d *draft) apply(name, text string) (reason, message string) {
	key, known := index[name]
	switch {
	case !known:
		message = "nobody reads this key, it has no effect"
		if near := value.Nearest(strings.ToLower(name), maps.Keys(index)); near != "" {
			message += "; did you mean " + near + "?"
		}
		return model.ReasonUnknownSetting, message
	case key.Instead != "" && (text == "" || slices.Contains(key.Harmless, strings.ToLower(text))):
		return "", ""
	case key.Instead != "":
		return model.ReasonUnsupported, "this setting has no effect: " + key.Instead
	}
	if text == "" && key.Default == none {
		return "", ""
	}
	if err := key.apply(d, text); err != nil {
		var partly remark
		if errors.As(err, &partly) {
			return model.ReasonInvalidSetting, fmt.Sprintf("the value %.60q %s", text, partly)
		}
		shown := fmt.Sprintf("the value %.60q", text)
		if key.Confidential {
			shown = "the value"
		}
		if key.Closes {
			d.Closed = cmp.Or(d.Closed, "setting "+name+" "+err.Error())
			return model.ReasonInvalidSetting, fmt.Sprintf("%s %v; every route answers 503 until it is repaired", shown, err)
		}
		return model.ReasonInvalidSetting, fmt.Sprintf("%s %v; the default is in force: %s", shown, err, key.Default)
	}
	if key.Lacks != "" && text != "" && !slices.Contains(key.Harmless, strings.ToLower(text)) {
		return model.ReasonUnsupported, key.Lacks
	}
	return "", ""
}

// header gives the Strict-Transport-Security header (RFC 6797).
func (h hsts) header() string {
	if !h.on {
		return ""
	}
	text := fmt.Sprintf("max-age=%d", h.maxAge)
	if h.subdomains {
		text += "; includeSubDomains"
	}
	if h.preload {
		text += "; preload"
	}
	return text
}

// Dynamic gives the part of the data that is no part of a configuration of nginx, and what controls requests.
func Dynamic(data map[string]string) map[string]string {
	kept := map[string]string{}
	for name, text := range data {
		if key := index[name]; key != nil && (!key.Reload || key.Closes) {
			kept[name] = text
		}
	}
	return kept
}
