// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package http

import (
	"crypto/tls"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
)

// TestCases runs testdata/*/*.txtar.
//
// requests.txt is a list of requests, each with lines that begin with ">" for what is sent and "<" for what must come back.
//
//	GET http://a.example/path?query      the URL's host is the Host header; the connection goes to nginx
//	> Name: value                        a request header; "Host:" replaces the Host header, "Host: -" sends none (HTTP/1.0)
//	> body 100                           a body of that many bytes with Content-Length; "chunked 100" without
//	> times 20                           that many requests, each of which must satisfy the lines below
//	> until                              again and again until all lines below are satisfied, for a minute at most
//	> jar                                the cookies that earlier requests of the case were given
//	> sni name                           TLS server name, when it is not the URL's host; "-" for none
//	> meanwhile                          what follows goes on as soon as a backend has the request; its answer is looked at in the end
//	> show alice                         the client certificate to show; the names are those of pki
//	> ciphers NAME NAME                  TLS 1.2 with these ciphers only, in Go's names
//	> tls 1.2                            the highest version of TLS
//	> curves X25519 P-256                the groups of the key exchange
//	> session                            resumes the session that an earlier request of the case with this line was given, if there is one
//	> proxy 2 192.0.2.7 10.0.0.1:443     a PROXY header of version 1 or 2 first: the client's address, and where it connected to
//	> from 127.0.0.9                     the address that the connection comes from
//	< 200                                status
//	< backend web                        the server that answered; "same" for the one that answered before, "other" for another
//	< backends web blue                  with times: exactly these answered; "web=10" demands a number, "web~50" that many give or take a third,
//	                                     "web<9" fewer or none; a number alone demands so many different ones;
//	                                     "none" stands for answers of no backend
//	< path /x?y                          the request target that the backend saw
//	< method, host, proto TEXT           what else the backend saw
//	< bytes 100                          length of the body that the backend saw
//	< size 100                           length of the response body
//	< tries 2                            how many endpoints were asked, by the default log line
//	< got Name: value                    a header that the backend saw; no value: it saw none
//	< header Name: value                 a response header; no value: there is none; "..." at its end stands for the rest
//	< cookie NAME: Path=/; HttpOnly      the attributes of a cookie that is set, Expires as "+N" seconds from now; none: it is not set
//	< body TEXT                          the response body contains it
//	< lacks TEXT                         neither headers nor body of the response contain it
//	< log TEXT                           the access log line of the request contains it; "log none" demands that there is no line
//	< errors TEXT                        the error log, since the request began, contains it; "errors without TEXT" demands that it does not
//	< copy green POST host /x?y 100      a backend got this besides: name, method, Host, request target and length of the body; "copy none" demands that none did
//	< continued true                     whether 100 Continue came before the answer
//	< tls TEXT                           what the backend saw of TLS contains it: "TLS 1.2 CIPHER sni=NAME certificate=NAME"
//	< cipher NAME                        the cipher of the client's connection; "none" when the handshake failed
//	< certificate 7                      serial number of the certificate that was shown
//	< resumed true                       whether the TLS session was resumed
//	< record over 5000                   the longest TLS record that came is longer; "under 5000"
//	< refused                            the handshake failed, or the connection was closed without an answer
//	< after 1s, within 2s                how long the answer took at least, at most
//
// ${web.ip} and ${web.port} are where the backend web is, ${self.http} and ${self.https} nginx' own ports, ${once} is another number in each run of a case: counters outlive cases.
// Certificates are ${clients.ca} and the like, see pki.expand.
//
// Between requests, "apply FILE" brings other manifests into force, "settings FILE" other settings, those of "-" are none, "problem TEXT" demands that a Problem of the last change
// contains it, and "problem none" that there is none, "mood NAME WORD" changes how a backend of moods behaves, "wait 1s" waits, "await" waits for the requests that were sent meanwhile, and "reloads N" demands that so many reloads
// happened since the case's first state.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(strings.TrimPrefix(file, "testdata/"), ".txtar"), func(t *testing.T) { runCase(t, file) })
	}
}

func runCase(t *testing.T, path string) {
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(strings.TrimSpace(string(archive.Comment))) == 0 {
		t.Fatal("the case does not say why it exists")
	}
	fsys, err := txtar.FS(archive)
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string) string {
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return ""
		}
		return string(text)
	}
	shared.cases++
	shared.sessions = tls.NewLRUClientSessionCache(8)
	shared.inForce = nil
	steps, err := parseScript(shared.expand(read("requests.txt")))
	if err != nil {
		t.Fatal(err)
	}
	if read("cluster.yaml") == "" || len(steps) == 0 {
		t.Fatal("the case needs cluster.yaml and requests.txt")
	}
	resetMoods(t)
	cluster, settings := read("cluster.yaml"), read("settings.yaml")
	shared.apply(t, cluster, settings)
	reloads := shared.reloads
	client := &client{jar: map[string]string{}}
	var pending []func()
	await := func() {
		for _, finish := range pending {
			finish()
		}
		pending = nil
	}
	defer await()
	for _, step := range steps {
		switch {
		case step.await:
			await()
		case step.wait > 0:
			time.Sleep(step.wait)
		case step.mood != nil:
			moods[step.mood[0]].set(t, step.mood[1])
		case step.apply != "":
			cluster = read(step.apply)
			shared.apply(t, cluster, settings)
		case step.settings != "":
			settings = read(step.settings)
			shared.apply(t, cluster, settings)
		case step.problem != "":
			if got := shared.problemLines(); !strings.Contains(got, step.problem) && (step.problem != "none" || got != "") {
				t.Errorf("line %d: problems lack %q:\n%s", step.line, step.problem, got)
			}
		case step.request == nil:
			if got := shared.reloads - reloads; got != step.reloads {
				t.Errorf("line %d: %d reloads, want %d", step.line, got, step.reloads)
			}
		case step.request.meanwhile:
			pending = append(pending, step.begin(t))
		default:
			step.run(t, client)
		}
	}
}

// step is one request with its expectations, or another command.
type step struct {
	line  int
	apply string
	// settings is a file, problem what one must contain.
	settings, problem string

	await   bool
	wait    time.Duration
	mood    []string // name and word
	reloads int
	request *request
	expect  []expectation
}

type expectation struct {
	line       int
	verb, text string
}

func parseScript(text string) ([]*step, error) {
	var steps []*step
	for i, line := range strings.Split(text, "\n") {
		number := i + 1
		line = strings.TrimSpace(line)
		word, rest, _ := strings.Cut(line, " ")
		rest = strings.TrimSpace(rest)
		switch {
		case line == "" || line[0] == '#':
		case word == "apply":
			steps = append(steps, &step{line: number, apply: rest})
		case word == "settings":
			steps = append(steps, &step{line: number, settings: rest})
		case word == "problem":
			steps = append(steps, &step{line: number, problem: rest})
		case word == "mood":
			steps = append(steps, &step{line: number, mood: strings.Fields(rest)})
		case word == "await":
			steps = append(steps, &step{line: number, await: true})
		case word == "wait":
			d, err := time.ParseDuration(rest)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", number, err)
			}
			steps = append(steps, &step{line: number, wait: d})
		case word == "reloads":
			n, err := strconv.Atoi(rest)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", number, err)
			}
			steps = append(steps, &step{line: number, reloads: n})
		case word == ">" && len(steps) > 0:
			if err := steps[len(steps)-1].request.option(rest); err != nil {
				return nil, fmt.Errorf("line %d: %w", number, err)
			}
		case word == "<" && len(steps) > 0:
			verb, text, _ := strings.Cut(rest, " ")
			s := steps[len(steps)-1]
			s.expect = append(s.expect, expectation{number, verb, strings.TrimSpace(text)})
		default:
			r, err := newRequest(word, rest)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", number, err)
			}
			steps = append(steps, &step{line: number, request: r})
		}
	}
	for _, s := range steps {
		if s.request != nil && len(s.expect) == 0 {
			return nil, fmt.Errorf("line %d: the request expects nothing", s.line)
		}
	}
	return steps, nil
}

// client is what the requests of a case have in common.
type client struct {
	jar  map[string]string // cookies by name, whatever their attributes
	last string            // the backend that answered last
}

// send sends a request with the cookies that it wants, and keeps those that it gets.
func (c *client) send(r *request) (*response, error) {
	filled := *r
	if r.jar {
		var pairs []string
		for _, name := range slices.Sorted(maps.Keys(c.jar)) {
			pairs = append(pairs, name+"="+c.jar[name])
		}
		filled.header = append(slices.Clone(r.header), "Cookie: "+strings.Join(pairs, "; "))
	}
	answer, err := filled.send(shared)
	if err != nil {
		return nil, err
	}
	answer.before, c.last = c.last, answer.saw.Backend
	for _, cookie := range (&http.Response{Header: answer.header}).Cookies() {
		c.jar[cookie.Name] = cookie.Value
	}
	return answer, nil
}

func (s *step) run(t *testing.T, client *client) {
	t.Helper()
	deadline := time.Now().Add(patience)
	problem := s.try(client)
	for s.request.until && problem != "" && time.Now().Before(deadline) {
		time.Sleep(50 * time.Millisecond)
		problem = s.try(client)
	}
	if problem != "" {
		t.Error(problem)
	}
}

// patience is how long a request with the line "until" is repeated.
const patience = 60 * time.Second

// try sends the request as often as it asks for, and says what is wrong with the answers.
func (s *step) try(client *client) string {
	answered := map[string]int{}
	for range s.request.times {
		logged, complained, arrived := len(shared.access.String()), len(shared.errors.String()), len(arrivals.since(0))
		r, err := client.send(s.request)
		if err != nil && s.refused() {
			continue
		}
		if err != nil {
			return fmt.Sprintf("line %d: %s %s: %v", s.line, s.request.method, s.request.url, err)
		}
		answered[r.saw.Backend]++
		for _, e := range s.expect {
			if e.verb == "backends" {
				continue
			}
			switch e.verb {
			case "log":
				r.log = awaitLog(logged, e.text)
			case "tries":
				r.log = awaitLog(logged, "")
			case "copy":
				r.copies = awaitCopies(arrived, r.saw.Backend, e.text)
			case "errors":
				r.errors = awaitErrors(complained, e.text)
			}
			if problem := e.check(r); problem != "" {
				return fmt.Sprintf("line %d: %s %s: %s\nanswer: %d %v\n%.600s", e.line, s.request.method, s.request.url, problem, r.status, r.header, r.body)
			}
		}
	}
	for _, e := range s.expect {
		if e.verb == "backends" {
			if problem := checkCounts(answered, e.text); problem != "" {
				return fmt.Sprintf("line %d: %s %s: %s", e.line, s.request.method, s.request.url, problem)
			}
		}
	}
	return ""
}

// refused tells whether there is to be no answer.
func (s *step) refused() bool { return len(s.expect) == 1 && s.expect[0].verb == "refused" }

// begin sends the request and returns when a backend has it. The result waits for the answer and looks at it.
func (s *step) begin(t *testing.T) (finish func()) {
	t.Helper()
	before := arrivals.count()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.run(t, &client{jar: map[string]string{}})
	}()
	for deadline := time.Now().Add(5 * time.Second); arrivals.count() == before && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	return func() { <-done }
}

// awaitLog gives what nginx has logged after an offset. A line is written just after the response, and one of an earlier request may come
// in between; for one that must not come the wait is short, as nginx writes within the same turn of its event loop.
func awaitLog(offset int, want string) string {
	if want == "none" {
		time.Sleep(20 * time.Millisecond)
		return shared.access.String()[offset:]
	}
	text := ""
	for deadline := time.Now().Add(2 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if text = shared.access.String()[offset:]; strings.HasSuffix(text, "\n") && strings.Contains(text, want) {
			break
		}
	}
	return text
}

// awaitErrors gives what the error log has got after an offset, once that contains the text, if it is to.
func awaitErrors(offset int, text string) string {
	if strings.HasPrefix(text, "without ") {
		time.Sleep(20 * time.Millisecond)
		return shared.errors.String()[offset:]
	}
	for deadline := time.Now().Add(2 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if got := shared.errors.String()[offset:]; strings.Contains(got, text) {
			return got
		}
	}
	return ""
}

// awaitCopies gives what backends got after the first n requests, each as a line, but for the one that was answered by the backend named. A copy arrives
// before or after its request is answered; for one that must not come the wait is short.
func awaitCopies(n int, answered, want string) string {
	patience := 3 * time.Second
	if want == "none" {
		patience = 100 * time.Millisecond
	}
	var lines []string
	for deadline := time.Now().Add(patience); len(lines) == 0 && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		for _, s := range arrivals.since(n) {
			if s.Backend != answered {
				lines = append(lines, fmt.Sprintf("%s %s %s %s %d", s.Backend, s.Method, s.Host, s.URI, s.Bytes))
			}
		}
	}
	return strings.Join(lines, "\n")
}

// checkCounts compares which backends answered how often with "web", "web=10", "web~50", "web<9", or how many did with "3".
func checkCounts(answered map[string]int, want string) string {
	if different, err := strconv.Atoi(want); err == nil {
		if len(answered) != different {
			return fmt.Sprintf("answers %v, want %s different", answered, want)
		}
		return ""
	}
	wanted := map[string]bool{}
	for _, word := range strings.Fields(want) {
		end := strings.IndexAny(word, "=~<")
		if end < 0 {
			wanted[strings.TrimPrefix(word, "none")] = true
			continue
		}
		name := word[:end]
		if name == "none" {
			name = ""
		}
		wanted[name] = true
		n, _ := strconv.Atoi(word[end+1:])
		if word[end] == '<' && answered[name] == 0 {
			delete(wanted, name)
		}
		if word[end] == '<' && answered[name] >= n || word[end] == '=' && answered[name] != n || word[end] == '~' && (answered[name]*3 < n*2 || answered[name]*3 > n*4) {
			return fmt.Sprintf("answers %v, want %s", answered, want)
		}
	}
	got := slices.Sorted(maps.Keys(answered))
	if !slices.Equal(got, slices.Sorted(maps.Keys(wanted))) {
		return fmt.Sprintf("answers %v, want %s", answered, want)
	}
	return ""
}
