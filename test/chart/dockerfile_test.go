// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

// image is the last stage of the Dockerfile.
type image struct {
	user, entrypoint string
	run              string
	ports            []string
}

// readDockerfile reads it with BuildKit's own parser. Nothing is built: that takes a container runtime.
func readDockerfile(t *testing.T) image {
	t.Helper()
	file, err := os.Open(root + "/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	parsed, err := parser.Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range parsed.Warnings {
		t.Error(w.Short)
	}
	stages, _, err := instructions.Parse(parsed.AST, nil)
	if err != nil {
		t.Fatal(err)
	}
	var i image
	for _, command := range stages[len(stages)-1].Commands {
		switch c := command.(type) {
		case *instructions.UserCommand:
			i.user = c.User
		case *instructions.EntrypointCommand:
			i.entrypoint = strings.Join(c.CmdLine, " ")
		case *instructions.ExposeCommand:
			i.ports = append(i.ports, c.Ports...)
		case *instructions.RunCommand:
			i.run += strings.Join(c.CmdLine, " ")
		}
	}
	return i
}

// TestDockerfile holds the image and the chart together.
func TestDockerfile(t *testing.T) {
	i := readDockerfile(t)
	d := mustRender(t, release, nil).find("Deployment", "fairway-controller")
	c := container(t, d)
	context := c["securityContext"].(map[string]any)
	if want := fmt.Sprintf("%v:%v", context["runAsUser"], context["runAsGroup"]); i.user != want {
		t.Errorf("the image runs as %s, the chart as %s", i.user, want)
	}
	if !strings.HasSuffix(i.entrypoint, "/fairway controller") {
		t.Errorf("entry point %q", i.entrypoint)
	}
	for _, port := range c["ports"].([]any) {
		if number := fmt.Sprint(port.(map[string]any)["containerPort"]); !slices.Contains(i.ports, number) {
			t.Errorf("the chart has port %s, the image %v", number, i.ports)
		}
	}
	for _, program := range []string{"/nginx-ingress-controller", "/wait-shutdown"} {
		if !strings.Contains(i.run, "ln -s /usr/local/bin/fairway "+program) {
			t.Errorf("the image has no %s", program)
		}
	}
}

// TestImagesPackages compares what the image installs with what hack/install-packages.sh does for tests.
func TestImagesPackages(t *testing.T) {
	text, err := os.ReadFile(root + "/hack/install-packages.sh")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"ca-certificates", "dumb-init", "libcap2-bin"} // of the image alone
	for _, m := range regexp.MustCompile(`(?m)^runtime +([a-z0-9-]+)`).FindAllStringSubmatch(string(text), -1) {
		if m[1] != "curl" { // for people who try the demo
			want = append(want, m[1])
		}
	}
	_, list, _ := strings.Cut(readDockerfile(t).run, "--no-install-recommends")
	list, _, _ = strings.Cut(list, "&&")
	got := strings.Fields(strings.ReplaceAll(list, "\\", ""))
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the image has the packages\n%v\nwant\n%v", got, want)
	}
}
