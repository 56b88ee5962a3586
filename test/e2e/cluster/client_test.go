// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/fairway-ingress/fairway/test/testbed"
)

// answer is what a client got; pod is the name of the pod that answered, if one did.
type answer struct {
	status int
	pod    string
	cert   *x509.Certificate
}

// get asks Fairway for http(s)://host/path over a new connection.
func (e *environment) get(scheme, host, path string) (answer, error) {
	port := testbed.HTTPPort
	if scheme == "https" {
		port = testbed.HTTPSPort
	}
	client := &http.Client{
		Timeout: 10 * time.Second,
		Transport: &http.Transport{
			DisableKeepAlives: true,
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return testbed.Dialer{Netns: e.Cluster.Netns}.DialContext(ctx, network, fmt.Sprintf("127.0.0.1:%d", port))
			},
			TLSClientConfig: &tls.Config{InsecureSkipVerify: true, ServerName: host},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Get(scheme + "://" + host + path)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{}, err
	}
	a := answer{status: response.StatusCode}
	if response.TLS != nil {
		a.cert = response.TLS.PeerCertificates[0]
	}
	var echo struct{ Pod string }
	if json.Unmarshal(body, &echo) == nil {
		a.pod = echo.Pod
	}
	return a, nil
}

// eventually asks until the answer satisfies, and fails the test with the last answer after a generous time.
func (e *environment) eventually(t *testing.T, scheme, host, path, what string, satisfied func(answer) bool) answer {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	var last answer
	var err error
	for time.Now().Before(deadline) {
		last, err = e.get(scheme, host, path)
		if err == nil && satisfied(last) {
			return last
		}
		time.Sleep(2 * time.Millisecond)
	}
	t.Fatalf("%s://%s%s: wanted %s, last got %+v, %v", scheme, host, path, what, last, err)
	return last
}

func (e *environment) eventuallyStatus(t *testing.T, host, path string, status int) answer {
	t.Helper()
	return e.eventually(t, "http", host, path, fmt.Sprintf("status %d", status), func(a answer) bool { return a.status == status })
}
