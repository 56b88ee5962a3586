// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestArguments(t *testing.T) {
	for given, want := range map[string]string{
		"fairway":                                            "",
		"/usr/local/bin/fairway check -f x":                  "check -f x",
		"fairway controller --v=2":                           "controller --v=2",
		"/nginx-ingress-controller --v=2":                    "controller --v=2",
		"nginx-ingress-controller":                           "controller",
		"fairway controller /nginx-ingress-controller --v=2": "controller --v=2",
		"fairway controller nginx-ingress-controller":        "controller",
		"fairway check /nginx-ingress-controller":            "check /nginx-ingress-controller",
	} {
		if got := strings.Join(arguments(strings.Fields(given)), " "); got != want {
			t.Errorf("%s: %q, want %q", given, got, want)
		}
	}
}

// TestPredecessorsName starts the program through a link of the predecessor's name, as its image has it, with arguments of its chart.
func TestPredecessorsName(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), predecessorsProgram)
	if err := os.Symlink(self, link); err != nil {
		t.Fatal(err)
	}
	flags := strings.Fields("--publish-service=ingress-nginx/ingress-nginx-controller --election-id=ingress-nginx-leader --controller-class=k8s.io/ingress-nginx" +
		" --ingress-class=nginx --configmap=ingress-nginx/ingress-nginx-controller --validating-webhook=:8443" +
		" --validating-webhook-certificate=/usr/local/certificates/cert --validating-webhook-key=/usr/local/certificates/key")
	c := exec.Command(link, append(flags, "--version")...)
	c.Env = append(os.Environ(), asFairway+"=1")
	if out, err := c.CombinedOutput(); err != nil || !bytes.HasPrefix(out, []byte("fairway ")) {
		t.Errorf("%v: %s", err, out)
	}
	c = exec.Command(link, append(flags, "--no-such-flag")...)
	c.Env = append(os.Environ(), asFairway+"=1")
	if out, _ := c.CombinedOutput(); c.ProcessState.ExitCode() != 2 {
		t.Errorf("an unknown flag ends with status %d, want 2: %s", c.ProcessState.ExitCode(), out)
	}
}

func TestWaitShutdown(t *testing.T) {
	var out bytes.Buffer
	if status := run([]string{"/wait-shutdown"}, nil, &out, &out); status != 0 || out.Len() > 0 {
		t.Errorf("status %d, %q", status, out.String())
	}
}
