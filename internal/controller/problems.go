// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"time"

	"github.com/fairway-ingress/fairway/internal/explain"
	"github.com/fairway-ingress/fairway/internal/ingress"
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
)

// Problems gives all problems there are at a time: of files, of the model, and of certificates that have expired; sorted.
func Problems(snapshot *source.Snapshot, result *ingress.Result, at time.Time, more ...model.Problem) explain.Problems {
	others := append(faults(snapshot.Faults), ingress.Expired(result.Model, at)...)
	others = append(others, more...)
	if len(others) == 0 {
		return explain.ListProblems(result.Model.Problems) // sorted already
	}
	return explain.ListProblems(model.SortProblems(append(others, result.Model.Problems...)))
}

// notices are what the data plane says of the settings and of its files. Those of settings are given their owner.
func notices(driver Driver, owner model.Ref) []model.Problem {
	noticer, ok := driver.(interface{ Notices() []model.Problem })
	if !ok {
		return nil
	}
	problems := noticer.Notices()
	for i := range problems {
		if problems[i].Object == (model.Ref{}) {
			problems[i].Object = owner
		}
	}
	return problems
}

// faults makes the faults of files look like other problems.
func faults(faults []source.Fault) []model.Problem {
	var problems []model.Problem
	for _, f := range faults {
		field := ""
		if f.Line > 0 {
			field = fmt.Sprintf("line %d", f.Line)
		}
		problems = append(problems, model.Problem{
			Object: model.Ref{Kind: "File", Name: f.File}, Field: field, Reason: model.ReasonUnreadableManifest, Message: f.Message,
		})
	}
	return problems
}

// memory knows when each problem was first seen.
type memory map[place]time.Time

// place is what makes a problem the same as before, whatever its message says.
type place struct {
	object        explain.Object
	field, reason string
}

// date fills in when the problems were first seen, now for those that are new, and forgets those that are gone.
func (m *memory) date(problems explain.Problems, now time.Time) explain.Problems {
	seen := make(memory, len(problems))
	for i, p := range problems {
		at := place{p.Object, p.Field, p.Reason}
		since, known := (*m)[at]
		if !known {
			since = now
		}
		seen[at], problems[i].Since = since, since
	}
	*m = seen
	return problems
}

func byReason(problems explain.Problems) map[string]int {
	counts := map[string]int{}
	for _, p := range problems {
		counts[p.Reason]++
	}
	return counts
}
