// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package nginx

import (
	"io"
	"log/slog"

	"github.com/fairway-ingress/fairway/internal/model"
)

// Options say where nginx and its files are. Every port, socket and path of a driver follows from them, so that several can run side by side.
type Options struct {
	// Binary is the nginx program; empty means "nginx" in PATH or /usr/sbin.
	Binary string
	// ModulesDir holds the dynamic modules; empty means the usual places of Debian and Ubuntu.
	ModulesDir string
	// RuntimeDir holds nginx.conf, sockets, pid file and temporary files. It is made if missing, mode 0700.
	RuntimeDir string
	// WorkerUser is whom the workers run as, which takes a master that is root; empty means www-data, nginx or nobody, whichever there is,
	// and for a master that is not root its own user.
	WorkerUser string
	// Address is what listeners bind to; empty means all addresses, IPv4 and IPv6.
	Address string
	// HTTPPort and HTTPSPort are where clients come in.
	HTTPPort, HTTPSPort int
	// HealthPath is answered with 200 for hosts that no Ingress names; empty means "/healthz".
	HealthPath string
	// Traffic is what is counted of requests; nil for nothing.
	Traffic *model.TrafficOptions
	// Template names the file of the admin's template of nginx.conf, for Problems; see Driver.UseTemplate.
	Template string
	// AccessLog receives the access log lines, ErrorLog nginx' error log and what it prints; nil means standard output and standard error.
	AccessLog, ErrorLog io.Writer
	// Log is the driver's own log.
	Log *slog.Logger
}
