// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package model

import "fmt"

// RefusedError is what a driver gives for a model with raw configuration that its data plane does not take. Nothing of the model was applied; the model is
// to be built again without them.
type RefusedError struct {
	// Snippets are the refused ones, each with the data plane's reason.
	Snippets map[Snippet]string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("%d snippets are refused by the data plane", len(e.Snippets))
}
