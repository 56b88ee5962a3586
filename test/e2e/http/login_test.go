// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package http

import (
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// digestLogin is what a client makes a Digest header of (RFC 7616).
type digestLogin struct {
	user, realm, password string
	method, uri           string
	nonce, nc, cnonce     string
	qop, algorithm        string
}

func hexMD5(parts ...string) string {
	sum := md5.Sum([]byte(strings.Join(parts, ":")))
	return hex.EncodeToString(sum[:])
}

// header gives the Authorization header; each change is made after the response was computed.
func (d digestLogin) header(changes ...func(*digestLogin)) string {
	response := hexMD5(hexMD5(d.user, d.realm, d.password), d.nonce, d.nc, d.cnonce, d.qop, hexMD5(d.method, d.uri))
	for _, change := range changes {
		change(&d)
	}
	return fmt.Sprintf(`Digest username="%s", realm="%s", nonce="%s", uri="%s", cnonce="%s", nc=%s, qop=%s, response="%s", algorithm=%s`,
		d.user, d.realm, d.nonce, d.uri, d.cnonce, d.nc, d.qop, response, d.algorithm)
}

const digestHost = "digest.example"

// digestCluster has users alice and bob, with the passwords "secret" and "other".
func digestCluster() string {
	return fmt.Sprintf(`
{apiVersion: v1, kind: Secret, metadata: {name: users}, stringData: {auth: "alice:Staff only:%s\nbob:Staff only:%s\n"}}
`, hexMD5("alice", "Staff only", "secret"), hexMD5("bob", "Staff only", "other")) +
		rule("digest", digestHost, "/", "web", fmt.Sprintf(`%sauth-type: digest, %sauth-secret: users, %sauth-realm: "Staff only"`, prefix, prefix, prefix))
}

var nonceInChallenge = regexp.MustCompile(`^Digest realm="Staff only", qop="auth", nonce="([^"]+)", algorithm=MD5(, stale=true)?$`)

// askDigest sends a request, gives its answer, and the nonce of the challenge, if there is one, and whether it says stale.
func askDigest(t *testing.T, method, path, authorization string) (r *response, nonce string, stale bool) {
	t.Helper()
	request := &request{method: method, url: "http://" + digestHost + path, body: -1}
	if authorization != "" {
		request.header = []string{"Authorization: " + authorization}
	}
	r, err := request.send(shared)
	if err != nil {
		t.Fatal(err)
	}
	if challenge := r.header.Get("WWW-Authenticate"); challenge != "" {
		found := nonceInChallenge.FindStringSubmatch(challenge)
		if found == nil {
			t.Fatalf("challenge %q", challenge)
		}
		nonce, stale = found[1], found[2] != ""
	}
	return r, nonce, stale
}

// flip replaces a character by another.
func flip(text string, i int) string {
	other := "A"
	if text[i] == 'A' {
		other = "B"
	}
	return text[:i] + other + text[i+1:]
}

func TestDigestLogin(t *testing.T) {
	shared.apply(t, digestCluster(), "")
	const path = "/a%20b?c=d,e"
	_, nonce, stale := askDigest(t, "GET", path, "")
	if nonce == "" || stale {
		t.Fatal("the first answer is no fresh challenge")
	}
	login := digestLogin{
		user: "alice", realm: "Staff only", password: "secret", method: "GET", uri: path,
		nonce: nonce, nc: "00000001", cnonce: "0a4f113b", qop: "auth", algorithm: "MD5",
	}
	logged := len(shared.access.String())
	r, _, _ := askDigest(t, "GET", path, login.header())
	r.log = awaitLog(logged, " 200 ")
	if r.status != 200 || r.saw.Header.Get("Authorization") != "" || !strings.Contains(r.log, " - alice [") {
		t.Fatalf("login: %d, the backend saw %q, the log has %q", r.status, r.saw.Header.Get("Authorization"), r.log)
	}
	if r, again, stale := askDigest(t, "GET", path, login.header()); r.status != 401 || !stale || again == nonce {
		t.Errorf("replay: %d, stale %v", r.status, stale)
	}
	// Numbers may come in any order, as those of parallel requests do, but each only once.
	for nc, want := range map[string]int{"00000003": 200, "0000000a": 200, "00000002": 200, "00000001": 401} {
		login.nc = nc
		if r, _, _ := askDigest(t, "GET", path, login.header()); r.status != want {
			t.Errorf("nc %s: %d, want %d", nc, r.status, want)
		}
	}
	login.nc = "0000000A"
	if r, _, _ := askDigest(t, "GET", path, login.header()); r.status != 401 {
		t.Errorf("the same number in upper case: %d", r.status)
	}
	for range 10 { // whichever worker gets it
		_, login.nonce, _ = askDigest(t, "GET", path, "")
		if r, _, _ := askDigest(t, "GET", path, login.header()); r.status != 200 {
			t.Errorf("a nonce of maybe another worker: %d", r.status)
		}
	}
}

func TestDigestRefusals(t *testing.T) {
	shared.apply(t, digestCluster(), "")
	_, nonce, _ := askDigest(t, "GET", "/x", "")
	good := digestLogin{
		user: "alice", realm: "Staff only", password: "secret", method: "GET", uri: "/x",
		nonce: nonce, nc: "00000001", cnonce: "0a4f113b", qop: "auth", algorithm: "MD5",
	}
	for name, change := range map[string]func(*digestLogin){
		"wrong password":        func(d *digestLogin) { d.password = "other" },
		"empty password":        func(d *digestLogin) { d.password = "" },
		"unknown user":          func(d *digestLogin) { d.user = "carol" },
		"another's password":    func(d *digestLogin) { d.user = "bob" },
		"another method":        func(d *digestLogin) { d.method = "POST" },
		"another URI":           func(d *digestLogin) { d.uri = "/y" },
		"URI spelt differently": func(d *digestLogin) { d.uri = "/%78" },
		"another realm":         func(d *digestLogin) { d.realm = "Others" },
		"no qop":                func(d *digestLogin) { d.qop = "" },
		"auth-int":              func(d *digestLogin) { d.qop = "auth-int" },
		"another algorithm":     func(d *digestLogin) { d.algorithm = "MD5-sess" },
		"SHA-256":               func(d *digestLogin) { d.algorithm = "SHA-256" },
		"short number":          func(d *digestLogin) { d.nc = "1" },
		"number that is none":   func(d *digestLogin) { d.nc = "0000000g" },
		"no nonce":              func(d *digestLogin) { d.nonce = "" },
		"no cnonce":             func(d *digestLogin) { d.cnonce = "" },
	} {
		login := good
		change(&login)
		if r, _, stale := askDigest(t, "GET", "/x", login.header()); r.status != 401 || stale {
			t.Errorf("%s: %d, stale %v", name, r.status, stale)
		}
	}
	// The right password with a nonce that is not ours, or is old, need not be asked for again.
	for name, nonce := range map[string]string{
		"made up": "0123456789abcdef", "changed time": "00000000" + nonce[8:], "changed signature": flip(nonce, 30), "changed randomness": flip(nonce, 15), "longer": nonce + "A", "shorter": nonce[:20],
	} {
		login := good
		login.nonce = nonce
		if r, _, stale := askDigest(t, "GET", "/x", login.header()); r.status != 401 || !stale {
			t.Errorf("nonce %s: %d, stale %v", name, r.status, stale)
		}
		login.password = "wrong"
		if r, _, stale := askDigest(t, "GET", "/x", login.header()); r.status != 401 || stale {
			t.Errorf("nonce %s, wrong password: %d, stale %v", name, r.status, stale)
		}
	}
	for name, change := range map[string]func(*digestLogin){
		"nonce": func(d *digestLogin) { d.nonce = flip(d.nonce, 9) }, "nc": func(d *digestLogin) { d.nc = "00000002" },
		"cnonce": func(d *digestLogin) { d.cnonce = "b" }, "URI": func(d *digestLogin) { d.uri = "/" }, "user": func(d *digestLogin) { d.user = "bob" },
	} {
		if r, _, stale := askDigest(t, "GET", "/x", good.header(change)); r.status != 401 || stale {
			t.Errorf("%s changed behind the response: %d, stale %v", name, r.status, stale)
		}
	}
	for _, header := range []string{
		"Digest", "Digest ", "Digest x", "Digest =", `Digest username="alice`, "Digest " + strings.Repeat(",", 1000), "Digest " + strings.Repeat("a=b, ", 500),
		strings.Replace(good.header(), "nc=", "nc=00000002, nc=", 1), strings.Replace(good.header(), `"alice"`, `"al\ice"`, 1), good.header() + " x", "x" + good.header(),
		good.header() + `, username="bob"`, strings.Replace(good.header(), "Digest ", "Basic ", 1),
	} {
		if r, _, stale := askDigest(t, "GET", "/x", header); r.status != 401 || stale {
			t.Errorf("%.60s: %d, stale %v", header, r.status, stale)
		}
	}
	if r, _, _ := askDigest(t, "GET", "/x", good.header()); r.status != 200 {
		t.Errorf("after all that the number is still free: %d", r.status)
	}
}

// TestSlowLogins checks that wrong passwords with a slow hash do not keep nginx from its other work, nor do clients that do not wait for the answer.
func TestSlowLogins(t *testing.T) {
	const cost12 = "$2y$12$abcdefghijklmnopqrstuuT1Iwu6o8Wx7BoOyIMHfgVJq6JO/IJhW" // of "secret"
	shared.apply(t, "{apiVersion: v1, kind: Secret, metadata: {name: users}, stringData: {auth: \"alice:"+cost12+"\"}}\n"+
		rule("slow", "slow.example", "/", "web", fmt.Sprintf("%sauth-type: basic, %sauth-secret: users", prefix, prefix))+
		rule("open", "open.example", "/", "web", ""), "")
	var clients sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	for i := range 16 {
		clients.Go(func() {
			r := &request{method: "GET", url: "http://slow.example/", body: -1}
			r.header = []string{"Authorization: Basic " + basic("alice", fmt.Sprintf("wrong%d", i))}
			if i%4 == 0 {
				leave(r)
				return
			}
			answer, err := r.send(shared)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			statuses[answer.status]++
			mu.Unlock()
		})
	}
	time.Sleep(50 * time.Millisecond)
	for range 20 {
		began := time.Now()
		r, err := (&request{method: "GET", url: "http://open.example/", body: -1}).send(shared)
		if err != nil || r.status != 200 {
			t.Fatalf("%+v, %v", r, err)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("another request took %s", took)
		}
	}
	clients.Wait()
	if statuses[401] != 12 {
		t.Errorf("statuses %v", statuses)
	}
	r := &request{method: "GET", url: "http://slow.example/", body: -1, header: []string{"Authorization: Basic " + basic("alice", "secret")}}
	if answer, err := r.send(shared); err != nil || answer.status != 200 {
		t.Errorf("the right password: %+v, %v", answer, err)
	}
}

func basic(name, password string) string {
	return base64.StdEncoding.EncodeToString([]byte(name + ":" + password))
}

// leave sends a request and closes the connection without waiting.
func leave(r *request) {
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", shared.httpPort))
	if err != nil {
		return
	}
	_, _ = conn.Write(r.bytes("slow.example", "/"))
	time.Sleep(20 * time.Millisecond)
	conn.Close()
}
