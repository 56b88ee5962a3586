// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package l4

import (
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/fairway-ingress/fairway/test/freeport"
)

// TestLog follows the log through sessions of TCP and UDP, of other endings, and through changes of the settings.
func TestLog(t *testing.T) {
	tcp, dead, udp, other := freeport.Take(t), freeport.Take(t), freeport.Take(t), freeport.Take(t)
	file := filepath.Join(t.TempDir(), "stream.log")
	o := to(tcp, server(t, "127.0.0.1:0", echo))
	o.tcp[dead] = "default/none:1000"
	o.services["none"] = nil
	o.udp = map[int]string{udp: "default/names:1000"}
	o.datagrams = map[string][]netip.AddrPort{"names": {startUDP(t, "127.0.0.1:0", answers("a", 1)).address()}}
	o.settings["stream-access-log-path"] = file
	c := start(t, o)

	content := func() string {
		text, _ := os.ReadFile(file)
		return string(text)
	}
	logged := func(pattern string) {
		t.Helper()
		c.Eventually("a line like "+pattern, func() bool { return regexp.MustCompile("(?m)^" + pattern + "$").MatchString(content()) })
	}
	ask := func() {
		t.Helper()
		client := connect(t, tcp)
		if err := client.ask("hello"); err != nil {
			t.Fatal(err)
		}
		client.Close()
	}
	const when = `\[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d [-+]\d{4}\]`
	ask()
	logged(`\[127\.0\.0\.1\] ` + when + ` TCP 200 6 6 \d+\.\d{3}`)
	if got := name(dead); got != "" {
		t.Errorf("no endpoint says %q", got)
	}
	logged(`\[127\.0\.0\.1\] ` + when + ` TCP 502 0 0 \d+\.\d{3}`)
	client := dialUDP(t, "127.0.0.1", udp)
	client.eventuallyAsk("xyz")
	logged(`\[127\.0\.0\.1\] ` + when + ` UDP 200 5 3 \d+\.\d{3}`)

	o.settings["log-format-stream"] = "$proxy_upstream_name $upstream_addr $ssl_protocol $server_port $no_such"
	c.apply(o)
	c.Eventually("the problem", func() bool { return strings.Contains(c.Get("problems"), "$no_such") })
	ask()
	logged(`tcp-default-one-1000 127\.0\.0\.1:\d+ - \d+ -`)

	if err := os.Rename(file, file+".1"); err != nil {
		t.Fatal(err)
	}
	ask()
	logged(`tcp-default-one-1000 .*`)

	// Another port opens and closes with the settings, and so tells when they are in force.
	o.settings["disable-stream-access-log"], o.settings["log-format-stream"] = "true", "off"
	o.tcp[other] = "default/one:1000"
	c.apply(o)
	c.Eventually("the other port is open", func() bool { return !refused(other) })
	ask()
	delete(o.settings, "disable-stream-access-log")
	o.settings["log-format-stream"] = "last"
	delete(o.tcp, other)
	c.apply(o)
	c.Eventually("the other port is closed", func() bool { return refused(other) })
	ask()
	logged("last")
	if strings.Contains(content(), "off") {
		t.Errorf("logged while the log was off:\n%s", content())
	}
}
