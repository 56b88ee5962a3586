// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package http

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// ffdhe2048 are parameters that everybody may use (RFC 7919).
const ffdhe2048 = `-----BEGIN DH PARAMETERS-----
MIIBCAKCAQEA//////////+t+FRYortKmq/cViAnPTzx2LnFg84tNpWp4TZBFGQz
+8yTnc4kmz75fS/jY2MMddj2gbICrsRhetPfHtXV/WVhJDP1H18GbtCFY2VVPe0a
87VXE15/V8k1mE8McODmi3fipona8+/och3xWKE2rec1MKzKT0g6eXq8CrGCsyT7
YdEIqUuyyOP7uWrat2DX9GgdT0Kj3jlN9K5W7edjcrsZCwenyO4KbXCeAvzhzffi
7MA0BM0oNC9hkXL+nOmFg/+OTxIy7vKBg8P+OxtMb61zO7X8vC7CIAXFjvGDfRaD
ssbzSibBsu/6iGtCOGEoXJf//////////wIBAg==
-----END DH PARAMETERS-----
`

// TestDHParams checks that the ciphers that need parameters of the key exchange are there with them alone. Go's client has no such ciphers.
func TestDHParams(t *testing.T) {
	program, err := exec.LookPath("openssl")
	if err != nil {
		t.Skip("there is no openssl to do such a handshake with")
	}
	handshake := func() bool {
		t.Helper()
		command := exec.Command(program, "s_client", "-connect", fmt.Sprintf("127.0.0.1:%d", shared.httpsPort), "-servername", "session.example", "-tls1_2",
			"-cipher", "DHE-RSA-AES128-GCM-SHA256")
		out, _ := command.CombinedOutput()
		return strings.Contains(string(out), "Cipher is DHE-RSA-AES128-GCM-SHA256")
	}
	cluster := sessionHost + "\n" + secretOf("dh", map[string][]byte{"dhparam.pem": []byte(ffdhe2048)}) +
		secretOf("short", map[string][]byte{"dhparam.pem": []byte("-----BEGIN DH PARAMETERS-----\nMAYCAQcCAQI=\n-----END DH PARAMETERS-----\n")})
	for _, c := range []struct {
		settings, problem string
		want              bool
	}{
		{"", "", false},
		{`ssl-dh-param: "default/dh"`, "", true},
		{`ssl-dh-param: "default/short"`, "dhparam.pem of Secret default/short has parameters of 3 bits", false},
		{`ssl-dh-param: "default/missing"`, "there is no Secret default/missing", false},
		{`ssl-dh-param: "dh"`, "is not namespace/name of a Secret", false},
	} {
		shared.apply(t, cluster, c.settings)
		if got := handshake(); got != c.want {
			t.Errorf("with %q the handshake succeeds: %v", c.settings, got)
		}
		if got := shared.problemLines(); !strings.Contains(got, c.problem) || c.problem == "" && got != "" {
			t.Errorf("with %q the problems are %q", c.settings, got)
		}
	}
}
