// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/fairway-ingress/fairway/internal/election"
	"github.com/fairway-ingress/fairway/internal/status"
)

// leaderFlags are about what one of several replicas does for all.
type leaderFlags struct {
	updateStatus, clearStatus, internalAddress bool
	publishService                             keyFlag
	publishAddress                             string
	statusSeconds                              int
	electionID                                 string
	electionTTL                                time.Duration
	noElection, noSyncEvents                   bool
}

func (f *leaderFlags) flags() *pflag.FlagSet {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.BoolVar(&f.updateStatus, "update-status", true, "write status.loadBalancer of the Ingresses that are served; the leader does it")
	flags.Var(&f.publishService, "publish-service", "namespace/name of the Service whose addresses are written there; without it, those of the nodes with ready replicas")
	flags.StringVar(&f.publishAddress, "publish-status-address", "", "addresses to write instead, comma-separated IP addresses or names")
	flags.BoolVar(&f.internalAddress, "report-node-internal-ip-address", false, "write internal addresses of nodes also where there are external ones")
	flags.IntVar(&f.statusSeconds, "status-update-interval", int(status.DefaultInterval/time.Second), "seconds between two looks at all Ingresses; 5 at least. Changes count at once")
	flags.BoolVar(&f.clearStatus, "update-status-on-shutdown", true, "take the addresses out again when the last replica stops")
	flags.StringVar(&f.electionID, "election-id", "ingress-controller-leader", "name of the Lease, in the pod's namespace, by which replicas choose their leader")
	flags.DurationVar(&f.electionTTL, "election-ttl", election.DefaultTTL, "time within which another replica leads when the leader is killed; 2s at least")
	flags.BoolVar(&f.noElection, "disable-leader-election", false, "elect no leader; then nobody writes the status of Ingresses")
	flags.BoolVar(&f.noSyncEvents, "disable-sync-events", false, "send no Events but those about reloads")
	return flags
}

// check finds mistakes that these flags make together.
func (f *leaderFlags) check() error {
	if f.publishService.Name != "" && f.publishAddress != "" {
		return usageError{errors.New("--publish-service and --publish-status-address exclude each other: give one of them")}
	}
	if f.electionID == "" {
		return usageError{fmt.Errorf("--election-id is empty; it is the name of a Lease, or give --disable-leader-election")}
	}
	return nil
}
