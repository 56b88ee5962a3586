// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"log/slog"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

func newParser() parser.Parser { return parser.NewParser(parser.Options{}) }

func parseRules(file string) (*rulefmt.RuleGroups, []error) {
	return rulefmt.ParseFile(file, false, model.UTF8Validation, newParser(), slog.New(slog.DiscardHandler))
}
