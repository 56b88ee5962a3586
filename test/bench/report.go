// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
)

// figure is one number of the report.
type figure struct {
	Section string  `json:"section"`
	What    string  `json:"what"`
	Value   float64 `json:"value"`
	Unit    string  `json:"unit"`
	// Budget is the most that Value may be, by the design; nil when there is none.
	Budget *float64 `json:"budget,omitempty"`
	Note   string   `json:"note,omitempty"`
}

type report struct{ figures []figure }

func (r *report) add(section, what string, value float64, unit, note string) {
	r.figures = append(r.figures, figure{Section: section, What: what, Value: value, Unit: unit, Note: note})
}

// addBudget adds a figure that the design bounds.
func (r *report) addBudget(section, what string, value float64, unit string, budget float64, note string) {
	r.figures = append(r.figures, figure{Section: section, What: what, Value: value, Unit: unit, Budget: &budget, Note: note})
}

func (r *report) print(w io.Writer) {
	fmt.Fprintln(w, "| section | what | value | budget | |\n|---|---|---|---|---|")
	for _, f := range r.figures {
		budget := ""
		if f.Budget != nil {
			verdict := "met"
			if f.Value > *f.Budget {
				verdict = "**not met**"
			}
			budget = fmt.Sprintf("≤ %s %s: %s", short(*f.Budget), f.Unit, verdict)
		}
		fmt.Fprintf(w, "| %s | %s | %s %s | %s | %s |\n", f.Section, f.What, short(f.Value), f.Unit, budget, f.Note)
	}
}

// short prints three digits that matter.
func short(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e9 {
		return fmt.Sprintf("%.0f", v)
	}
	digits := 2 - int(math.Floor(math.Log10(math.Abs(v))))
	return fmt.Sprintf("%.*f", max(digits, 0), v)
}

func (r *report) write(file string) error {
	text, err := json.MarshalIndent(r.figures, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}

// quantile gives the q-th part of values, which it sorts.
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	slices.Sort(values)
	return values[min(len(values)-1, int(q*float64(len(values))))]
}
