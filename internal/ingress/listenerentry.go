// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
)

// listenerEntry is one entry of a ConfigMap of TCP or UDP services.
type listenerEntry struct {
	port        uint16
	backend     model.BackendID
	acceptProxy bool
	sendProxy   uint8
}

// errEntryForm says how an entry is written.
var errEntryForm = errors.New("write it as NAMESPACE/SERVICE:PORT[:PROXY[:PROXY]]")

// parseListenerEntry reads a key, the port to listen on, and its value. The error says what is wrong with them and what to write instead.
func parseListenerEntry(transport model.Transport, key, text string) (listenerEntry, error) {
	port, err := parseListenerPort(key)
	if err != nil {
		return listenerEntry{}, fmt.Errorf("the key %s is %w", quote(key), err)
	}
	fields := strings.Split(strings.TrimSpace(text), ":")
	if len(fields) < 2 || len(fields) > 4 {
		return listenerEntry{}, fmt.Errorf("%s has the wrong number of fields: %w", quote(text), errEntryForm)
	}
	namespace, service, found := strings.Cut(fields[0], "/")
	if !found || namespace == "" || service == "" || strings.Contains(service, "/") {
		return listenerEntry{}, fmt.Errorf("%s does not begin with a Service and its namespace: %w", quote(text), errEntryForm)
	}
	if fields[1] == "" {
		return listenerEntry{}, fmt.Errorf("%s names no port of the Service: %w", quote(text), errEntryForm)
	}
	e := listenerEntry{port: port, backend: model.BackendID{Namespace: namespace, Service: service, Port: fields[1], Transport: transport}}
	return e, e.readProxy(fields[2:])
}

// parseListenerPort takes a number in its one spelling, so that no two keys are one port.
func parseListenerPort(key string) (uint16, error) {
	n, err := strconv.ParseUint(key, 10, 16)
	if err != nil || n == 0 {
		return 0, errors.New("no port: write a number from 1 to 65535")
	}
	if plain := strconv.FormatUint(n, 10); plain != key {
		return 0, fmt.Errorf("no port as ports are written: write %s", plain)
	}
	return uint16(n), nil
}

// readProxy reads the last two fields. The first is about what clients send, the second about what backends get: PROXY is version 1 there, as with
// the predecessor, and PROXYv2 is version 2.
func (e *listenerEntry) readProxy(fields []string) error {
	for i, field := range fields {
		switch word := strings.ToUpper(field); {
		case word == "":
		case word == "PROXY" && i == 0:
			e.acceptProxy = true
		case word == "PROXY":
			e.sendProxy = 1
		case word == "PROXYV2" && i == 1:
			e.sendProxy = 2
		case i == 0:
			return fmt.Errorf("the third field is %s: write PROXY if clients send PROXY headers, of whichever version, or leave it empty", quote(field))
		default:
			return fmt.Errorf("the fourth field is %s: write PROXY or PROXYv2 if the Service wants PROXY headers, or leave it out", quote(field))
		}
	}
	return nil
}

// quote shows what somebody wrote, the beginning of it if it is long.
func quote(text string) string {
	const longest = 80
	if len(text) > longest {
		return strconv.Quote(text[:longest]) + "…"
	}
	return strconv.Quote(text)
}
