// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

var worker = Group{
	Name: "worker", Doc: "The nginx processes.",
	Keys: []Key{
		Parsed("debug-connections", "addresses and networks", Spec{
			Default: none, Example: "192.0.2.1", Reload: true,
			Doc: "Logs the connections of these clients in every detail. What is no address is left out, with a Problem.",
		}, parseNetworks, func(d *draft, v []netip.Prefix) { d.Worker.Debug = v }),

		Bool("enable-aio-write", Spec{
			Default: "true", Example: "false",
			Doc: "Writes temporary files in threads of their own, where responses are buffered; there a change costs a reload.",
		}, func(d *draft, v bool) { d.Worker.AIOWrite = v }),

		Bool("enable-multi-accept", Spec{
			Default: "true", Example: "false", Reload: true,
			Doc: "Lets a worker accept all waiting connections at once.",
		}, func(d *draft, v bool) { d.Worker.MultiAccept = v }),

		Bool("enable-serial-reloads", Spec{
			Default: "false", Example: "true",
			Doc: "Puts a change that needs a reload off while workers of an earlier configuration still finish their connections. Later changes wait behind it.",
		}, func(d *draft, v bool) { d.Worker.SerialReloads = v }),

		Parsed("lua-shared-dicts", "names and sizes", Spec{
			Default: none, Example: "my_cache: 5", Reload: true,
			Differs: "Zones of the predecessor that have no counterpart are passed over.",
			Doc: "Further shared memory zones for Lua in raw configuration, as name: size with commas between, in megabytes or with k or m, at most 200m each. " +
				"The sizes of configuration_data and certificate_data together are the least size of Fairway's own zone, which grows by itself; " +
				"the predecessor's other zones have no counterpart. Items that are not understood are left out, with a Problem.",
		}, parseZones, func(d *draft, v zones) { d.Worker.Zones, d.Worker.ZoneBytes = v.further, v.state }),

		Int("max-worker-connections", Spec{
			Min: 1, Default: "16384", Example: "65536", Reload: true,
			Doc: "How many connections a worker holds at most.",
		}, func(d *draft, v int) { d.WorkerConnections = v }),

		Parsed("max-worker-open-files", "number", Spec{
			Default: "0", Example: "65536", Reload: true,
			Doc: "How many files and connections a worker may have open; 0 for as many as the system allows.",
		}, within(0, 1<<30), func(d *draft, v int) { d.Worker.OpenFiles = v }),

		Parsed("worker-cpu-affinity", "auto, or masks of 0 and 1", Spec{
			Default: none, Example: "auto", Reload: true,
			Doc: "Which CPUs each worker runs on.",
		}, parseAffinity, func(d *draft, v string) { d.Worker.CPUAffinity = v }),

		Parsed("worker-processes", "number or auto", Spec{
			Default: "auto", Example: "4", Reload: true,
			Doc: "The number of workers; auto means one per CPU.",
		}, parseWorkers, func(d *draft, v int) { d.Workers = v }),

		Parsed("worker-shutdown-timeout", "time with unit", Spec{
			Default: "240s", Example: "30s", Reload: true,
			Doc: "How long an old worker may finish its connections after a reload or a stop.",
		}, parseDuration, func(d *draft, v time.Duration) { d.WorkerShutdownTimeout = v }),
	},
}

var hashes = Group{
	Name: "hashes", Doc: "Sizes of nginx' own tables. Hosts of Ingresses are in none of them, so there is seldom a reason to change one.",
	Keys: []Key{
		hash("map-hash-bucket-size", "64", "128", "Buckets of map blocks, in bytes.", func(h *model.Hashes) *int { return &h.MapBucket }),
		hash("proxy-headers-hash-bucket-size", "64", "128", "Buckets for names of headers to backends, in bytes.", func(h *model.Hashes) *int { return &h.ProxyHeadersBucket }),
		hash("proxy-headers-hash-max-size", "512", "1024", "The table of names of headers to backends.", func(h *model.Hashes) *int { return &h.ProxyHeadersMax }),
		hash("server-name-hash-bucket-size", "0", "256", "Buckets for names of hosts with raw configuration, in bytes; 0, or less than the longest needs, for what fits.", func(h *model.Hashes) *int { return &h.ServerNameBucket }),
		hash("server-name-hash-max-size", "1024", "2048", "The table of names of hosts with raw configuration.", func(h *model.Hashes) *int { return &h.ServerNameMax }),
		hash("variables-hash-bucket-size", "256", "512", "Buckets for names of variables, in bytes.", func(h *model.Hashes) *int { return &h.VariablesBucket }),
		hash("variables-hash-max-size", "2048", "4096", "The table of variables.", func(h *model.Hashes) *int { return &h.VariablesMax }),
	},
}

func hash(name, usual, example, doc string, field func(h *model.Hashes) *int) Key {
	least := 32
	if usual == "0" {
		least = 0
	}
	return Parsed(name, "number", Spec{Default: usual, Example: example, Doc: doc, Reload: true}, within(least, 1<<20),
		func(d *draft, v int) { *field(&d.Worker.Hashes) = v })
}

// parseWorkers gives 0 for auto.
func parseWorkers(text string) (int, error) {
	if text == "auto" || text == "" {
		return 0, nil
	}
	v, err := parseInt(text, 1)
	if err != nil || v > 1024 {
		return 0, errors.New("is neither auto nor a number from 1 to 1024")
	}
	return v, nil
}

func parseAffinity(text string) (string, error) {
	words := strings.Fields(text)
	if len(text) > 4096 || len(words) == 0 {
		return "", errors.New("is neither auto nor masks")
	}
	for i, word := range words {
		if strings.Trim(word, "01") != "" && (i > 0 || word != "auto") {
			return "", fmt.Errorf("has %.60q, which is no mask of 0 and 1", word)
		}
	}
	return strings.Join(words, " "), nil
}

// parseNetworks reads a list of which the parts that are networks count.
func parseNetworks(text string) ([]netip.Prefix, error) {
	var list []netip.Prefix
	var wrong []string
	for _, word := range parseList(text) {
		network, err := value.Networks(word)
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("%.60q", word))
			continue
		}
		list = append(list, network...)
	}
	if wrong != nil {
		return list, remark("has " + strings.Join(wrong, ", ") + ", which is neither an address nor a network; the others are in force")
	}
	return list, nil
}

// zones is what lua-shared-dicts says.
type zones struct {
	further []model.LuaZone
	state   int64
}

const mostZone, mostZones = 200 << 20, 100

// counterparts are the predecessor's zones: true for those that hold what Fairway's zone of the state holds.
var counterparts = map[string]bool{
	"configuration_data": true, "certificate_data": true, "balancer_ewma": false, "balancer_ewma_last_touched_at": false,
	"balancer_ewma_locks": false, "certificate_servers": false, "ocsp_response_cache": false,
}

func parseZones(text string) (zones, error) {
	var z zones
	var wrong []string
	seen := map[string]bool{}
	for _, item := range parseList(text) {
		name, size, _ := strings.Cut(item, ":")
		name, size = strings.TrimSpace(name), strings.TrimSpace(size)
		bytes, err := parseZoneSize(size)
		holdsState, known := counterparts[name]
		switch {
		case err != nil || seen[name] || name == "" || strings.HasPrefix(name, "fairway") || !value.Only(name, value.IsLetterOrDigit, "_") || len(seen) == mostZones:
			wrong = append(wrong, fmt.Sprintf("%.60q", item))
			continue
		case holdsState:
			z.state += bytes
		case !known:
			z.further = append(z.further, model.LuaZone{Name: name, Bytes: bytes})
		}
		seen[name] = true
	}
	if wrong != nil {
		return z, remark("has " + strings.Join(wrong, ", ") + ", which is not name: size, or too much; the others are in force")
	}
	return z, nil
}

// parseZoneSize reads megabytes, or a size with the unit k or m.
func parseZoneSize(text string) (int64, error) {
	if value.Only(text, func(c byte) bool { return c >= '0' && c <= '9' }, "") {
		text += "m"
	}
	bytes, err := value.Size(text)
	if err == nil && (bytes < 8<<10 || bytes > mostZone) {
		err = errors.New("is not from 8k to 200m")
	}
	return bytes, err
}
