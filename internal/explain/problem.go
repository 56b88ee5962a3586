// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/fairway-ingress/fairway/internal/model"
)

// Problem is a model.Problem and when it was first seen.
type Problem struct {
	Object  Object `json:"object"`
	Field   string `json:"field,omitempty"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	// Refusal is what the admission webhook says when it does not let such an object in; empty when it does.
	Refusal string `json:"refusal,omitempty"`
	// Since is zero where nobody watched, as for manifests that were read once.
	Since time.Time `json:"since,omitzero"`
}

// Object is a model.Ref.
type Object struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// String is that of model.Ref.
func (o Object) String() string { return model.Ref(o).String() }

// Problems are problems as an answer.
type Problems []Problem

// ListProblems gives problems that nobody watched.
func ListProblems(problems []model.Problem) Problems {
	list := make(Problems, 0, len(problems))
	for _, p := range problems {
		list = append(list, Problem{Object: Object(p.Object), Field: p.Field, Reason: p.Reason, Message: p.Message, Refusal: p.Refusal})
	}
	return list
}

// Print writes one line per problem: object, field, reason, what happens, and since when if that is known.
func (l Problems) Print(w io.Writer) {
	for _, p := range l {
		fmt.Fprintln(w, p)
	}
}

// All gives the problems, each with the time when it was first seen.
func (l Problems) All() iter.Seq2[model.Problem, time.Time] {
	return func(yield func(model.Problem, time.Time) bool) {
		for _, p := range l {
			if !yield(model.Problem{Object: model.Ref(p.Object), Field: p.Field, Reason: p.Reason, Message: p.Message}, p.Since) {
				return
			}
		}
	}
}

func (p Problem) String() string {
	text := p.Object.String()
	if p.Field != "" {
		text += " " + p.Field
	}
	text += ": " + p.Reason + ": " + p.Message
	if !p.Since.IsZero() {
		text += " (since " + p.Since.UTC().Format(time.RFC3339) + ")"
	}
	return text
}

// problemsOf gives the problems of some objects.
func (f *Facts) problemsOf(objects ...model.Ref) []Problem {
	wanted := map[Object]bool{}
	for _, o := range objects {
		wanted[Object(o)] = true
	}
	var list []Problem
	for _, p := range f.Problems {
		if wanted[p.Object] {
			list = append(list, p)
		}
	}
	return list
}
