// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package http

import (
	"context"
	"crypto/tls"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gorilla/websocket"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/fairway-ingress/fairway/internal/metrics"
	"github.com/fairway-ingress/fairway/internal/model"
)

// counting starts an nginx of its own that counts requests, with the shared backends.
func counting(t *testing.T, options *metrics.RequestOptions, cluster string) *stage {
	t.Helper()
	s := &stage{dir: t.TempDir(), pki: shared.pki, backends: shared.backends, refused: map[string]string{}, stopped: make(chan error, 1)}
	for dir := s.dir; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o711); err != nil { // nginx' workers pass through
			t.Fatal(err)
		}
	}
	if err := s.start(options.Traffic()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.stop()
		if err := <-s.stopped; err != nil {
			t.Error(err)
		}
	})
	s.apply(t, cluster, "")
	return s
}

// short prints labels as "host namespace/ingress service path method status canary", with "-" for what is empty.
func short(l model.TrafficLabels) string {
	words := []string{l.Host, l.Namespace + "/" + l.Ingress, l.Service, l.Path, l.Method, l.Status, l.Canary}
	for i, w := range words {
		if w == "" || w == "/" && i == 1 {
			words[i] = "-"
		}
	}
	return strings.Join(words, " ")
}

// counted fetches until so many requests were counted, and a little longer in case there are more.
func (s *stage) counted(t *testing.T, requests int) []model.Traffic {
	t.Helper()
	var all []model.Traffic
	total := 0
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		sets, err := s.driver.Traffic(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, set := range sets {
			total += int(set.Requests)
		}
		all = append(all, sets...)
		if total >= requests {
			deadline = time.Now() // what is counted by mistake was sent before
		}
	}
	return all
}

func byLabels(sets []model.Traffic) map[string]int {
	counts := map[string]int{}
	for _, set := range sets {
		counts[short(set.TrafficLabels)] += int(set.Requests)
	}
	return counts
}

func (s *stage) get(t *testing.T, method, url string, header ...string) *response {
	t.Helper()
	r := &request{method: method, url: url, header: header, body: -1}
	answer, err := r.send(s)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", method, url, err, s.errors.String())
	}
	return answer
}

func (s *stage) webSocket(t *testing.T, url string) *websocket.Conn {
	t.Helper()
	dialer := websocket.Dialer{NetDialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, fmt.Sprintf("127.0.0.1:%d", s.httpPort))
	}}
	conn, _, err := dialer.Dial(url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

func (s *stage) checkGRPC(t *testing.T, host string) {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///"+host, grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{InsecureSkipVerify: true})),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", s.httpsPort))
		}))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{}); err != nil {
		t.Fatal(err)
	}
}

// countedCluster has a route of each kind that labels tell apart.
func countedCluster() string {
	return rule("app", "a.example", "/app", "web", prefix+`server-alias: "alias.example"`) +
		rule("canary", "a.example", "/app", "green", prefix+`canary: "true", `+prefix+`canary-by-header: X-Canary`) +
		rule("wild", "*.wild.example", "/", "blue", "") +
		rule("guarded", "guarded.example", "/", "web", prefix+`whitelist-source-range: "10.0.0.0/8", `+prefix+`force-ssl-redirect: "true"`) +
		rule("ghost", "ghost.example", "/", "ghost", "") +
		rule("calls", "calls.example", "/", "grpc", prefix+"backend-protocol: GRPC") +
		rule("small", "small.example", "/", "web", prefix+"proxy-body-size: 1k") +
		rule("chat", "chat.example", "/", "web", "")
}

func TestTrafficLabels(t *testing.T) {
	s := counting(t, metrics.DefaultRequestOptions(), countedCluster())
	s.get(t, "GET", "http://a.example/app/x?y=z")
	s.get(t, "GET", "http://a.example/app")
	s.get(t, "POST", "http://a.example/app?status=418")
	s.get(t, "BREW", "http://a.example/app")
	s.get(t, "GET", "http://A.EXAMPLE/app", "X-Canary: always")
	s.get(t, "GET", "http://alias.example/app")
	s.get(t, "GET", "http://a.example/other")
	s.get(t, "GET", "http://any.wild.example/")
	s.get(t, "GET", "http://guarded.example/")
	s.get(t, "GET", "https://guarded.example/")
	s.get(t, "GET", "http://ghost.example/")
	s.get(t, "GET", "http://unknown.example/")
	s.get(t, "GET", "http://unknown.example/healthz")
	s.get(t, "GET", "http://a.example/app", "Host: -")
	s.checkGRPC(t, "calls.example")
	s.webSocket(t, "ws://chat.example/").Close()
	large := &request{method: "PUT", url: "http://small.example/", body: 2000}
	if _, err := large.send(s); err != nil {
		t.Fatal(err)
	}
	huge := &request{method: "PUT", url: "http://small.example/", body: 2 << 20}
	if _, err := huge.send(s); err != nil {
		t.Fatal(err)
	}
	want := map[string]int{
		"a.example default/app web /app GET 200 -":                2,
		"a.example default/app web /app POST 418 -":               1,
		"a.example default/app web /app _other 200 -":             1,
		"a.example default/app web /app GET 200 default-green-80": 1,
		"alias.example default/app web /app GET 200 -":            1,
		"a.example default/app - / GET 404 -":                     1,
		"*.wild.example default/wild blue / GET 200 -":            1,
		"guarded.example default/guarded web / GET 308 -":         1,
		"guarded.example default/guarded web / GET 403 -":         1,
		"ghost.example default/ghost ghost / GET 503 -":           1,
		"calls.example default/calls grpc / POST 200 -":           1,
		"chat.example default/chat web / GET 101 -":               1,
		"small.example default/small web / PUT 413 -":             2,
	}
	if diff := cmp.Diff(want, byLabels(s.counted(t, 15))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestTrafficOptions(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*metrics.RequestOptions)
		want   map[string]int
	}{
		"without hosts, with classes": {
			func(o *metrics.RequestOptions) { o.PerHost, o.StatusClasses = false, true },
			map[string]int{"- default/app web /app GET 2xx -": 2, "- - - / GET 4xx -": 2},
		},
		"undefined hosts": {
			func(o *metrics.RequestOptions) { o.PerUndefinedHost = true },
			map[string]int{"a.example default/app web /app GET 200 -": 1, "alias.example default/app web /app GET 200 -": 1, "_ - - / GET 404 -": 2},
		},
	} {
		t.Run(name, func(t *testing.T) {
			options := metrics.DefaultRequestOptions()
			c.change(options)
			s := counting(t, options, countedCluster())
			for _, url := range []string{"http://a.example/app", "http://alias.example/app", "http://one.example/", "http://two.example/x"} {
				s.get(t, "GET", url)
			}
			if diff := cmp.Diff(c.want, byLabels(s.counted(t, 4))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestTrafficMeasures(t *testing.T) {
	options := metrics.DefaultRequestOptions()
	options.TimeBuckets, options.SizeBuckets, options.LengthBuckets = []float64{.2, 30}, []float64{1000, 100000}, []float64{50, 1e6}
	options.Exclude = []string{"header_duration_seconds", "nginx_ingress_controller_request_size"}
	options.BucketFactor = 1.1
	dead := `---
apiVersion: v1
kind: Service
metadata: {name: half}
spec: {ports: [{port: 80}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: half, labels: {kubernetes.io/service-name: half}}
addressType: IPv4
ports: [{port: 1}]
endpoints: [{addresses: [127.0.0.1]}, {addresses: [127.0.0.2]}]
` + rule("half", "half.example", "/", "half", "")
	s := counting(t, options, countedCluster()+dead)
	s.get(t, "GET", "http://a.example/app?size=5000")
	s.get(t, "GET", "http://a.example/app?delay=300ms&size=5000")
	s.get(t, "GET", "http://half.example/")
	sets := map[string]model.Traffic{}
	for _, set := range s.counted(t, 3) {
		before := sets[set.Ingress]
		for m := range set.Measures {
			d := &set.Measures[m]
			d.Sum += before.Measures[m].Sum
			for i := range before.Measures[m].Counts {
				d.Counts[i] += before.Measures[m].Counts[i]
			}
			values := map[float64]uint64{}
			maps.Copy(values, d.Values)
			for v, n := range before.Measures[m].Values {
				values[v] += n
			}
			d.Values = values
		}
		sets[set.Ingress] = set
	}
	app, half := sets["app"], sets["half"]
	expect := func(what string, m model.Measure, set model.Traffic, counts ...uint64) {
		t.Helper()
		if diff := cmp.Diff(counts, set.Measures[m].Counts); diff != "" {
			t.Errorf("%s (-want +got)\n%s", what, diff)
		}
	}
	expect("request durations", model.RequestDuration, app, 1, 1, 0)
	expect("response durations", model.ResponseDuration, app, 1, 1, 0)
	expect("connect durations", model.ConnectDuration, app, 2, 0, 0)
	expect("response sizes", model.ResponseSize, app, 0, 2, 0)
	expect("bytes sent", model.BytesSent, app, 0, 2, 0)
	expect("an excluded measure", model.HeaderDuration, app)
	expect("another excluded measure", model.RequestSize, app)
	expect("a request that was tried twice", model.ResponseDuration, half, 0, 0, 0)
	expect("the duration of such a request", model.RequestDuration, half, 1, 0, 0)
	if sum := app.Measures[model.RequestDuration].Sum; sum < .3 || sum > 30 {
		t.Errorf("durations add up to %g s", sum)
	}
	sizes := app.Measures[model.ResponseSize]
	var sum float64
	for value, n := range sizes.Values {
		sum += value * float64(n)
	}
	if sizes.Sum < 10000 || sum != sizes.Sum {
		t.Errorf("sizes add up to %g, and by value to %g: %v", sizes.Sum, sum, sizes.Values)
	}
}

// TestTrafficOfOldWorkers counts requests that end in a worker which has been replaced.
func TestTrafficOfOldWorkers(t *testing.T) {
	s := counting(t, metrics.DefaultRequestOptions(), countedCluster())
	conn := s.webSocket(t, "ws://chat.example/")
	reloads := s.reloads
	s.apply(t, countedCluster()+rule("other", "other.example", "/", "web", prefix+"proxy-body-size: 7m"), "")
	if s.reloads == reloads {
		t.Fatal("there was no reload")
	}
	time.Sleep(1500 * time.Millisecond) // the old worker's timers have run for the last time
	conn.Close()
	if diff := cmp.Diff(map[string]int{"chat.example default/chat web / GET 101 -": 1}, byLabels(s.counted(t, 1))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestNothingIsCounted looks for traces of counting where it is off.
func TestNothingIsCounted(t *testing.T) {
	shared.apply(t, countedCluster(), "")
	text, err := os.ReadFile(filepath.Join(shared.dir, "nginx.conf"))
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"log_by_lua", "fairway_traffic", "exit_worker"} {
		if strings.Contains(string(text), word) {
			t.Errorf("nginx.conf has %s without metrics", word)
		}
	}
}
