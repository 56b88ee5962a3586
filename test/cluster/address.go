// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
)

// allocateIP hands out pod addresses in turn, so that one is not reused soon.
func (r *runner) allocateIP() (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for range 65000 {
		if r.lastIP++; r.lastIP > 65279 {
			r.lastIP = 256
		}
		ip := fmt.Sprintf("10.244.%d.%d", r.lastIP/256, r.lastIP%256)
		if low := r.lastIP % 256; low != 0 && low != 255 && !r.podIPs[ip] {
			r.podIPs[ip] = true
			return ip, nil
		}
	}
	return "", fmt.Errorf("no pod address left")
}

func (r *runner) releaseIP(ip string) {
	r.mu.Lock()
	delete(r.podIPs, ip)
	r.mu.Unlock()
}
