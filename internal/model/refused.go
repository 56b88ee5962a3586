// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package model

import "fmt"

// RefusedError is what a driver gives for a model with raw configuration that its data plane does not take. Nothing of the model was applied; the model is
// to be built again without them.
type RefusedError struct {
	// Snippets are the refused ones, each with the data plane's reason.
	Snippets map[Snippet]string
	// Settings are refused settings, by their key, each with the reason; the empty key stands for all of them together.
	Settings map[string]string
}

// SettingsRefusal names a setting of a version of the settings, Model.SettingsID, among what is refused.
func SettingsRefusal(id, key string) string { return "settings " + id + " " + key }

func (e *RefusedError) Error() string {
	return fmt.Sprintf("%d snippets and %d settings are refused by the data plane", len(e.Snippets), len(e.Settings))
}
