// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"math/rand/v2"
	"testing"
)

// nginxTakes is the rule of ngx_http_upstream for its busy buffers and temporary files, written down once more.
func nginxTakes(b Buffers) bool {
	busy := b.BusySize()
	return b.Number >= 2 && busy >= b.Size && busy <= int64(b.Number-1)*b.Size && (b.MaxTempFile == 0 || b.MaxTempFile >= b.Size)
}

// TestSettle tries all kinds of combinations over all kinds of usual ones: what comes out is always taken, and each value is what was asked for
// or, after a complaint about its key, the usual one.
func TestSettle(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	sizes := []int64{1 << 10, 4 << 10, 8 << 10, 12 << 10, 16 << 10, 64 << 10, 1 << 20, 64 << 20}
	pick := func() Buffers {
		return Buffers{
			Number: 2 + random.IntN(7), Size: sizes[random.IntN(len(sizes))], Busy: append(sizes, 0, 0, 0)[random.IntN(len(sizes)+3)],
			MaxTempFile: append(sizes, 0, 1<<30)[random.IntN(len(sizes)+2)],
		}
	}
	fine := DefaultSettings().Route.Buffers
	refusals := 0
	for range 20000 {
		usual := pick().Settle(fine, func(string, string) {})
		if !nginxTakes(usual) {
			t.Fatalf("nginx refuses %+v", usual)
		}
		asked := pick()
		refused := map[string]bool{}
		got := asked.Settle(usual, func(key, why string) {
			if refused[key] || why == "" {
				t.Errorf("%s is refused again, or for nothing", key)
			}
			refused[key] = true
		})
		want := asked
		if refused["proxy-buffers-number"] {
			want.Number = usual.Number
		}
		if refused["proxy-buffer-size"] {
			want.Size = usual.Size
		}
		if refused["proxy-busy-buffers-size"] {
			want.Busy = usual.Busy
		}
		if refused["proxy-max-temp-file-size"] {
			want.MaxTempFile = usual.MaxTempFile
		}
		if got != want || !nginxTakes(got) {
			t.Fatalf("%+v over %+v gives %+v, refused %v", asked, usual, got, refused)
		}
		if (len(refused) > 0) == nginxTakes(asked) {
			t.Fatalf("%+v: refused %v", asked, refused)
		}
		refusals += min(1, len(refused))
	}
	if refusals < 1000 || refusals > 19000 {
		t.Errorf("%d of 20000 combinations were refused, so there is little to this test", refusals)
	}
}
