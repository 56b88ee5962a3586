// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"errors"
	"time"
)

var worker = Group{
	Name: "worker", Doc: "The nginx processes.",
	Keys: []Key{
		Int("max-worker-connections", Spec{
			Min: 1, Default: "16384", Example: "65536", Reload: true,
			Doc: "How many connections a worker holds at most.",
		}, func(d *draft, v int) { d.WorkerConnections = v }),

		Parsed("worker-processes", "number or auto", Spec{
			Default: "auto", Example: "4", Reload: true,
			Doc: "The number of workers; auto means one per CPU.",
		}, parseWorkers, func(d *draft, v int) { d.Workers = v }),

		Parsed("worker-shutdown-timeout", "time with unit", Spec{
			Default: "240s", Example: "30s", Reload: true,
			Doc: "How long an old worker may finish its connections after a reload or a stop.",
		}, parseDuration, func(d *draft, v time.Duration) { d.WorkerShutdownTimeout = v }),
	},
}

// parseWorkers gives 0 for auto.
func parseWorkers(text string) (int, error) {
	if text == "auto" || text == "" {
		return 0, nil
	}
	v, err := parseInt(text, 1)
	if err != nil || v > 1024 {
		return 0, errors.New("is neither auto nor a number from 1 to 1024")
	}
	return v, nil
}
