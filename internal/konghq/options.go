// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package konghq

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

// key is an annotation: how its value is read into what it is about. Those without read are looked at elsewhere.
type key[T any] struct {
	name, doc string
	// control says that what carries a value that cannot be read is closed, for the value may have been to keep somebody out.
	control bool
	read    func(target *T, text string) error
}

// routeKeys are the annotations of objects that make routes.
var routeKeys = []key[model.KongRouteOptions]{
	{"host-aliases", "further hosts of the routes", false, nil},
	{"https-redirect-status-code", "status of redirects to HTTPS: 301, 302, 307, 308 or 426", false, func(o *model.KongRouteOptions,
		text string) (err error) {
		o.RedirectStatus, err = readOneOf(text, 301, 302, 307, 308, 426)
		return err
	}},
	{"headers-separator", "what stands between the values of headers.*", false, nil},
	{"methods", "methods that the routes take", false, func(o *model.KongRouteOptions, text string) (err error) {
		o.Methods, err = readMethods(text)
		return err
	}},
	{"override", "the KongIngress with the fields of the upstream; only on Services", false, nil},
	{"path-handling", "v0 or v1", false, func(o *model.KongRouteOptions, text string) error {
		if text != "v0" && text != "v1" {
			return errors.New("is neither v0 nor v1")
		}
		o.PathHandling = text
		return nil
	}},
	{"plugins", "plugins of every route of the object", false, nil},
	{"preserve-host", "send the client's Host", false, readBool(func(o *model.KongRouteOptions, v bool) { o.PreserveHost = v })},
	{"protocols", "protocols that the routes take", true, func(o *model.KongRouteOptions, text string) (err error) {
		o.Protocols, err = readProtocols(text)
		return err
	}},
	{"regex-prefix", "what marks an ImplementationSpecific path as an expression", false, nil},
	{"regex-priority", "which expression is tried first", false, func(o *model.KongRouteOptions, text string) error {
		n, err := readInteger(text, -1<<31, 1<<31-1)
		o.RegexPriority = &n
		return err
	}},
	{"request-buffering", "read requests whole before they are sent on", false,
		readBool(func(o *model.KongRouteOptions, v bool) { o.RequestBuffering = &v })},
	{"response-buffering", "read responses whole before they are sent on", false,
		readBool(func(o *model.KongRouteOptions, v bool) { o.ResponseBuffering = &v })},
	{"rewrite", "the URI sent to the Service, with $1 to $9 for groups of the path", false, func(o *model.KongRouteOptions, text string) error {
		if !strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "$") || len(text) > 4096 || hasControl(text) {
			return errors.New("is no path")
		}
		o.Rewrite = text
		return nil
	}},
	{"snis", "TLS server names that the routes are for", true, func(o *model.KongRouteOptions, text string) error {
		names := list(strings.ToLower(text))
		for _, name := range names {
			if !isHost(name) {
				return fmt.Errorf("has %.60q, which is no DNS name", name)
			}
		}
		o.SNIs = names
		return nil
	}},
	{"strip-path", "take the path of the route off before requests are sent on", false,
		readBool(func(o *model.KongRouteOptions, v bool) { o.StripPath = v })},
	{"tags", "tags of what is made of the object", false, nil},
}

// knownOnRoutes are the names of routeKeys.
var knownOnRoutes = names(routeKeys)

func names[T any](keys []key[T]) map[string]bool {
	known := map[string]bool{}
	for _, k := range keys {
		known[k.name] = true
	}
	return known
}

// routeOptions reads the annotations of an object that makes routes; closed says why they must not be open.
func (n *notes) routeOptions() (o model.KongRouteOptions, closed string) {
	o = model.KongRouteOptions{PreserveHost: true}
	closed = apply(n, routeKeys, &o)
	n.headers(&o)
	o.Tags = n.tags()
	if _, written := n.values["override"]; written {
		n.problem(n.object, n.field("override"), model.ReasonUnsupported,
			"a KongIngress has no effect here, only on Services; the annotations %s* of the object replace it", prefix)
	}
	return o, closed
}

// apply reads the values of keys into their target.
func apply[T any](n *notes, keys []key[T], target *T) (closed string) {
	for i := range keys {
		k := &keys[i]
		text, written := n.values[k.name]
		if !written || k.read == nil {
			continue
		}
		before := *target
		err := k.read(target, strings.TrimSpace(text))
		switch {
		case err == nil:
		case k.control:
			*target = before
			closed = "annotation " + n.keys[k.name] + " cannot be read"
			n.invalid(k.name, "the routes concerned answer 503 until it is repaired", err)
		default:
			*target = before
			n.invalid(k.name, "the default is in force", err)
		}
	}
	return closed
}

// headers reads the keys headers.NAME.
func (n *notes) headers(o *model.KongRouteOptions) {
	separator := n.values["headers-separator"]
	if separator == "" {
		separator = ","
	}
	for _, name := range slices.Sorted(maps.Keys(n.values)) {
		header, found := strings.CutPrefix(name, "headers.")
		if !found {
			continue
		}
		h := model.KongHeader{Name: strings.ToLower(header)}
		for item := range strings.SplitSeq(n.values[name], separator) {
			if item = strings.TrimSpace(item); item != "" {
				h.Values = append(h.Values, item)
			}
		}
		if _, err := value.Token(header); err != nil || h.Name == "host" || len(h.Values) == 0 {
			n.invalid(name, "the header is not looked at", errors.New("is of no header that routes can be told apart by"))
			continue
		}
		o.Headers = append(o.Headers, h)
	}
}

func readBool[T any](set func(*T, bool)) func(*T, string) error {
	return func(target *T, text string) error {
		switch strings.ToLower(text) {
		case "true":
			set(target, true)
		case "false":
			set(target, false)
		default:
			return errors.New("is neither true nor false")
		}
		return nil
	}
}

func readInteger(text string, least, most int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("is no number from %d to %d", least, most)
	}
	return n, nil
}

func readOneOf(text string, allowed ...int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || !slices.Contains(allowed, n) {
		return 0, fmt.Errorf("is none of %s", strings.Trim(fmt.Sprint(allowed), "[]"))
	}
	return n, nil
}

func readMethods(text string) ([]string, error) {
	methods := list(strings.ToUpper(text))
	for _, m := range methods {
		if strings.ContainsFunc(m, func(c rune) bool { return c < 'A' || c > 'Z' }) {
			return nil, fmt.Errorf("has %.30q, which is no method", m)
		}
	}
	return methods, nil
}

// protocolGroups are the protocols that one route may have together.
var protocolGroups = [][]string{{"http", "https"}, {"grpc", "grpcs"}, {"tcp", "tls", "udp"}, {"tls_passthrough"}}

func readProtocols(text string) ([]string, error) {
	protocols := list(strings.ToLower(text))
	slices.Sort(protocols)
	protocols = slices.Compact(protocols)
	for _, group := range protocolGroups {
		if len(protocols) > 0 && !slices.ContainsFunc(protocols, func(p string) bool { return !slices.Contains(group, p) }) {
			return protocols, nil
		}
	}
	return nil, errors.New("does not name protocols that one route can have: of http, https; of grpc, grpcs; of tcp, tls, udp; or tls_passthrough")
}

func hasControl(text string) bool {
	return strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c == 0x7f })
}

// isHost tells whether name is a lower-case DNS name, or "*." and one.
func isHost(name string) bool {
	name = strings.TrimPrefix(name, "*.")
	if name == "" || len(name) > 253 {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		if strings.ContainsFunc(label, func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' }) {
			return false
		}
	}
	return true
}
