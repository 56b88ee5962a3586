// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ocsp

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"

	"golang.org/x/crypto/ocsp"

	"github.com/fairway-ingress/fairway/internal/model"
)

// mostBytes bounds an answer; usual ones have some 500 bytes, or 2000 with the responder's certificate.
const mostBytes = 32 << 10

// slack is how far clocks may differ.
const slack = 5 * time.Minute

var errRevoked = errors.New("the certificate is revoked")

// question is what is asked about a certificate.
type question struct {
	leaf, issuer *x509.Certificate
	url          string
	text         []byte
}

// newQuestion gives nil for a chain that names no responder, or does not have the issuer, without whom nobody can be asked.
func newQuestion(chain string) *question {
	certificates := make([]*x509.Certificate, 0, 2)
	for rest := []byte(chain); len(certificates) < 2; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return nil
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil
		}
		certificates = append(certificates, certificate)
	}
	q := &question{leaf: certificates[0], issuer: certificates[1]}
	for _, text := range q.leaf.OCSPServer {
		if u, err := url.Parse(text); err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil {
			q.url = u.String()
			break
		}
	}
	if q.url == "" || q.leaf.CheckSignatureFrom(q.issuer) != nil {
		return nil
	}
	var err error
	if q.text, err = ocsp.CreateRequest(q.leaf, q.issuer, nil); err != nil {
		return nil
	}
	return q
}

// ask gives the answer.
func (q *question) ask(ctx context.Context, client *http.Client, patience time.Duration) (model.OCSPAnswer, error) {
	var none model.OCSPAnswer
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, q.url, bytes.NewReader(q.text))
	if err != nil {
		return none, err
	}
	request.Header.Set("Content-Type", "application/ocsp-request")
	request.Header.Set("Accept", "application/ocsp-response")
	response, err := client.Do(request)
	if err != nil {
		return none, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return none, fmt.Errorf("status %d", response.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, mostBytes+1))
	if err != nil {
		return none, err
	}
	return q.read(body, time.Now())
}

// read checks an answer.
func (q *question) read(body []byte, now time.Time) (model.OCSPAnswer, error) {
	var none model.OCSPAnswer
	if len(body) > mostBytes {
		return none, errors.New("the answer is too long")
	}
	said, err := ocsp.ParseResponseForCert(body, q.leaf, q.issuer)
	if err != nil {
		return none, err
	}
	until := said.NextUpdate
	if until.IsZero() {
		until = now.Add(withoutEnd)
	}
	switch {
	case said.Status == ocsp.Revoked:
		return none, errRevoked
	case said.Status != ocsp.Good:
		return none, errors.New("the authority does not know the certificate")
	case said.ThisUpdate.After(now.Add(slack)) || !until.After(now):
		return none, errors.New("the answer is not of this time")
	}
	return model.OCSPAnswer{Text: base64.StdEncoding.EncodeToString(body), Until: until}, nil
}

// client gives one that connects to allowed addresses alone, whatever names resolve to, and follows no redirects.
func (d *Driver) client() *http.Client {
	dialer := &net.Dialer{Control: func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		if !d.mayConnect(to.Addr()) {
			return fmt.Errorf("%s is an address that is not to be reached", to.Addr())
		}
		return nil
	}}
	return &http.Client{
		Transport: &http.Transport{ // and no proxy, which would connect elsewhere
			DialContext: dialer.DialContext, MaxIdleConns: parallel, IdleConnTimeout: time.Minute, DisableCompression: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
