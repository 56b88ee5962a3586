// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package passthrough

import (
	"testing"

	"github.com/fairway-ingress/fairway/test/testbed"
)

func TestMain(m *testing.M) { testbed.Main(m) }

// controller is a running controller with TLS passthrough.
type controller struct{ *testbed.Local }

// start starts one with the objects, and stops it when the test ends.
func start(t *testing.T, objects string) *controller {
	t.Helper()
	return &controller{testbed.StartLocal(t, objects, "--enable-ssl-passthrough")}
}
