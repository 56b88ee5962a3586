// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/spf13/pflag"

	"github.com/fairway-ingress/fairway/internal/kong"
)

// kongDump shows what was sent to gateways, at the port and the paths of the Kong Ingress Controller. Like profiles it is for --profiler-address
// alone, which is this machine unless an admin says otherwise.
type kongDump struct {
	enabled, secrets bool
	port             int
}

// dumpPath is what all paths begin with.
const dumpPath = "/debug/config"

// dumps are the states that can be asked for, by the last part of their paths.
var dumps = map[string]kong.Dump{"successful": kong.Successful, "failed": kong.Failed, "fallback": kong.Fallback, "raw-error": kong.RawError}

func (d *kongDump) add(flags *pflag.FlagSet) {
	flags.BoolVar(&d.enabled, "dump-config", false,
		"serve what gateways took and refused last under "+dumpPath+" on --profiler-address and --diagnostic-server-port, without secrets")
	flags.BoolVar(&d.secrets, "dump-sensitive-config", false, "with --dump-config: show keys, passwords and the like as well")
	flags.IntVar(&d.port, "diagnostic-server-port", 10256, "port of --dump-config")
}

// check finds mistakes.
func (d *kongDump) check(all *controllerFlags) error {
	switch {
	case d.secrets && !d.enabled:
		return errors.New("--dump-sensitive-config needs --dump-config")
	case !d.enabled:
		return nil
	}
	return checkPorts(append(all.portFlags(), portFlag{"diagnostic-server-port", all.profilerAddress.String(), d.port}))
}

// serve opens the port if it is wanted, and gives what closes it.
func (d *kongDump) serve(address string, driver *kong.Driver, log *slog.Logger) (func(), error) {
	if !d.enabled {
		return func() {}, nil
	}
	listener, err := portFlag{"diagnostic-server-port", address, d.port}.listen()
	if err != nil {
		return nil, err
	}
	if d.secrets {
		log.Warn("the configuration of gateways is shown with all its secrets", "address", listener.Addr().String())
	}
	server := &http.Server{Handler: d.handler(driver), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }() // ends by Close
	return func() { _ = server.Close() }, nil
}

// dumper is what is asked of the driver.
type dumper interface {
	Dump(url string, what kong.Dump, secrets bool) ([]byte, error)
	Diff(ctx context.Context) (kong.Shown, error)
}

func (d *kongDump) handler(driver dumper) http.Handler {
	mux := http.NewServeMux()
	for name, what := range dumps {
		mux.HandleFunc("GET "+dumpPath+"/"+name, func(w http.ResponseWriter, r *http.Request) {
			text, err := driver.Dump(r.URL.Query().Get("gateway"), what, d.secrets)
			if err != nil {
				http.Error(w, err.Error(), http.StatusNotFound)
				return
			}
			if what != kong.RawError {
				w.Header().Set("Content-Type", "application/json")
			}
			_, _ = w.Write(text) // the client is gone: nothing to be done
		})
	}
	mux.HandleFunc("GET "+dumpPath+"/diff-report", func(w http.ResponseWriter, r *http.Request) {
		shown, err := driver.Diff(r.Context())
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"diffs": shown.Changes}) // as above
	})
	return mux
}
