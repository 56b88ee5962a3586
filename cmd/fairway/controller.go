// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"github.com/fairway-ingress/fairway/internal/controller"
	"github.com/fairway-ingress/fairway/internal/ingress"
	"github.com/fairway-ingress/fairway/internal/metrics"
	"github.com/fairway-ingress/fairway/internal/nginx"
	"github.com/fairway-ingress/fairway/internal/source/dns"
	"github.com/fairway-ingress/fairway/internal/source/manifests"
)

// controllerSocket is where the command line asks a running controller, in its runtime directory.
const controllerSocket = "admin/controller.sock"

// controllerFlags are those of `fairway controller` alone.
type controllerFlags struct {
	classFlags
	apiFlags

	manifests  string
	runtimeDir string
	nginx      string
	modules    string
	bind       string
	logFormat  string
	accessLog  string
	verbosity  int

	httpPort, httpsPort        int
	healthzPort, profilerPort  int
	healthzHost, healthPath    string
	profilerAddress            string
	profiling, showVersion     bool
	graceSeconds, afterSeconds int
}

func newController() *cobra.Command {
	var f controllerFlags
	c := &cobra.Command{
		Use:   "controller",
		Short: "Run the ingress controller",
		Long: `Controller watches Ingresses and what they refer to, starts an nginx and keeps it in step with them.

Objects come from a Kubernetes API server (in a pod without further flags, else --kubeconfig or --apiserver-host) or, with
--manifests, from a folder of YAML files that is watched. Several controllers can run on one machine when each has its
own ports and its own --runtime-dir.`,
		Example: `  fairway controller --manifests examples/demo --http-port 8080 --https-port 8443 --watch-ingress-without-class
  fairway controller --kubeconfig ~/.kube/config --http-port 8080 --https-port 8443`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if f.showVersion {
				fmt.Fprintln(c.OutOrStdout(), "fairway", buildVersion())
				return nil
			}
			if err := f.check(c); err != nil {
				return err
			}
			log := f.logger(c.ErrOrStderr())
			warnOfIgnoredFlags(c.Flags(), log)
			return f.run(c.Context(), log)
		},
	}
	flags := c.Flags()
	f.classFlags.add(flags)
	f.apiFlags.add(flags)
	flags.StringVar(&f.manifests, "manifests", "", "folder or file of manifests to serve instead of an API server, or - for standard input")
	flags.StringVar(&f.runtimeDir, "runtime-dir", defaultRuntimeDir(), "directory for nginx.conf, sockets and temporary files; one per controller")
	flags.StringVar(&f.nginx, "nginx-binary", os.Getenv("NGINX_BINARY"), "nginx program; default: NGINX_BINARY, else nginx in PATH or /usr/sbin")
	flags.StringVar(&f.modules, "nginx-modules-dir", "", "folder of nginx' dynamic modules; default: where Debian and Ubuntu put them")
	flags.StringVar(&f.bind, "bind-address", "", "address that --http-port and --https-port listen on; empty for all")
	flags.StringVar(&f.logFormat, "log-format", "text", "text or json")
	flags.StringVar(&f.accessLog, "access-log", "-", "file for nginx' access log, - for standard output")
	flags.IntVarP(&f.verbosity, "v", "v", 0, "verbosity; 2 and more log every detail")
	flags.IntVar(&f.httpPort, "http-port", 80, "port for HTTP")
	flags.IntVar(&f.httpsPort, "https-port", 443, "port for HTTPS")
	flags.IntVar(&f.healthzPort, "healthz-port", 10254, "port for health, readiness and metrics of the controller")
	flags.StringVar(&f.healthzHost, "healthz-host", "", "address of that port; empty for all")
	flags.StringVar(&f.healthPath, "health-check-path", "/healthz", "path of the health check, there and on hosts that no Ingress names")
	flags.BoolVar(&f.profiling, "profiling", true, "serve Go profiles on --profiler-port")
	flags.IntVar(&f.profilerPort, "profiler-port", 10245, "port of the Go profiles")
	flags.StringVar(&f.profilerAddress, "profiler-address", "127.0.0.1", "address of that port")
	flags.IntVar(&f.graceSeconds, "shutdown-grace-period", 0, "seconds between the stop signal, when readiness ends, and the stop")
	flags.IntVar(&f.afterSeconds, "post-shutdown-grace-period", 10, "seconds between the end of nginx and the end of the controller; none with --manifests")
	flags.BoolVar(&f.showVersion, "version", false, "print the version and exit")
	addIgnoredFlags(flags)
	return c
}

// check finds mistakes that flags make together.
func (f *controllerFlags) check(c *cobra.Command) error {
	fail := func(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }
	if f.namespace != "" && f.selector.Selector != nil {
		return fail("--watch-namespace and --watch-namespace-selector exclude each other: give one of them")
	}
	if f.manifests != "" {
		for _, name := range []string{"kubeconfig", "apiserver-host"} {
			if c.Flags().Changed(name) {
				return fail("--manifests and --%s exclude each other: objects come from files or from an API server", name)
			}
		}
	}
	if f.logFormat != "text" && f.logFormat != "json" {
		return fail("--log-format is %q; it can be text or json", f.logFormat)
	}
	if f.healthPath == "" || f.healthPath[0] != '/' {
		return fail("--health-check-path is %q; it must begin with /", f.healthPath)
	}
	ports := map[int]string{}
	for name, port := range map[string]int{"http-port": f.httpPort, "https-port": f.httpsPort, "healthz-port": f.healthzPort} {
		if port < 1 || port > 65535 {
			return fail("--%s is %d; a port is from 1 to 65535", name, port)
		}
		if other := ports[port]; other != "" {
			return fail("--%s and --%s are both %d; give each its own port", min(name, other), max(name, other), port)
		}
		ports[port] = name
	}
	if address := net.ParseIP(f.bind); f.bind != "" && address == nil {
		return fail("--bind-address is %q; it must be an IP address", f.bind)
	}
	return nil
}

func (f *controllerFlags) logger(out io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: slog.LevelInfo}
	if f.verbosity >= 2 {
		options.Level = slog.LevelDebug
	}
	var handler slog.Handler = slog.NewTextHandler(out, options)
	if f.logFormat == "json" {
		handler = slog.NewJSONHandler(out, options)
	}
	log := slog.New(handler)
	klog.SetSlogLogger(log.With("part", "client-go"))
	return log
}

// run puts the parts together, runs them until a signal comes, and stops them in order.
func (f *controllerFlags) run(ctx context.Context, log *slog.Logger) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	defer signal.Stop(signals)

	options := f.options()
	objects, err := f.source(ctx, log, &options)
	if err != nil {
		return err
	}
	accessLog, err := f.openAccessLog()
	if err != nil {
		return err
	}
	driver, err := nginx.New(nginx.Options{
		Binary: f.nginx, ModulesDir: f.modules, RuntimeDir: f.runtimeDir, Address: f.bind, HTTPPort: f.httpPort, HTTPSPort: f.httpsPort,
		HealthPath: f.healthPath, AccessLog: accessLog, ErrorLog: os.Stderr, Log: log.With("part", "nginx"),
	})
	if err != nil {
		return err
	}
	loop := &controller.Loop{
		Source: objects, Resolver: dns.New(dns.Options{Log: log}), Builder: ingress.NewBuilder(options), Driver: driver,
		Metrics: metrics.New(buildVersion()), Log: log,
	}
	server := &controller.Server{Loop: loop, HealthPath: f.healthPath}
	closeServers, err := f.serve(server)
	if err != nil {
		return err
	}
	defer closeServers()
	log.Info("fairway starts", "version", buildVersion(), "runtime-dir", f.runtimeDir)

	ended := make(chan error, 1)
	go func() { ended <- loop.Run(ctx) }()
	select {
	case err := <-ended:
		return err
	case <-signals:
	}
	go func() {
		<-signals
		log.Warn("second signal: stopping at once")
		os.Exit(1)
	}()
	log.Info("fairway stops", "grace", time.Duration(f.graceSeconds)*time.Second)
	server.Stop()
	time.Sleep(time.Duration(f.graceSeconds) * time.Second)
	cancel(nil)
	err = <-ended
	if f.manifests == "" {
		time.Sleep(time.Duration(f.afterSeconds) * time.Second)
	}
	return err
}

func (f *controllerFlags) source(ctx context.Context, log *slog.Logger, options *ingress.Options) (controller.Source, error) {
	if f.manifests != "" {
		return manifests.Open(f.manifests, manifests.Options{Log: log})
	}
	return f.apiFlags.source(ctx, log, options)
}

func (f *controllerFlags) openAccessLog() (*os.File, error) {
	if f.accessLog == "-" {
		return os.Stdout, nil
	}
	file, err := os.OpenFile(f.accessLog, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o640)
	if err != nil {
		return nil, fmt.Errorf("open --access-log: %w", err)
	}
	return file, nil
}

// serve opens the controller's own ports and gives what closes them.
func (f *controllerFlags) serve(server *controller.Server) (func(), error) {
	var servers []*http.Server
	closeAll := func() {
		for _, s := range servers {
			_ = s.Close()
		}
	}
	start := func(listener net.Listener, handler http.Handler) {
		s := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
		servers = append(servers, s)
		go func() { _ = s.Serve(listener) }() // ends by Close
	}
	health, err := net.Listen("tcp", net.JoinHostPort(f.healthzHost, strconv.Itoa(f.healthzPort)))
	if err != nil {
		return nil, fmt.Errorf("open --healthz-port: %w", err)
	}
	start(health, server.Public())
	if f.profiling {
		// Profiles are an aid: without their port everything else still works.
		if listener, err := net.Listen("tcp", net.JoinHostPort(f.profilerAddress, strconv.Itoa(f.profilerPort))); err == nil {
			start(listener, profiles())
		}
	}
	socket := filepath.Join(f.runtimeDir, controllerSocket)
	if err := os.Remove(socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		closeAll()
		return nil, fmt.Errorf("open %s: %w", socket, err)
	}
	private, err := net.Listen("unix", socket)
	if err != nil {
		closeAll()
		return nil, fmt.Errorf("open %s: %w", socket, err)
	}
	start(private, server.Private())
	return closeAll, nil
}

func profiles() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}

// defaultRuntimeDir is /run/fairway for root, else a folder of the user's own.
func defaultRuntimeDir() string {
	if os.Getuid() == 0 {
		return "/run/fairway"
	}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		return filepath.Join(dir, "fairway")
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("fairway-%d", os.Getuid()))
}
