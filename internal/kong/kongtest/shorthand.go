// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kongtest

import (
	"net/url"
	"strconv"
)

// schemePorts are the ports of URLs that name none.
var schemePorts = map[string]float64{"http": 80, "https": 443}

// expandURL puts what the shorthand url of a service says into the fields that it stands for: protocol, host, port and path. It is never shown again.
// Of a URL that cannot be read it says what is wrong.
func expandURL(o object) string {
	value, sent := o["url"]
	delete(o, "url")
	if !sent || value == nil {
		return ""
	}
	text, ok := value.(string)
	if !ok {
		return "expected a string"
	}
	parsed, err := url.Parse(text)
	if err != nil || parsed.Scheme == "" || parsed.Hostname() == "" {
		return "missing host in url"
	}
	o["protocol"], o["host"], o["path"] = parsed.Scheme, parsed.Hostname(), nil
	if parsed.EscapedPath() != "" {
		o["path"] = parsed.EscapedPath()
	}
	if port, err := strconv.Atoi(parsed.Port()); err == nil {
		o["port"] = float64(port)
	} else if port, known := schemePorts[parsed.Scheme]; known {
		o["port"] = port
	}
	return ""
}
