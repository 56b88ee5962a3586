// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package architecture

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/fairway-ingress/fairway/"

// layer says what the packages under some folders may import. Folders are relative to the module, and a package belongs to the layer with
// the longest folder that contains it.
type layer struct {
	name    string
	folders []string
	// may are the packages of this module that it may import besides its own sub-packages; nil means all.
	may []string
	// outside are the modules and folders outside the standard library that it may import; nil means all.
	outside []string
	// pure packages compute: neither clock nor network nor files are theirs to touch.
	pure bool
	// why is printed when the rule is broken.
	why string
}

var none = []string{}

// layers is the table of layers. Arrows go one way: wiring, input, meaning, tables, waist; drivers hang on the waist alone.
var layers = []layer{
	{
		name: "wiring", folders: []string{"cmd", "internal/controller", "internal/admission"},
		why: "wiring may import everything",
	},
	{
		name: "people", folders: []string{"internal/explain"},
		may: []string{"internal/source", "internal/ingress", "internal/gateway", "internal/annotation", "internal/settings", "internal/model"},
		why: "explaining asks the packages of meaning what they decided; it changes nothing and knows no data plane",
	},
	{
		name: "input", folders: []string{"internal/source/kube", "internal/source/manifests", "internal/source/dns", "internal/maxmind"},
		may: []string{"internal/source", "internal/source/kongapi"},
		why: "sources bring objects in; what the objects mean is decided in ingress and gateway, which hand them functions if need be",
	},
	{
		name: "snapshot", folders: []string{"internal/source"},
		may: none, outside: []string{"k8s.io/api", "k8s.io/apimachinery", "sigs.k8s.io/gateway-api"}, pure: true,
		why: "the snapshot is a plain value of Kubernetes API types: no client, no package of ours",
	},
	{
		name: "meaning", folders: []string{"internal/ingress", "internal/gateway"},
		may:     []string{"internal/source", "internal/annotation", "internal/settings", "internal/value", "internal/model"},
		outside: []string{"k8s.io/api", "k8s.io/apimachinery", "sigs.k8s.io/gateway-api"}, pure: true,
		why: "a build is a function from a Snapshot to a model; it knows neither clients nor data planes",
	},
	{
		name: "meaning for Kong", folders: []string{"internal/konghq"},
		may:     []string{"internal/source", "internal/source/kongapi", "internal/ingress", "internal/annotation", "internal/value", "internal/model"},
		outside: []string{"k8s.io/api", "k8s.io/apimachinery"}, pure: true,
		why: "it adds to what ingress has built what only a Kong Gateway is told; like ingress it knows neither clients nor data planes",
	},
	{
		name: "tables", folders: []string{"internal/annotation", "internal/settings"},
		may: []string{"internal/model", "internal/value"}, outside: none, pure: true,
		why: "a key turns text into a value and its effect on the model; it sees no Kubernetes object",
	},
	{
		name: "values", folders: []string{"internal/value"},
		may: []string{"internal/model"}, outside: none, pure: true,
		why: "text turns into values of the model; which key takes which is said by the tables",
	},
	{
		name: "waist", folders: []string{"internal/model"},
		may: none, outside: none, pure: true,
		why: "the model is plain data of the standard library, so that everything can stand on it",
	},
	{
		name: "nginx driver", folders: []string{"internal/nginx"},
		may: []string{"internal/model"}, outside: []string{"golang.org/x/sys"},
		why: "drivers see the model only: neither Kubernetes nor each other",
	},
	{
		name: "nginx driver, what computes", folders: []string{"internal/nginx/conf", "internal/nginx/state", "internal/nginx/traffic"},
		may: []string{"internal/model", "internal/nginx/conf"}, outside: none, pure: true,
		why: "what nginx is given is computed without touching the world: it cannot open a socket, a file or a process",
	},
	{
		name: "nginx driver, what touches the world", folders: []string{"internal/nginx/process", "internal/nginx/push"},
		may: []string{"internal/nginx/state"}, outside: []string{"golang.org/x/sys"},
		why: "these carry out and decide nothing, so they know neither model nor configuration",
	},
	{
		name: "nginx driver, Lua", folders: []string{"internal/nginx/lua"},
		may: none, outside: none, pure: true,
		why: "this package only carries the Lua files",
	},
	{
		name: "kong driver, what it writes", folders: []string{"internal/kong/entity", "internal/kong/plan"},
		may: []string{"internal/model", "internal/kong/entity"}, outside: none, pure: true,
		why: "what a gateway is to hold is plain data: nothing here can open a socket or keep a lock",
	},
	{
		name: "kong driver, what computes", folders: []string{"internal/kong/translate"},
		may: []string{"internal/model", "internal/kong/entity"}, outside: none, pure: true,
		why: "the state of a gateway is a function of the model and of what the gateway is",
	},
	{
		name: "kong driver, what touches the world", folders: []string{"internal/kong/admin"},
		may: []string{"internal/kong/entity"}, outside: []string{"sigs.k8s.io/yaml"},
		why: "requests are carried out and decide nothing",
	},
	{
		name: "simulated Kong", folders: []string{"internal/kong/kongtest"},
		may: none, outside: []string{"sigs.k8s.io/yaml"},
		why: "what the driver is tested against shares nothing with it, so that a mistake is not made twice",
	},
	{
		name: "other drivers", folders: []string{"internal/l4", "internal/kong"},
		may: []string{"internal/model"}, outside: []string{"golang.org/x", "github.com/pires/go-proxyproto"},
		why: "drivers see the model only: neither Kubernetes nor each other",
	},
	{
		name: "drivers before others", folders: []string{"internal/front"},
		may: []string{"internal/model"}, outside: none,
		why: "a driver before another driver sees what drivers see",
	},
	{
		name: "endpoint checks", folders: []string{"internal/health"},
		may: []string{"internal/model", "internal/front"}, outside: []string{"google.golang.org/grpc"},
		why: "this is a driver before another driver, so it sees what drivers see",
	},
	{
		name: "certificate status", folders: []string{"internal/ocsp"},
		may: []string{"internal/model", "internal/front"}, outside: []string{"golang.org/x/crypto/ocsp"},
		why: "this is a driver before another driver, so it sees what drivers see",
	},
	{
		name: "echo", folders: []string{"internal/status", "internal/events", "internal/metrics", "internal/tracing", "internal/election"},
		may: []string{"internal/model", "internal/source", "internal/source/kongapi"},
		why: "what is reported is computed from results; reporting decides nothing",
	},
	{
		name: "tests and aids", folders: []string{"internal/architecture", "internal/golden", "test", "hack"},
		why: "tests and aids may import everything",
	},
}

// impure are the packages that a pure one does without: what varies is a parameter.
var impure = []string{
	"crypto/rand", "log", "log/slog", "math/rand", "math/rand/v2", "net", "net/http", "os", "os/exec", "os/signal", "os/user", "path/filepath",
	"sync", "sync/atomic", "syscall", "unsafe",
}

// listed is what `go list` says of a package.
type listed struct {
	ImportPath string
	Name       string
	Dir        string
	Imports    []string
}

// folder is the package's path inside the module.
func (p listed) folder() string { return strings.TrimPrefix(p.ImportPath, module) }

// packages lists the packages of the module, those with nothing but tests among them.
func packages(t *testing.T) []listed {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Name,Dir,Imports", "./...")
	command.Dir = root(t)
	out, err := command.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list: %v\n%s", err, exit.Stderr)
		}
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func TestImports(t *testing.T) {
	for _, p := range packages(t) {
		l := layerOf(p.folder())
		if l == nil {
			t.Errorf("%s belongs to no layer.\nSay in internal/architecture/layers_test.go where it stands, and introduce it in ARCHITECTURE.md.", p.folder())
			continue
		}
		for _, imported := range p.Imports {
			if complaint := l.complaint(p.folder(), imported); complaint != "" {
				t.Errorf("%s (layer %q) imports %s: %s.\nThe rule: %s.", p.folder(), l.name, strings.TrimPrefix(imported, module), complaint, l.why)
			}
		}
	}
}

// complaint says why a package of the layer may not import another, or "".
func (l *layer) complaint(folder, imported string) string {
	inside, ours := strings.CutPrefix(imported, module)
	switch {
	case ours && l.may == nil:
		return ""
	case ours && (within(inside, folder) || slices.Contains(l.may, inside)):
		return ""
	case ours:
		return "that is not below it in the table of layers"
	case !standard(imported) && l.outside != nil && !slices.ContainsFunc(l.outside, func(m string) bool { return within(imported, m) }):
		return "that module is not among those of its layer"
	case l.pure && slices.Contains(impure, imported):
		return "the package is pure"
	}
	return ""
}

// layerOf gives the layer with the longest folder that contains the given one, or nil.
func layerOf(folder string) *layer {
	var best *layer
	longest := -1
	for i := range layers {
		for _, f := range layers[i].folders {
			if within(folder, f) && len(f) > longest {
				best, longest = &layers[i], len(f)
			}
		}
	}
	return best
}

// within tells whether a path is a folder or lies in it.
func within(path, folder string) bool { return path == folder || strings.HasPrefix(path, folder+"/") }

// standard tells whether an import path is of the standard library: the first part of all others has a dot.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

// TestTable proves that the table refuses what it is there to refuse.
func TestTable(t *testing.T) {
	for _, c := range []struct {
		folder, imported string
		refused          bool
	}{
		{"internal/model", "net/netip", false},
		{"internal/model", "net", true},
		{"internal/model", "sigs.k8s.io/yaml", true},
		{"internal/model", module + "internal/settings", true},
		{"internal/ingress", module + "internal/source", false},
		{"internal/ingress", module + "internal/source/kube", true},
		{"internal/ingress", module + "internal/nginx", true},
		{"internal/ingress", "k8s.io/client-go/kubernetes", true},
		{"internal/nginx", module + "internal/nginx/push", false},
		{"internal/nginx", "k8s.io/api/core/v1", true},
		{"internal/nginx", module + "internal/kong", true},
		{"internal/nginx/conf", "os/exec", true},
		{"internal/nginx/state", "net/http", true},
		{"internal/nginx/state", module + "internal/nginx/conf", false},
		{"internal/nginx/push", module + "internal/model", true},
		{"internal/nginx/process", module + "internal/nginx/conf", true},
		{"internal/status", module + "internal/nginx", true},
		{"cmd/fairway", module + "internal/nginx", false},
	} {
		complaint := layerOf(c.folder).complaint(c.folder, c.imported)
		if (complaint != "") != c.refused {
			t.Errorf("%s imports %s: complaint %q, want refused %v", c.folder, c.imported, complaint, c.refused)
		}
	}
}
