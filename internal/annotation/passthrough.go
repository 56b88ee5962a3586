// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import "github.com/fairway-ingress/fairway/internal/model"

var passthrough = Group{
	Name: "passthrough", finish: finishPassthrough,
	Doc: "Leaves TLS to the backend.",
	Keys: []Key{
		Bool("ssl-passthrough", Spec{
			Scope: Host, Risk: Low, Refused: true, Default: "false", Example: "true",
			Doc:    "Asks that connections over TLS go to the Service undecrypted. That is not supported yet: TLS ends here, as it does in the predecessor without --enable-ssl-passthrough.",
			Source: "Fairway", Differs: "Has no effect yet, and says so.",
		}, func(e *Effect, v bool) { e.through = v }),
	},
}

func finishPassthrough(p *parser) {
	if p.effect.through {
		p.problem("ssl-passthrough", model.ReasonUnsupported, "connections are not passed through yet; TLS is terminated here, with the certificate of the host")
	}
}
