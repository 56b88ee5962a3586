// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Memory makes an anonymous file in memory. It holds the state with which nginx starts; private keys are in it, so it must have no
// name and no disk. It lives as long as somebody, nginx or a controller, has it open.
func Memory() (*os.File, error) {
	fd, err := unix.MemfdCreate("fairway-state", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make state memory file: %w", err)
	}
	return os.NewFile(uintptr(fd), "fairway-state"), nil
}

// Size of a file in bytes.
func Size(f *os.File) (int64, error) {
	stat, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return stat.Size(), nil
}
