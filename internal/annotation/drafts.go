// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

type (
	clientDraft   struct{}
	upstreamDraft struct{}
	mirrorDraft   struct{}
)
