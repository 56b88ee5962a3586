// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// image says how a container whose image name matches is run.
type image struct {
	Match string            `json:"match"`          // regular expression on the image name
	Exec  []string          `json:"exec,omitempty"` // program and fixed arguments; ${BIN} is the directory of built programs
	Args  []string          `json:"args,omitempty"` // default arguments, used when the container declares none
	Env   map[string]string `json:"env,omitempty"`
	Host  bool              `json:"host,omitempty"`       // run the container's own command with the machine's programs
	NoArg bool              `json:"ignoreArgs,omitempty"` // ignore the container's arguments
	Fake  bool              `json:"fake,omitempty"`       // no process and no namespace at all, only an address and a status
	Init  bool              `json:"init,omitempty"`       // also run it as an init container (else those are skipped)

	re *regexp.Regexp
}

type imageTable struct {
	entries []*image
	bin     string
}

// Built-in mappings, in order; entries whose program does not exist are left
// out. The last one catches every unknown image.
const defaultImages = `
- {match: "(^|/)fake(:|$)", fake: true}
- {match: "busybox|alpine|debian|ubuntu|curl|distroless|bash", host: true, init: true}
- {match: "", exec: ["${BIN}/echo"], ignoreArgs: true}
`

func loadImages(bin, file string) (*imageTable, error) {
	t := &imageTable{bin: bin}
	sources := [][]byte{[]byte(defaultImages)}
	if file != "" {
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		sources = [][]byte{b, []byte(defaultImages)}
	}
	for _, b := range sources {
		var list []*image
		if err := yaml.UnmarshalStrict(b, &list); err != nil {
			return nil, fmt.Errorf("images: %w", err)
		}
		for _, e := range list {
			var err error
			if e.re, err = regexp.Compile(e.Match); err != nil {
				return nil, fmt.Errorf("images: %w", err)
			}
			for i := range e.Exec {
				e.Exec[i] = strings.ReplaceAll(e.Exec[i], "${BIN}", bin)
			}
			t.entries = append(t.entries, e)
		}
	}
	return t, nil
}

// lookup returns the entry for an image name. It looks at the disk each time,
// so that programs built after "up" are found.
func (t *imageTable) lookup(name string) *image {
	for _, e := range t.entries {
		if !e.re.MatchString(name) {
			continue
		}
		if len(e.Exec) > 0 && filepath.IsAbs(e.Exec[0]) {
			if _, err := os.Stat(e.Exec[0]); err != nil {
				continue
			}
		}
		return e
	}
	return &image{Fake: true}
}

// argv is the command line of a container.
func (e *image) argv(c *corev1.Container, expand func(string) string) []string {
	declared := make([]string, 0, len(c.Command)+len(c.Args))
	for _, list := range [][]string{c.Command, c.Args} {
		for _, a := range list {
			declared = append(declared, expand(a))
		}
	}
	if e.Host {
		if len(declared) == 0 {
			return []string{"sleep", "infinity"}
		}
		return declared
	}
	argv := append([]string(nil), e.Exec...)
	if e.NoArg {
		return append(argv, e.Args...)
	}
	if len(c.Command) > 0 { // the image's own program is replaced by ours
		declared = declared[1:]
	}
	if len(declared) == 0 {
		declared = e.Args
	}
	return append(argv, declared...)
}
