// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"crypto/x509"
	"encoding/pem"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fairway-ingress/fairway/internal/model"
)

// certificates are the families of the certificates in use: one series of each for every server name and certificate.
type certificates struct {
	class        string
	leads        func() bool
	fallback     *model.Certificate
	expiry, info *prometheus.Desc

	mu     sync.Mutex
	model  *model.Model
	parsed map[model.CertificateID]*leaf
}

// leaf is what metrics say of a certificate.
type leaf struct {
	namespace, secret, identifier, organization, commonName, serial, algorithm string
	expires                                                                    float64
}

func newCertificates(o Options) *certificates {
	labels := []string{"class", "namespace", "host", "secret_name", "identifier"}
	more := append(labels[:len(labels):len(labels)], "issuer_organization", "issuer_common_name", "serial_number", "public_key_algorithm")
	return &certificates{
		class: o.Class, leads: o.Leads, fallback: o.Fallback, parsed: map[model.CertificateID]*leaf{},
		expiry: prometheus.NewDesc(prefix+"ssl_expire_time_seconds", "When the certificate of a host expires, in Unix seconds.", labels, nil),
		info:   prometheus.NewDesc(prefix+"ssl_certificate_info", "1 for each certificate of a host, with its details as labels.", more, nil),
	}
}

func (c *certificates) note(m *model.Model) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.model = m
}

// count is how many series there are.
func (c *certificates) count() int {
	c.mu.Lock()
	m := c.model
	c.mu.Unlock()
	if m == nil {
		return 0
	}
	return 2 * (len(m.ServerNames) + max(1, len(m.DefaultCertificates)))
}

// Describe implements prometheus.Collector.
func (c *certificates) Describe(out chan<- *prometheus.Desc) {
	out <- c.expiry
	out <- c.info
}

// Collect implements prometheus.Collector.
func (c *certificates) Collect(out chan<- prometheus.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.model == nil {
		return
	}
	known := make(map[model.CertificateID]*leaf, len(c.model.Certificates)+1)
	for _, certificate := range c.model.Certificates {
		known[certificate.ID] = c.parse(certificate)
	}
	defaults := c.model.DefaultCertificates
	if len(defaults) == 0 && c.fallback != nil {
		l := *c.parse(c.fallback)
		l.namespace, l.secret = "", ""
		known[c.fallback.ID], defaults = &l, []model.CertificateID{c.fallback.ID}
	}
	c.parsed = known // forgets what is no longer there
	leads := c.leads()
	c.show(out, model.CatchAll, defaults, leads)
	for _, name := range c.model.ServerNames {
		c.show(out, name.Name, name.Certificates, leads)
	}
}

func (c *certificates) show(out chan<- prometheus.Metric, host string, ids []model.CertificateID, leads bool) {
	for _, id := range ids {
		l := c.parsed[id]
		if l == nil {
			continue
		}
		labels := []string{c.class, l.namespace, host, l.secret, l.identifier}
		if leads {
			out <- prometheus.MustNewConstMetric(c.expiry, prometheus.GaugeValue, l.expires, labels...)
		}
		labels = append(labels, l.organization, l.commonName, l.serial, l.algorithm)
		out <- prometheus.MustNewConstMetric(c.info, prometheus.GaugeValue, 1, labels...)
	}
}

// parse looks at a certificate once; an ID is of one content for ever.
func (c *certificates) parse(certificate *model.Certificate) *leaf {
	if l := c.parsed[certificate.ID]; l != nil {
		return l
	}
	l := &leaf{namespace: certificate.Owner.Namespace, secret: certificate.Owner.Name, expires: float64(certificate.NotAfter.Unix())}
	block, _ := pem.Decode([]byte(certificate.Chain))
	if block == nil {
		return l
	}
	x, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return l
	}
	l.serial, l.algorithm = x.SerialNumber.String(), x.PublicKeyAlgorithm.String()
	l.identifier = clean(x.Issuer.SerialNumber) + "-" + l.serial
	l.commonName, l.organization = clean(x.Issuer.CommonName), clean(strings.Join(x.Issuer.Organization, ","))
	l.expires = float64(x.NotAfter.Unix())
	return l
}

// clean makes a label of text that somebody put into a certificate.
func clean(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
