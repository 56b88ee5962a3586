// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package nginx

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/fairway-ingress/fairway/internal/nginx/conf"
	"github.com/fairway-ingress/fairway/internal/nginx/lua"
	"github.com/fairway-ingress/fairway/internal/nginx/process"
	"github.com/fairway-ingress/fairway/internal/nginx/state"
)

// minZoneBytes is generous because memory that is not touched costs nothing.
const minZoneBytes = 64 << 20

// zoneBytes is the size of a zone that holds the entries and their double.
func zoneBytes(entries state.Entries) int64 {
	var need int64
	for key, value := range entries {
		need += int64(len(key)+len(value)) + 128
	}
	size := int64(minZoneBytes)
	for size < 3*need {
		size *= 2
	}
	return size
}

// prepare makes the runtime directory and finds out what this machine's nginx is like.
func (d *Driver) prepare() (conf.Place, string, error) {
	var none conf.Place
	dir, err := filepath.Abs(d.options.RuntimeDir)
	if err != nil {
		return none, "", err
	}
	binary, err := findBinary(d.options.Binary)
	if err != nil {
		return none, "", err
	}
	modules, err := findModules(d.options.ModulesDir)
	if err != nil {
		return none, "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	version, err := process.Version(ctx, binary)
	if err != nil {
		return none, "", err
	}
	place := conf.Place{
		Dir: dir, ModulesDir: modules, Address: d.options.Address, IPv6: hasIPv6(),
		HTTPPort: d.options.HTTPPort, HTTPSPort: d.options.HTTPSPort,
		HTTP2OnPort: older(version, 1, 25, 1), HealthPath: "/healthz", OpenFiles: openFiles(),
	}
	place.Brotli, place.GeoIP = findBrotli(modules), exists(filepath.Join(modules, "ngx_http_geoip2_module.so"))
	place.ModSecurity, place.CoreRules = findRules(modules, dir)
	if d.options.HealthPath != "" {
		place.HealthPath = d.options.HealthPath
	}
	if strings.Contains(place.Address, ":") {
		place.Address = "[" + place.Address + "]"
	}
	if place.CoreRules == filepath.Join(dir, coreRulesFile) {
		if err := os.MkdirAll(dir, 0o711); err != nil {
			return none, "", fmt.Errorf("make runtime directory: %w", err)
		}
		if err := writeFile(place.CoreRules, []byte(debianCoreRules)); err != nil {
			return none, "", err
		}
	}
	w, err := findWorker(os.Getuid(), os.Getgid(), d.options.WorkerUser)
	if err != nil {
		return none, "", err
	}
	place.User, place.Group = w.user, w.group
	return place, binary, makeDirs(dir, w.uid, w.gid)
}

// makeDirs makes the folders of the runtime directory. Workers may pass through it, but only the controller's user may look at the
// admin socket, and only the workers' user at request bodies.
func makeDirs(dir string, uid, gid int) error {
	if err := os.MkdirAll(dir, 0o711); err != nil {
		return fmt.Errorf("make runtime directory: %w", err)
	}
	for name, mode := range map[string]fs.FileMode{"admin": 0o700, conf.LuaDir: 0o755, conf.TempDir: 0o700, conf.TrustDir: 0o755} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(path, mode); err != nil {
			return fmt.Errorf("make runtime directory: %w", err)
		}
		if err := os.Chmod(path, mode); err != nil {
			return fmt.Errorf("make runtime directory: %w", err)
		}
	}
	if err := os.Chown(filepath.Join(dir, conf.TempDir), uid, gid); err != nil {
		return fmt.Errorf("make runtime directory: %w", err)
	}
	return writePlaceholder(dir)
}

func findBinary(name string) (string, error) {
	if name == "" {
		name = "nginx"
	}
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	if path, err := exec.LookPath(filepath.Join("/usr/sbin", filepath.Base(name))); err == nil {
		return path, nil
	}
	return "", fmt.Errorf("find nginx: no program %q; install it (hack/install-packages.sh) or name it with --nginx-binary", name)
}

func findModules(dir string) (string, error) {
	const wanted = "ngx_http_lua_module.so"
	candidates := []string{dir}
	if dir == "" {
		candidates = []string{"/usr/lib/nginx/modules", "/usr/lib64/nginx/modules", "/usr/share/nginx/modules", "/etc/nginx/modules"}
	}
	for _, c := range candidates {
		if _, err := os.Stat(filepath.Join(c, wanted)); err == nil {
			return c, nil
		}
	}
	return "", fmt.Errorf("find nginx modules: no %s in %s; install libnginx-mod-http-lua", wanted, strings.Join(candidates, ", "))
}

// findBrotli gives the modules for Brotli, nil without the one that compresses.
func findBrotli(modules string) []string {
	const filter, static = "ngx_http_brotli_filter_module.so", "ngx_http_brotli_static_module.so"
	switch {
	case !exists(filepath.Join(modules, filter)):
		return nil
	case exists(filepath.Join(modules, static)):
		return []string{filter, static}
	}
	return []string{filter}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// debianCoreRules includes what Debian's package of the OWASP core rules installs; its own file is for Apache.
const (
	coreRulesFile   = "core-rules.conf"
	debianCoreRules = "Include /etc/modsecurity/crs/crs-setup.conf\nInclude /usr/share/modsecurity-crs/rules/*.conf\n"
)

// findRules gives the files of ModSecurity's recommended configuration and of the OWASP core rules, "" for what is not installed.
func findRules(modules, dir string) (recommended, core string) {
	if _, err := os.Stat(filepath.Join(modules, "ngx_http_modsecurity_module.so")); err != nil {
		return "", ""
	}
	for _, path := range []string{"/etc/nginx/modsecurity/modsecurity.conf", "/etc/nginx/modsecurity.conf"} {
		if _, err := os.Stat(path); err == nil && recommended == "" {
			recommended = path
		}
	}
	if _, err := os.Stat("/etc/nginx/owasp-modsecurity-crs/nginx-modsecurity.conf"); err == nil {
		return recommended, "/etc/nginx/owasp-modsecurity-crs/nginx-modsecurity.conf"
	}
	if rules, _ := filepath.Glob("/usr/share/modsecurity-crs/rules/*.conf"); len(rules) > 0 {
		core = filepath.Join(dir, coreRulesFile)
	}
	return recommended, core
}

func hasIPv6() bool {
	l, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		return false
	}
	l.Close()
	return true
}

// openFiles is as many as the system lets a worker have, within reason.
func openFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return int(min(limit.Max, 1<<20))
}

// older tells whether a version such as "1.22.1" comes before the given one.
func older(version string, than ...int) bool {
	parts := strings.Split(version, ".")
	for i, want := range than {
		have := 0
		if i < len(parts) {
			have, _ = strconv.Atoi(parts[i])
		}
		if have != want {
			return have < want
		}
	}
	return false
}

// writeModules puts the Lua modules where nginx finds them and gives their hash.
func writeModules(dir string) (string, error) {
	sum := sha256.New()
	err := fs.WalkDir(lua.Files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(dir, path)
		if entry.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		text, err := lua.Files.ReadFile(path)
		if err != nil {
			return err
		}
		_, _ = io.WriteString(sum, path)
		sum.Write(text)
		return os.WriteFile(target, text, 0o644)
	})
	if err != nil {
		return "", fmt.Errorf("write Lua modules: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8]), nil
}

// writeFile replaces a file as a whole or not at all.
func writeFile(path string, text []byte) error {
	temp := path + ".tmp"
	if err := os.WriteFile(temp, text, 0o600); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(temp, path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// writeFiles puts the files that a configuration names where it looks for them. They are named by their content, so none is ever
// rewritten.
func writeFiles(c conf.Config) error {
	for name, content := range c.Files() {
		path := filepath.Join(c.Place.Dir, name)
		if _, err := os.Stat(path); err == nil {
			continue
		}
		if err := writeFile(path, content); err != nil {
			return err
		}
	}
	return nil
}

// rewrite replaces the content of the memory file in place; nginx has the file itself open, so there is no other way.
func rewrite(f *os.File, text string) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err := f.WriteString(text)
	return err
}

// removeStale removes the socket of a dead nginx, which would keep the next one from binding.
func removeStale(socket string) { _ = os.Remove(socket) }
