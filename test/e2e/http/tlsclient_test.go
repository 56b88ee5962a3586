// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package http

import (
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"net"
	"strings"
)

// tlsOptions is how a client speaks TLS.
type tlsOptions struct {
	ciphers []uint16
	curves  []tls.CurveID
	version uint16 // the highest; 0 for any
	session bool   // resumes the case's session, if there is one
}

// option takes what follows ">" if it is about TLS, and tells whether it is.
func (o *tlsOptions) option(word, rest string) (known bool, err error) {
	switch word {
	case "ciphers":
		o.version = tls.VersionTLS12
		o.ciphers, err = cipherSuites(rest)
	case "curves":
		for name := range strings.FieldsSeq(rest) {
			id, found := map[string]tls.CurveID{"X25519": tls.X25519, "P-256": tls.CurveP256, "P-384": tls.CurveP384}[name]
			if !found {
				return true, fmt.Errorf("%q is no group of these tests", name)
			}
			o.curves = append(o.curves, id)
		}
	case "tls":
		versions := map[string]uint16{"1.1": tls.VersionTLS11, "1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13}
		if o.version = versions[rest]; o.version == 0 {
			err = fmt.Errorf("%q is no version of TLS", rest)
		}
	case "session":
		o.session = true
	default:
		return false, nil
	}
	return true, err
}

// apply puts the options into a configuration.
func (o *tlsOptions) apply(config *tls.Config, sessions tls.ClientSessionCache) {
	config.CipherSuites, config.CurvePreferences = o.ciphers, o.curves
	if o.version != 0 {
		config.MinVersion, config.MaxVersion = min(o.version, tls.VersionTLS12), o.version
	}
	if o.session {
		config.ClientSessionCache = sessions
	}
}

// recorder notes the longest TLS record of data that comes from a server.
type recorder struct {
	net.Conn
	head    []byte // of the record whose head is not complete
	skip    int    // what is left of the record
	longest int
}

const tlsData = 23 // the type of records with data (RFC 8446 section 5.1)

func (r *recorder) Read(p []byte) (int, error) {
	n, err := r.Conn.Read(p)
	for rest := p[:n]; len(rest) > 0; {
		if r.skip > 0 {
			taken := min(r.skip, len(rest))
			r.skip, rest = r.skip-taken, rest[taken:]
			continue
		}
		taken := min(5-len(r.head), len(rest))
		r.head, rest = append(r.head, rest[:taken]...), rest[taken:]
		if len(r.head) == 5 {
			r.skip = int(binary.BigEndian.Uint16(r.head[3:]))
			if r.head[0] == tlsData {
				r.longest = max(r.longest, r.skip)
			}
			r.head = r.head[:0]
		}
	}
	return n, err
}
