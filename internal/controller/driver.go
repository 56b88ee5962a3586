// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	"github.com/fairway-ingress/fairway/internal/model"
)

// Driver brings models into force on one data plane.
type Driver interface {
	// Run starts the data plane with what was applied last and keeps it alive until ctx ends, then stops it gracefully.
	// It returns nil after a stop by ctx, else why it gave up.
	Run(ctx context.Context) error
	// Apply compares m with what is in force and changes just the difference; when it returns nil, the very next request
	// obeys m. After an error the last good state keeps serving and a later Apply of any model repairs it. It may be called
	// before Run and while Run starts the data plane: then it waits until the data plane answers. Calls never overlap.
	Apply(ctx context.Context, m *model.Model) (model.Change, error)
	// Restarted sends a value whenever the data plane lost its state or a push is otherwise owed (a new master process); the
	// controller then calls Apply again.
	Restarted() <-chan struct{}
}
