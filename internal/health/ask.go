// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/fairway-ingress/fairway/internal/model"
)

// userAgent is how checks introduce themselves, over HTTP and gRPC.
const userAgent = "fairway-health-check/1.0"

// mostBytes bounds a response's header, and a gRPC answer.
const mostBytes = 64 << 10

// asker asks what one check says; it serves any number of goroutines. Each time it connects anew: whether that is possible is part of the question.
type asker struct {
	check  *model.HealthCheck
	tls    *tls.Config // nil without TLS
	client *http.Client
}

func newAsker(check *model.HealthCheck) *asker {
	a := &asker{check: check}
	if check.TLS != nil {
		a.tls = newTLS(check)
	}
	if check.Protocol == model.CheckHTTP {
		a.client = &http.Client{
			Transport: &http.Transport{ // and no proxy, which would connect elsewhere
				DisableKeepAlives: true, DisableCompression: true, TLSClientConfig: a.tls, MaxResponseHeaderBytes: mostBytes,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	return a
}

func newTLS(check *model.HealthCheck) *tls.Config {
	t := check.TLS
	c := &tls.Config{
		ServerName: hostOf(cmp.Or(t.Name, check.Host)), InsecureSkipVerify: !t.Verify, //nolint:gosec // as requests do, unless proxy-ssl-verify is on
	}
	if t.Verify {
		c.RootCAs = x509.NewCertPool()
		c.RootCAs.AppendCertsFromPEM([]byte(t.CA))
	}
	if t.Certificate != nil {
		if pair, err := tls.X509KeyPair([]byte(t.Certificate.Chain), []byte(t.Certificate.Key.Reveal())); err == nil {
			c.Certificates = []tls.Certificate{pair}
		}
	}
	return c
}

// hostOf gives a host without its port.
func hostOf(host string) string {
	name, _, _ := strings.Cut(host, ":")
	return name
}

// identify tells checks apart by what they ask, and how often.
func identify(check *model.HealthCheck) string {
	text := check.String()
	if t := check.TLS; t != nil {
		text = fmt.Sprintf("%s %v %q %s", text, t.Verify, t.Name, t.CA)
		if t.Certificate != nil {
			text += string(t.Certificate.ID)
		}
	}
	return text
}

// ask asks an endpoint and says what is wrong with it, if anything.
func (a *asker) ask(ctx context.Context, endpoint netip.AddrPort, allowLocal bool) error {
	if !allowLocal && model.IsLocalAddress(endpoint.Addr()) {
		return errors.New("it has an address that is not to be reached")
	}
	if a.check.Port != 0 {
		endpoint = netip.AddrPortFrom(endpoint.Addr(), a.check.Port)
	}
	ctx, cancel := context.WithTimeout(ctx, a.check.Timeout)
	defer cancel()
	switch a.check.Protocol {
	case model.CheckHTTP:
		return a.askHTTP(ctx, endpoint)
	case model.CheckGRPC:
		return a.askGRPC(ctx, endpoint)
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", endpoint.String())
	if err != nil {
		return err
	}
	return conn.Close()
}

func (a *asker) askHTTP(ctx context.Context, endpoint netip.AddrPort) error {
	u, err := url.ParseRequestURI(a.check.Path)
	if err != nil {
		return err
	}
	u.Scheme, u.Host = "http", endpoint.String()
	if a.tls != nil {
		u.Scheme = "https"
	}
	request := (&http.Request{Method: http.MethodGet, URL: u, Host: cmp.Or(a.check.Host, endpoint.String()), Header: http.Header{"User-Agent": {userAgent}}}).WithContext(ctx)
	response, err := a.client.Do(request)
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err // the URL says nothing that the check does not
		}
		return err
	}
	_ = response.Body.Close()
	for _, r := range a.check.Statuses {
		if response.StatusCode >= r.First && response.StatusCode <= r.Last {
			return nil
		}
	}
	return fmt.Errorf("status %d", response.StatusCode)
}

func (a *asker) askGRPC(ctx context.Context, endpoint netip.AddrPort) error {
	secure := insecure.NewCredentials()
	if a.tls != nil {
		secure = credentials.NewTLS(a.tls.Clone())
	}
	conn, err := grpc.NewClient("passthrough:///"+endpoint.String(), grpc.WithTransportCredentials(secure), grpc.WithNoProxy(), grpc.WithDisableServiceConfig(),
		grpc.WithAuthority(cmp.Or(a.check.Host, endpoint.String())), grpc.WithUserAgent(userAgent), grpc.WithMaxHeaderListSize(mostBytes),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(mostBytes)))
	if err != nil {
		return err
	}
	defer conn.Close()
	answer, err := healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{Service: a.check.Service})
	if err != nil {
		return fmt.Errorf("gRPC status %s: %s", status.Code(err), status.Convert(err).Message())
	}
	if answer.Status != healthpb.HealthCheckResponse_SERVING {
		return fmt.Errorf("gRPC server says %s", answer.Status)
	}
	return nil
}

// brief shortens what went wrong: an endpoint may have said it.
func brief(err error) string {
	const most = 160
	text := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, err.Error())
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
