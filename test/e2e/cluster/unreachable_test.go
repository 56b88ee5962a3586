// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"testing"
	"time"
)

// The file's name makes this the last test: the cluster's own controllers take up to a minute to notice that the API server is back.
func TestAPIServerAway(t *testing.T) {
	e, ns := served(t, "away.example")
	l := e.startLoad("away.example", "/", 2)
	if err := e.Cluster.Command("stop", "apiserver"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(30 * time.Second) // long enough for every watch to have failed several times
	if err := e.Cluster.Command("start", "apiserver"); err != nil {
		t.Fatal(err)
	}
	l.stop(t, 1000)
	e.awaitAPI(t)
	e.CreateIngress(t, ns, newIngress("later", "away-later.example", "/", "web"))
	e.eventuallyStatus(t, "away-later.example", "/", 200)
}
