// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

var admission = Group{
	Name: "annotations", Doc: "Which annotations count, and what the admission webhook refuses.",
	Keys: []Key{
		Bool("allow-cross-namespace-resources", Spec{
			Default: "false", Example: "true",
			Doc: "Lets annotations name Secrets and ConfigMaps of other namespaces.",
		}, func(d *draft, v bool) { d.CrossNamespace = v }),

		Bool("allow-snippet-annotations", Spec{
			Default: "false", Example: "true",
			Doc: "Lets annotations hold raw nginx configuration, which gives their authors the power of nginx itself. They also need the annotations-risk-level Critical.",
		}, func(d *draft, v bool) { d.Snippets = v }),

		Parsed("annotation-value-word-blocklist", "words with commas between", Spec{
			Default: none, Example: "load_module,lua_package",
			Doc: "An annotation whose value contains one of the words closes the routes of its Ingress. Blanks around words and empty words do not count.",
		}, func(text string) ([]string, error) { return parseList(text), nil }, func(d *draft, v []string) { d.ForbiddenWords = v }),

		Parsed("annotations-risk-level", "one of Low, Medium, High, Critical", Spec{
			Default: "High", Example: "Critical",
			Doc: "The highest risk that an annotation may have. One above it closes the routes of its Ingress. An unknown word counts as Low.",
		}, parseRisk, func(d *draft, v string) { d.RiskLevel = v }),

		Bool("strict-validate-path-type", Spec{
			Default: "true", Example: "false",
			Doc: "The admission webhook refuses paths of the types Exact and Prefix that do not begin with / or have other characters than letters, digits and . _ - /. " +
				"Otherwise it warns of them. Ingresses that are stored already are served either way.",
		}, func(d *draft, v bool) { d.StrictPaths = v }),
	},
}

// parseRisk reads a risk in its exact spelling. Any other word counts as Low, the strictest: its effect cannot be overlooked.
func parseRisk(text string) (string, error) {
	for _, level := range []string{"Low", "Medium", "High", "Critical"} {
		if text == level {
			return level, nil
		}
	}
	return "Low", nil
}
