// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package l4

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/fairway-ingress/fairway/test/testbed"
)

// patience is how long a test waits for what must come.
const patience = 60 * time.Second

func TestMain(m *testing.M) { testbed.Main(m) }

// controller is a running controller with TCP and UDP services.
type controller struct{ *testbed.Local }

// start starts one with the objects, and stops it when the test ends.
func start(t *testing.T, objects *objects) *controller {
	t.Helper()
	flags := []string{"--tcp-services-configmap", "default/tcp", "--udp-services-configmap", "default/udp"}
	return &controller{testbed.StartLocal(t, objects.String(), flags...)}
}

// apply replaces the objects.
func (c *controller) apply(objects *objects) {
	c.T.Helper()
	c.Write(objects.String())
}

// listener is what the controller says of a port; nil when it has none.
func (c *controller) listener(port int) []string {
	c.T.Helper()
	var list []struct {
		Port      int
		Endpoints []string
	}
	if err := json.Unmarshal([]byte(c.Debug("/debug/fairway/listeners?output=json")), &list); err != nil {
		c.T.Fatal(err)
	}
	for _, l := range list {
		if l.Port == port {
			return l.Endpoints
		}
	}
	return nil
}
