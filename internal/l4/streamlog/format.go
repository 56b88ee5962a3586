// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package streamlog

import (
	"net/netip"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/fairway-ingress/fairway/internal/model"
)

// writer appends what a session has for a variable.
type writer func(line []byte, s *Session) []byte

// format is a log format, ready for use.
type format []writer

// newFormat reads a format. What means nothing here is "-", as it is with nginx.
func newFormat(text string) format {
	var f format
	for _, part := range model.SplitLogFormat(text) {
		w := variables[part.Variable]
		switch {
		case part.Variable == "":
			w = func(line []byte, _ *Session) []byte { return append(line, part.Text...) }
		case part.Variable == "connection":
			w = number()
		case part.Variable == "hostname":
			host, _ := os.Hostname() // "" will do
			w = func(line []byte, _ *Session) []byte { return append(line, host...) }
		case w == nil:
			w = nothing
		}
		f = append(f, w)
	}
	return f
}

// line appends the line of a session.
func (f format) line(to []byte, s *Session) []byte {
	for _, w := range f {
		to = w(to, s)
	}
	return append(to, '\n')
}

// variables are those of model.StreamVariables but for connection and hostname.
var variables = map[string]writer{
	"binary_remote_addr": func(line []byte, s *Session) []byte { return appendEscaped(line, s.Client.Addr().Unmap().AsSlice()) },
	"bytes_received":     func(line []byte, s *Session) []byte { return strconv.AppendUint(line, s.Received, 10) },
	"bytes_sent":         func(line []byte, s *Session) []byte { return strconv.AppendUint(line, s.Sent, 10) },
	"msec": func(line []byte, s *Session) []byte {
		at := s.end().UnixMilli()
		return appendThousandths(strconv.AppendInt(line, at/1000, 10), at%1000)
	},
	"pid":                        func(line []byte, _ *Session) []byte { return strconv.AppendInt(line, int64(os.Getpid()), 10) },
	"protocol":                   func(line []byte, s *Session) []byte { return append(line, s.Listener.Transport.String()...) },
	"proxy_protocol_addr":        address(func(s *Session) netip.AddrPort { return s.Header[0] }),
	"proxy_protocol_port":        port(func(s *Session) netip.AddrPort { return s.Header[0] }),
	"proxy_protocol_server_addr": address(func(s *Session) netip.AddrPort { return s.Header[1] }),
	"proxy_protocol_server_port": port(func(s *Session) netip.AddrPort { return s.Header[1] }),
	"proxy_upstream_name":        appendName,
	"realip_remote_addr":         address(func(s *Session) netip.AddrPort { return s.Peer }),
	"realip_remote_port":         port(func(s *Session) netip.AddrPort { return s.Peer }),
	"remote_addr":                address(func(s *Session) netip.AddrPort { return s.Client }),
	"remote_port":                port(func(s *Session) netip.AddrPort { return s.Client }),
	"server_addr":                address(func(s *Session) netip.AddrPort { return s.Local }),
	"server_port":                port(func(s *Session) netip.AddrPort { return s.Local }),
	"session_time":               func(line []byte, s *Session) []byte { return appendSeconds(line, s.Took) },
	"status":                     func(line []byte, s *Session) []byte { return strconv.AppendInt(line, s.status(), 10) },
	"time_iso8601":               func(line []byte, s *Session) []byte { return s.end().AppendFormat(line, "2006-01-02T15:04:05-07:00") },
	"time_local":                 func(line []byte, s *Session) []byte { return s.end().AppendFormat(line, "02/Jan/2006:15:04:05 -0700") },
	"upstream_addr": func(line []byte, s *Session) []byte {
		for i, one := range s.Failed {
			line = separated(line, i)
			line = one.AppendTo(line)
		}
		if s.Endpoint.IsValid() {
			return s.Endpoint.AppendTo(separated(line, len(s.Failed)))
		}
		if len(s.Failed) == 0 {
			return append(line, '-')
		}
		return line
	},
	"upstream_bytes_received":  perTry("0", func(line []byte, s *Session) []byte { return strconv.AppendUint(line, s.Sent, 10) }),
	"upstream_bytes_sent":      perTry("0", func(line []byte, s *Session) []byte { return strconv.AppendUint(line, s.Received, 10) }),
	"upstream_connect_time":    perTry("-", func(line []byte, s *Session) []byte { return appendSeconds(line, s.Connect) }),
	"upstream_first_byte_time": perTry("-", func(line []byte, s *Session) []byte { return appendSeconds(line, s.FirstByte) }),
	"upstream_session_time":    perTry("-", func(line []byte, s *Session) []byte { return appendSeconds(line, s.Served) }),
}

func (s *Session) end() time.Time { return s.Begun.Add(s.Took) }

func nothing(line []byte, _ *Session) []byte { return append(line, '-') }

// number counts sessions.
func number() writer {
	var last atomic.Uint64
	return func(line []byte, _ *Session) []byte { return strconv.AppendUint(line, last.Add(1), 10) }
}

func address(of func(*Session) netip.AddrPort) writer {
	return func(line []byte, s *Session) []byte {
		if a := of(s); a.IsValid() {
			return a.Addr().Unmap().AppendTo(line)
		}
		return append(line, '-')
	}
}

func port(of func(*Session) netip.AddrPort) writer {
	return func(line []byte, s *Session) []byte {
		if a := of(s); a.IsValid() {
			return strconv.AppendUint(line, uint64(a.Port()), 10)
		}
		return append(line, '-')
	}
}

// perTry appends a value for each endpoint that was tried, as nginx does; failed is that of those tried in vain.
func perTry(failed string, last writer) writer {
	return func(line []byte, s *Session) []byte {
		for i := range s.Failed {
			line = append(separated(line, i), failed...)
		}
		if s.Endpoint.IsValid() {
			return last(separated(line, len(s.Failed)), s)
		}
		if len(s.Failed) == 0 {
			return append(line, '-')
		}
		return line
	}
}

func separated(line []byte, place int) []byte {
	if place == 0 {
		return line
	}
	return append(line, ", "...)
}

// appendName gives the predecessor's name of a backend: "tcp-NAMESPACE-SERVICE-PORT".
func appendName(line []byte, s *Session) []byte {
	if s.Listener.Transport == model.UDP {
		line = append(line, "udp-"...)
	} else {
		line = append(line, "tcp-"...)
	}
	return append(line, s.Listener.Backend.ID.LogName()...)
}

// appendSeconds writes milliseconds as nginx does, "-" for a time that never came.
func appendSeconds(line []byte, d time.Duration) []byte {
	if d < 0 {
		return append(line, '-')
	}
	milliseconds := d.Milliseconds()
	return appendThousandths(strconv.AppendInt(line, milliseconds/1000, 10), milliseconds%1000)
}

func appendThousandths(line []byte, n int64) []byte {
	return append(line, '.', byte('0'+n/100), byte('0'+n/10%10), byte('0'+n%10))
}

// appendEscaped writes bytes that are no text as nginx does.
func appendEscaped(line, text []byte) []byte {
	const digits = "0123456789ABCDEF"
	for _, c := range text {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			line = append(line, '\\', 'x', digits[c>>4], digits[c&15])
		} else {
			line = append(line, c)
		}
	}
	return line
}
