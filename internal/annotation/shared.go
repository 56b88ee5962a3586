// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import "github.com/fairway-ingress/fairway/internal/value"

var (
	parseTemplate   = value.Template
	parseTemplateOf = value.TemplateOf
	parseURL        = value.URL
	parseReference  = value.Reference
	parseSize       = value.Size
)
