// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"flag"
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
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/klog/v2"

	"github.com/fairway-ingress/fairway/internal/controller"
	"github.com/fairway-ingress/fairway/internal/health"
	"github.com/fairway-ingress/fairway/internal/ingress"
	"github.com/fairway-ingress/fairway/internal/metrics"
	"github.com/fairway-ingress/fairway/internal/nginx"
	"github.com/fairway-ingress/fairway/internal/nginx/conf"
	"github.com/fairway-ingress/fairway/internal/nginx/push"
	"github.com/fairway-ingress/fairway/internal/ocsp"
	"github.com/fairway-ingress/fairway/internal/source/dns"
	"github.com/fairway-ingress/fairway/internal/source/manifests"
)

const defaultHealthPath = "/healthz"

// controllerFlags are those of `fairway controller`.
type controllerFlags struct {
	classFlags
	apiFlags
	webhook webhookFlags
	files   nginxFiles
	maxmind maxmindFlags
	leaderFlags
	metrics metricsFlags
	kong    kongFlags

	manifests  string
	runtimeDir string
	nginx      string
	modules    string
	workerUser string
	bind       string
	logFormat  string
	accessLog  string
	verbosity  int

	httpPort, httpsPort        int
	healthzPort, profilerPort  int
	healthzHost, healthPath    string
	profilerAddress            net.IP
	profiling, showVersion     bool
	passthrough                bool
	graceSeconds, afterSeconds int
}

// flagGroup is a chapter of docs/flags.md.
type flagGroup struct {
	title string
	flags *pflag.FlagSet
}

func (f *controllerFlags) groups() []flagGroup {
	return []flagGroup{
		{"Where objects come from", f.sourceFlags()},
		{"Which objects count and what they mean", f.classFlags.flags()},
		{"Ports", f.portGroup()},
		{"Admission webhook", f.webhook.flags()},
		{"nginx and its files", f.nginxFlags()},
		{"What one of several replicas does for all", f.leaderFlags.flags()},
		{"Files that configure nginx", f.files.flags()},
		{"Kong Gateways", f.kong.flags()},
		{"Databases for GeoIP", f.maxmind.flags()},
		{"Log, start and stop", f.lifeFlags()},
		{"Metrics", f.metrics.flags()},
		{"Flags of the predecessor without effect", newIgnoredFlags()},
	}
}

func (f *controllerFlags) sourceFlags() *pflag.FlagSet {
	flags := f.apiFlags.flags()
	flags.StringVar(&f.manifests, "manifests", "", "folder or file of manifests to serve instead of an API server, or - for standard input")
	return flags
}

func (f *controllerFlags) portGroup() *pflag.FlagSet {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.StringVar(&f.bind, "bind-address", "", "address that --http-port and --https-port listen on; empty for all")
	flags.IntVar(&f.httpPort, "http-port", 80, "port for HTTP")
	flags.IntVar(&f.httpsPort, "https-port", 443, "port for HTTPS")
	flags.BoolVar(&f.passthrough, "enable-ssl-passthrough", false,
		"let Ingresses with the annotation ssl-passthrough leave TLS to their Service; all connections to --https-port then take one more step")
	flags.IntVar(&f.healthzPort, "healthz-port", 10254, "port for health, readiness and metrics of the controller")
	flags.StringVar(&f.healthzHost, "healthz-host", "", "address of that port; empty for all")
	flags.StringVar(&f.healthPath, "health-check-path", defaultHealthPath, "path of the health check, there and on hosts that no Ingress names")
	flags.BoolVar(&f.profiling, "profiling", true, "serve Go profiles on --profiler-port")
	flags.IntVar(&f.profilerPort, "profiler-port", 10245, "port of the Go profiles")
	flags.IPVar(&f.profilerAddress, "profiler-address", net.IPv4(127, 0, 0, 1), "address of that port")
	return flags
}

func (f *controllerFlags) nginxFlags() *pflag.FlagSet {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.StringVar(&f.runtimeDir, "runtime-dir", defaultRuntimeDir(), "directory for nginx.conf, sockets and temporary files; one per controller")
	flags.StringVar(&f.nginx, "nginx-binary", "", "nginx program; default: the environment variable NGINX_BINARY, else nginx in PATH or /usr/sbin")
	flags.StringVar(&f.modules, "nginx-modules-dir", "", "folder of nginx' dynamic modules; default: where Debian and Ubuntu put them")
	flags.StringVar(&f.workerUser, "worker-user", "", "user that nginx' workers run as where the controller is root; default: www-data, nginx or nobody, whichever there is")
	flags.StringVar(&f.accessLog, "access-log", "-", "file for nginx' access log, - for standard output")
	return flags
}

func (f *controllerFlags) lifeFlags() *pflag.FlagSet {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.StringVar(&f.logFormat, "log-format", "text", "text or json")
	flags.IntVarP(&f.verbosity, "v", "v", 0, "verbosity; 2 and more log every detail, 4 and more also those of the Kubernetes client")
	flags.IntVar(&f.graceSeconds, "shutdown-grace-period", 0, "seconds between the stop signal, when readiness ends, and the stop")
	flags.IntVar(&f.afterSeconds, "post-shutdown-grace-period", 10, "seconds between the end of nginx and the end of the controller; none with --manifests")
	flags.BoolVar(&f.showVersion, "version", false, "check the other flags, print the version and exit")
	return flags
}

func newController() *cobra.Command {
	var f controllerFlags
	c := &cobra.Command{
		Use:   "controller",
		Short: "Run the ingress controller",
		Long: `Controller watches Ingresses and what they refer to, starts an nginx and keeps it in step with them.

Objects come from a Kubernetes API server (in a pod without further flags, else --kubeconfig or --apiserver-host) or, with
--manifests, from a folder of YAML files that is watched. Several controllers can run on one machine when each has its
own ports and its own --runtime-dir.

All flags of ingress-nginx are taken. Those that have no effect here are not listed below but in docs/flags.md, and each says so
in the log when it is given.

At SIGTERM or SIGINT health checks begin to fail, --shutdown-grace-period passes, nginx finishes its requests, and the controller ends with
status 0. A second signal ends it at once.`,
		Example: `  fairway controller --manifests examples/demo --http-port 8080 --https-port 8443 --watch-ingress-without-class
  fairway controller --kubeconfig ~/.kube/config --http-port 8080 --https-port 8443`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.check(c.Flags()); err != nil {
				return err
			}
			if f.showVersion {
				fmt.Fprintln(c.OutOrStdout(), "fairway", buildVersion())
				return nil
			}
			log := f.logger(c.ErrOrStderr())
			warnOfIgnoredFlags(c.Flags(), log)
			return f.run(c.Context(), c.InOrStdin(), log)
		},
	}
	for _, g := range f.groups() {
		c.Flags().AddFlagSet(g.flags)
	}
	return c
}

// check finds mistakes that flags make together.
func (f *controllerFlags) check(flags *pflag.FlagSet) error {
	fail := func(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }
	if err := cmp.Or(f.classFlags.check(), f.leaderFlags.check(), f.secretFlags.check(f.namespace)); err != nil {
		return err
	}
	if err := f.files.check(); err != nil {
		return usageError{err}
	}
	if err := f.maxmind.check(); err != nil {
		return err
	}
	if err := f.webhook.check(f.manifests); err != nil {
		return err
	}
	if err := f.metrics.check(); err != nil {
		return err
	}
	if err := f.kong.check(flags, f); err != nil {
		return err
	}
	if f.manifests != "" {
		for _, name := range []string{"kubeconfig", "apiserver-host"} {
			if flags.Changed(name) {
				return fail("--manifests and --%s exclude each other: objects come from files or from an API server", name)
			}
		}
	}
	if f.logFormat != "text" && f.logFormat != "json" {
		return fail("--log-format is %q; it can be text or json", f.logFormat)
	}
	if !strings.HasPrefix(f.healthPath, "/") || strings.ContainsAny(f.healthPath, "{} ") {
		return fail("--health-check-path is %q; it must begin with / and be a plain path", f.healthPath)
	}
	if f.healthPath == "/metrics" {
		return fail("--health-check-path is /metrics, where the metrics are; choose another")
	}
	if f.bind != "" && net.ParseIP(f.bind) == nil {
		return fail("--bind-address is %q; it must be an IP address", f.bind)
	}
	for name, seconds := range map[string]int{"shutdown-grace-period": f.graceSeconds, "post-shutdown-grace-period": f.afterSeconds} {
		if seconds < 0 {
			return fail("--%s is %d; it must be 0 or more seconds", name, seconds)
		}
	}
	return checkPorts(f.portFlags())
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
	if f.verbosity >= 4 {
		var flags flag.FlagSet
		klog.InitFlags(&flags)
		_ = flags.Set("v", strconv.Itoa(f.verbosity)) // a number always parses
	}
	return log
}

// run puts the parts together, runs them until a signal comes, and stops them in order.
func (f *controllerFlags) run(ctx context.Context, stdin io.Reader, log *slog.Logger) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	defer signal.Stop(signals)
	// Whoever reads our log may go away; that must not take the traffic down.
	signal.Ignore(syscall.SIGPIPE)

	if f.kong.chosen() {
		return f.runKong(ctx, cancel, signals, stdin, log)
	}
	if err := f.checkMachine(); err != nil {
		return err
	}
	options := f.options()
	options.Passthrough = f.passthrough
	options.ReservedPorts = f.reservedPorts()
	f.webhook.settle(&options)
	objects, err := f.source(ctx, stdin, log, &options)
	if err != nil {
		return err
	}
	accessLog, err := f.openAccessLog()
	if err != nil {
		return err
	}
	requests := f.metrics.wanted(log)
	driver, err := nginx.New(nginx.Options{
		Traffic: requests.Traffic(),
		Binary:  cmp.Or(f.nginx, os.Getenv("NGINX_BINARY")), ModulesDir: f.modules, RuntimeDir: f.runtimeDir, WorkerUser: f.workerUser, Address: f.bind,
		HTTPPort: f.httpPort, HTTPSPort: f.httpsPort, HealthPath: f.healthPath, Template: f.files.template, AccessLog: accessLog, ErrorLog: os.Stderr, Log: log.With("part", "nginx"),
	})
	if err != nil {
		return err
	}
	plane, err := f.dataPlane(driver, log)
	if err != nil {
		return err
	}
	streams := newStreams(f.bind, accessLog, log)
	plane = beside(plane, streams)
	f.files.start(ctx, driver, log)
	f.maxmind.start(ctx, f.files.editions, f.files.geoDir, log)
	checks := health.New(plane, health.Options{Log: log.With("part", "health"), AllowLocal: options.AllowLocalEndpoints})
	loop := &controller.Loop{
		Source: objects, Resolver: dns.New(dns.Options{Log: log}), Builder: ingress.NewBuilder(options),
		Driver:  ocsp.New(checks, ocsp.Options{Log: log.With("part", "ocsp"), AllowLocal: options.AllowLocalEndpoints}),
		Metrics: f.newMetrics(requests, driver, checks, log), Log: log,
	}
	loop.Metrics.Register(metrics.NewStreams(streams.Traffic))
	server := &controller.Server{Loop: loop, HealthPath: f.healthPath, Probe: probe(f.runtimeDir), Health: healthOf(checks, driver)}
	return f.operate(ctx, cancel, signals, server, options, log)
}

// operate runs the loop and what is around it until a signal comes, and stops them in order.
func (f *controllerFlags) operate(
	ctx context.Context, cancel context.CancelCauseFunc, signals <-chan os.Signal, server *controller.Server, options ingress.Options, log *slog.Logger,
) error {
	loop := server.Loop
	closeServers, err := f.serve(server, log)
	if err != nil {
		return err
	}
	defer closeServers()
	stopWebhook, err := f.webhook.start(ctx, &f.apiFlags, loop.Source, options, loop.Metrics, log)
	if err != nil {
		return err
	}
	defer stopWebhook()
	replica, err := newReplica(ctx, f, loop, log)
	if err != nil {
		return err
	}
	f.kong.lead(replica)
	replica.start(ctx)
	defer replica.stop()
	log.Info("fairway starts", "version", buildVersion(), "runtime-dir", f.runtimeDir)

	ended := make(chan error, 1)
	go func() { ended <- loop.Run(ctx) }()
	go loop.Metrics.Run(ctx)
	select {
	case err := <-ended:
		return err
	case <-signals:
	}
	go f.stopAtOnce(signals, log)
	log.Info("fairway stops", "grace", time.Duration(f.graceSeconds)*time.Second)
	server.Stop()
	time.Sleep(time.Duration(f.graceSeconds) * time.Second)
	stopWebhook()
	stopped := make(chan struct{})
	go func() { defer close(stopped); replica.stop() }() // while nginx finishes its requests
	cancel(nil)
	err = <-ended
	<-stopped
	if f.manifests == "" && !f.kong.chosen() {
		time.Sleep(time.Duration(f.afterSeconds) * time.Second)
	}
	return err
}

// sameSignal is how far apart two signals may be that are one: a shell or a launcher may signal both the process and its group.
const sameSignal = 500 * time.Millisecond

// stopAtOnce ends the program at the second signal, nginx with it.
func (f *controllerFlags) stopAtOnce(signals <-chan os.Signal, log *slog.Logger) {
	first := time.Now()
	for range signals {
		if time.Since(first) < sameSignal {
			continue
		}
		log.Warn("second signal: stopping at once")
		if pid := nginxPID(f.runtimeDir); pid != 0 {
			_ = syscall.Kill(pid, syscall.SIGTERM) // gone already: nothing to be done
		}
		os.Exit(1)
	}
}

// checkMachine finds what is in the way on this machine, before anything is touched.
func (f *controllerFlags) checkMachine() error {
	if err := checkUnused(f.runtimeDir); err != nil {
		return err
	}
	if nginxPID(f.runtimeDir) != 0 {
		return nil
	}
	for _, p := range []portFlag{{"http-port", f.bind, f.httpPort}, {"https-port", f.bind, f.httpsPort}} {
		if err := p.awaitFree(); err != nil {
			return err
		}
	}
	return nil
}

// probe asks a worker of nginx over the admin socket.
func probe(runtimeDir string) func(context.Context) error {
	client := push.NewClient(filepath.Join(runtimeDir, conf.AdminSocket))
	return func(ctx context.Context) error {
		_, err := client.Status(ctx)
		return err
	}
}

func (f *controllerFlags) source(ctx context.Context, stdin io.Reader, log *slog.Logger, options *ingress.Options) (controller.Source, error) {
	if f.manifests != "" {
		return manifests.Open(f.manifests, manifests.Options{Log: log, Stdin: stdin})
	}
	return f.apiFlags.source(ctx, log, options, f.publishService.Key)
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
func (f *controllerFlags) serve(server *controller.Server, log *slog.Logger) (func(), error) {
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
	health, err := portFlag{"healthz-port", f.healthzHost, f.healthzPort}.listen()
	if err != nil {
		return nil, err
	}
	start(health, server.Public())
	if f.profiling {
		// Profiles are an aid: without their port everything else still works.
		if listener, err := (portFlag{"profiler-port", f.profilerAddress.String(), f.profilerPort}).listen(); err != nil {
			log.Warn("Go profiles are not served", "err", err)
		} else {
			start(listener, profiles())
		}
	}
	private, err := listenPrivate(f.runtimeDir)
	if err != nil {
		closeAll()
		return nil, err
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
