// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"fmt"
)

// Buffers say how requests and responses are held between client and backend. Sizes are bytes.
type Buffers struct {
	// Response reads responses ahead; Request reads the whole request body before the backend is asked.
	Response, Request bool
	Number            int   // of buffers for a response, at least 2
	Size              int64 // of each, and of the response header
	Busy              int64 // of what is on its way to the client at most; 0 for BusySize to choose
	MaxTempFile       int64 // 0 for none
	RequestBody       int64 // of memory for a request body
}

// BusySize is Busy, or what nginx chooses without it: two buffers. Where there are but two, it is one.
func (b Buffers) BusySize() int64 {
	switch {
	case b.Busy != 0:
		return b.Busy
	case b.Number == 2:
		return b.Size
	}
	return 2 * b.Size
}

// Settle gives b with values of usual in place of those that nginx refuses together, and calls refused with the annotation, which is also the setting,
// of each value that gave way and what is wrong with it. Values of usual do not give way, so nginx must take usual as it is.
//
// The rules are those of ngx_http_upstream: the busy buffers take at least one buffer and leave at least one, and a temporary
// file holds at least one.
func (b Buffers) Settle(usual Buffers, refused func(key, why string)) Buffers {
	for {
		busy, file := b.busyClash(), b.fileClash()
		switch {
		case busy == "" && file == "":
			return b
		case busy != "" && b.Busy != usual.Busy:
			refused("proxy-busy-buffers-size", busy)
			b.Busy = usual.Busy
		case busy != "" && b.Number != usual.Number:
			refused("proxy-buffers-number", busy)
			b.Number = usual.Number
		case busy == "" && b.MaxTempFile != usual.MaxTempFile:
			refused("proxy-max-temp-file-size", file)
			b.MaxTempFile = usual.MaxTempFile
		case b.Size != usual.Size:
			refused("proxy-buffer-size", cmp.Or(busy, file))
			b.Size = usual.Size
		default:
			panic(fmt.Sprintf("the usual buffers clash: %+v", usual))
		}
	}
}

// busyClash says why Busy, Number and Size do not go together, if they do not.
func (b Buffers) busyClash() string {
	most := int64(b.Number-1) * b.Size
	if busy := b.BusySize(); busy < b.Size || busy > most {
		span := byteCount(b.Size)
		if most != b.Size {
			span = "from " + span + " to " + byteCount(most)
		}
		return fmt.Sprintf("does not go with the rest: with %d buffers of %s, proxy-busy-buffers-size must be %s; set it so, or change one of them", b.Number, byteCount(b.Size), span)
	}
	return ""
}

// fileClash says why MaxTempFile and Size do not go together, if they do not.
func (b Buffers) fileClash() string {
	if b.MaxTempFile != 0 && b.MaxTempFile < b.Size {
		return fmt.Sprintf("does not go with the rest: with buffers of %s, proxy-max-temp-file-size must be 0 or at least as much; set it so, or make proxy-buffer-size smaller",
			byteCount(b.Size))
	}
	return ""
}
