// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package streamlog

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/fairway-ingress/fairway/internal/model"
)

// file is where lines go.
type file struct {
	path string // empty for standard output, or what stands for it
	gzip int    // level, 0 for none
}

func newFile(logs *model.Logs) file {
	f := file{path: logs.Stream}
	for _, word := range logs.Params {
		name, level, given := strings.Cut(word, "=")
		switch {
		case name != "gzip":
		case !given:
			f.gzip = gzip.BestSpeed
		default:
			f.gzip, _ = strconv.Atoi(level) // 1 to 9, as the settings have found
		}
	}
	return f
}

// patience is how long a pipe may take nothing. Others can write to the same one, so it is not to be waited for without end.
const patience = 5 * time.Second

// write writes whole lines.
func (f file) write(lines []byte, standard io.Writer) error {
	to := standard
	switch f.path {
	case "":
	case "/dev/stdout": // which the controller's user may not open
		to = os.Stdout
	case "/dev/stderr":
		to = os.Stderr
	default:
		opened, err := os.OpenFile(f.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY|syscall.O_NONBLOCK, 0o640)
		if err != nil {
			return err
		}
		defer opened.Close()
		_ = opened.SetWriteDeadline(time.Now().Add(patience)) // only pipes have one
		to = opened
	}
	if f.gzip > 0 {
		return f.compress(lines, to)
	}
	return inPieces(lines, to)
}

// compress writes lines as a whole gzip file: many of them one behind the other are one.
func (f file) compress(lines []byte, to io.Writer) error {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, f.gzip)
	if err != nil {
		return fmt.Errorf("gzip level %d: %w", f.gzip, err)
	}
	_, _ = z.Write(lines) // into memory
	_ = z.Close()
	_, err = to.Write(out.Bytes())
	return err
}

// pieceSize is how much the kernel writes into a pipe as one, see pipe(7).
const pieceSize = 4096

// inPieces writes lines without tearing one, as nginx may write to the same pipe. A longer line is torn.
func inPieces(lines []byte, to io.Writer) error {
	for len(lines) > 0 {
		n := len(lines)
		if n > pieceSize {
			n = bytes.LastIndexByte(lines[:pieceSize], '\n') + 1
			if n == 0 {
				n = bytes.IndexByte(lines, '\n') + 1
			}
		}
		if _, err := to.Write(lines[:n]); err != nil {
			return err
		}
		lines = lines[n:]
	}
	return nil
}
