// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package l4

import (
	"sync/atomic"

	"github.com/fairway-ingress/fairway/internal/model"
)

// counts are what happened at a port.
type counts struct {
	received, sent atomic.Uint64 // bytes that endpoints and clients got
	failures       atomic.Uint64 // connections to endpoints that could not be opened
	ended          [model.StreamOutcomes]atomic.Uint64
}

func (c *counts) traffic(open int) model.StreamTraffic {
	t := model.StreamTraffic{Open: open, Received: c.received.Load(), Sent: c.sent.Load(), Failures: c.failures.Load()}
	for i := range c.ended {
		t.Ended[i] = c.ended[i].Load()
	}
	return t
}
