// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package http

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// runLua runs a script in the Lua of an nginx of its own, which ends with the script, and fails with an error in it. Fairway's modules are at hand.
func runLua(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	modules, err := filepath.Abs("../../../internal/nginx/lua")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"script.lua": script + "\nos.exit(0)\n", "nginx.conf": fmt.Sprintf(`
load_module /usr/lib/nginx/modules/ndk_http_module.so;
load_module /usr/lib/nginx/modules/ngx_http_lua_module.so;
daemon off;
pid %[1]s/nginx.pid;
error_log stderr;
events {}
http {
    access_log off;
    lua_package_path '%[2]s/?.lua;;';
    lua_shared_dict fairway_nonces 1m;
    init_by_lua_file %[1]s/script.lua;
}
`, dir, modules)}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command("/usr/sbin/nginx", "-c", filepath.Join(dir, "nginx.conf"), "-p", dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestNetworksOfLua compares the sets of networks in Lua with Go's, over addresses that are near the networks' ends.
func TestNetworksOfLua(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var script strings.Builder
	script.WriteString("local cidr = require \"fairway.cidr\"\n" +
		"local function check(set, address, want, text)\n" +
		"    if cidr.contains(set, address) ~= want then error(text .. \": want \" .. tostring(want)) end\n" +
		"end\nlocal set\n")
	for range 150 {
		var networks []netip.Prefix
		for range 1 + random.IntN(6) {
			networks = append(networks, randomNetwork(random))
		}
		fmt.Fprintf(&script, "set = cidr.set { ")
		for _, n := range networks {
			fmt.Fprintf(&script, "%q, ", n)
		}
		fmt.Fprintf(&script, "}\n")
		for range 20 {
			address := near(random, networks[random.IntN(len(networks))])
			want := false
			for _, n := range networks {
				want = want || n.Contains(address.Unmap())
			}
			var binary strings.Builder
			for _, b := range address.AsSlice() {
				fmt.Fprintf(&binary, "\\%03d", b)
			}
			fmt.Fprintf(&script, "check(set, \"%s\", %v, %q)\n", &binary, want, fmt.Sprint(networks, " and ", address))
		}
	}
	runLua(t, script.String())
}

func randomNetwork(random *rand.Rand) netip.Prefix {
	address := randomAddress(random)
	return netip.PrefixFrom(address, random.IntN(address.BitLen()+1)).Masked()
}

func randomAddress(random *rand.Rand) netip.Addr {
	var b [16]byte
	for i := range b {
		b[i] = byte(random.IntN(256) & random.IntN(256)) // zeros are frequent, so that "::" is
	}
	if random.IntN(2) == 0 {
		return netip.AddrFrom4([4]byte(b[:4]))
	}
	b[0] |= 0x20 // no IPv4 in disguise
	return netip.AddrFrom16(b)
}

// near gives an address in the network, or one with a flipped bit, and sometimes IPv4 as IPv6.
func near(random *rand.Rand, network netip.Prefix) netip.Addr {
	b := network.Addr().AsSlice()
	for bit := network.Bits(); bit < 8*len(b); bit++ {
		b[bit/8] |= byte(random.IntN(2)) << (7 - bit%8)
	}
	if bit := random.IntN(8 * len(b)); random.IntN(2) == 0 {
		b[bit/8] ^= 1 << (7 - bit%8)
	}
	address, _ := netip.AddrFromSlice(b)
	if address.Is4() && random.IntN(4) == 0 {
		return netip.AddrFrom16(address.As16())
	}
	return address
}
