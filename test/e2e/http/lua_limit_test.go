// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package http

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// bucket is what nginx' limit_req keeps of a client, in exact numbers: its level falls by one per interval, and each request adds one.
type bucket struct{ interval, burst, filled, last int } // filled is the level times the interval; times are milliseconds

func (b *bucket) levelAt(time int) int { return max(0, b.filled-(time-b.last)) }

func (b *bucket) hasRoom(time int) bool { return b.levelAt(time) <= b.burst*b.interval }

func (b *bucket) add(time int) { b.filled, b.last = b.levelAt(time)+b.interval, time }

// TestRatesOfLua compares the rates in Lua with two such buckets, a request being counted in both or in none.
func TestRatesOfLua(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var script strings.Builder
	script.WriteString(`local rate = require "fairway.rate"
local zone = { get = function(self, key) return self[key] end, set = function(self, key, at) self[key] = at end }
local rates, name
local function check(time, want)
    if rate.admits(zone, rates, "client", 1.7e9 + time / 1000) ~= want then error(name .. " at " .. time .. ": want " .. tostring(want)) end
end
`)
	perSecond, perMinute := []int{1, 2, 4, 5, 8, 10, 50, 100}, []int{1, 2, 5, 6, 12, 30, 60, 300}
	for i := range 60 {
		second, minute := perSecond[random.IntN(8)], perMinute[random.IntN(8)]
		buckets := []bucket{{interval: 1000 / second, burst: random.IntN(12)}, {interval: 60000 / minute, burst: random.IntN(40)}}
		name := fmt.Sprintf("%d: %d/s burst %d, %d/min burst %d", i, second, buckets[0].burst, minute, buckets[1].burst)
		fmt.Fprintf(&script, "name = %q\nrates = { rate.new(name, %d, 1, %d), rate.new(name, %d, 60, %d) }\n", name, second, buckets[0].burst, minute, buckets[1].burst)
		time := 0
		for range 200 {
			if random.IntN(3) == 0 {
				time += random.IntN(2000)
			}
			admitted := buckets[0].hasRoom(time) && buckets[1].hasRoom(time)
			if admitted {
				buckets[0].add(time)
				buckets[1].add(time)
			}
			fmt.Fprintf(&script, "check(%d, %v)\n", time, admitted)
		}
	}
	runLua(t, script.String())
}

// TestOriginsOfLua compares the sets of origins in Lua with a plain reading of the list, over origins that are near it.
func TestOriginsOfLua(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	origin := func(label string) string {
		return pick("http", "https", "app+x") + "://" + label + pick("a.example", "b.example", "example", "localhost") + pick("", "", ":1", ":8080")
	}
	var script strings.Builder
	script.WriteString(`local origins = require "fairway.origins"
local set
local function check(origin, want)
    if origins.contains(set, origin) ~= want then error(origin .. ": want " .. tostring(want)) end
end
`)
	for range 100 {
		list := []string{origin("")}
		for range random.IntN(4) {
			list = append(list, pick(origin("*."), origin("x."), "null"))
		}
		fmt.Fprintf(&script, "set = origins.set { \"%s\" }\n", strings.Join(list, `", "`))
		for range 30 {
			asked := pick("", "", "", "", " ", "x") + pick("null", origin(""), origin("x."), origin("X."), origin("x-1."), origin("x.y."), origin("."), origin("*."), origin("x/"), origin("é.")) +
				pick("", "", "", "", ".", ".evil", "/", ":1", "\\n")
			want := false
			for _, item := range list {
				want = want || accepts(item, strings.ReplaceAll(asked, "\\n", "\n"))
			}
			fmt.Fprintf(&script, "check(\"%s\", %v)\n", asked, want)
		}
	}
	runLua(t, script.String())
}

// accepts tells whether an item of a list of origins accepts an Origin.
func accepts(item, origin string) bool {
	before, after, wild := strings.Cut(item, "*")
	origin = strings.ToLower(origin)
	if !wild {
		return origin == item
	}
	label, hasEnd := strings.CutSuffix(origin, after)
	label, hasBeginning := strings.CutPrefix(label, before)
	return hasEnd && hasBeginning && label != "" && strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}
