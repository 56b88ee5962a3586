// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairway-ingress/fairway/internal/controller"
	"github.com/fairway-ingress/fairway/internal/explain"
	"github.com/fairway-ingress/fairway/internal/ingress"
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source/manifests"
)

// question says whom a command asks: a folder of manifests or a running controller.
type question struct {
	file       string
	runtimeDir string
	output     string
	classes    classFlags
	// status and header are those of the controller's answer.
	status int
	header http.Header
}

func (q *question) addFlags(c *cobra.Command) {
	q.addFileFlags(c)
	c.Flags().StringVar(&q.runtimeDir, "runtime-dir", defaultRuntimeDir(), "runtime directory of the running controller")
}

// addFileFlags are those of commands that ask no controller.
func (q *question) addFileFlags(c *cobra.Command) {
	c.Flags().StringVarP(&q.file, "filename", "f", "", "folder or file of manifests, or - for standard input; without it a running controller is asked")
	c.Flags().StringVarP(&q.output, "output", "o", "text", "text or json")
	c.Flags().AddFlagSet(q.classes.flags())
}

func (q *question) check() error {
	if q.output != "text" && q.output != "json" {
		return usageError{fmt.Errorf("--output is %q; it can be text or json", q.output)}
	}
	return q.classes.check()
}

// answer is what can be printed for people and encoded for programs.
type answer interface{ Print(io.Writer) }

// answer writes what a running controller says at that path, or what the manifests say of themselves.
func (q *question) answer(c *cobra.Command, path string, query url.Values, say func(*explain.Facts) (answer, error)) error {
	if err := q.check(); err != nil {
		return err
	}
	if q.file == "" {
		return q.ask(c, path, query)
	}
	facts, err := q.load(c.InOrStdin())
	if err != nil {
		return err
	}
	a, err := say(facts)
	if err != nil {
		return err
	}
	return q.write(c.OutOrStdout(), a)
}

func (q *question) write(w io.Writer, a answer) error {
	if q.output == "json" {
		return json.NewEncoder(w).Encode(a)
	}
	a.Print(w)
	return nil
}

// load reads the manifests and builds their model, as the controller would with the same class flags. The problems are also those for which the
// admission webhook would not let the objects in.
func (q *question) load(stdin io.Reader) (*explain.Facts, error) {
	s, err := manifests.Open(q.file, manifests.Options{Stdin: stdin})
	if err != nil {
		return nil, usageError{err}
	}
	options := q.classes.options()
	options.AllowLocalEndpoints = true // whether a machine may be reached is not for the files to say
	snapshot := s.Snapshot()
	builder := ingress.NewBuilder(options)
	result := builder.Build(snapshot)
	if len(result.ExternalNames) > 0 {
		snapshot = snapshot.WithAddresses(assumed(result.ExternalNames))
		result = builder.Build(snapshot)
	}
	options.DeepInspect = true
	settings := ingress.ReadSettings(options, snapshot)
	for _, ing := range result.Accepted {
		result.Model.Problems = append(result.Model.Problems, ingress.Inspect(options, settings, ing)...)
	}
	result.Model.Problems = model.SortProblems(result.Model.Problems)
	return &explain.Facts{
		Model: result.Model, Accepted: result.Accepted, Problems: controller.Problems(snapshot, result, time.Now()), HealthPath: defaultHealthPath,
	}, nil
}

// assumed gives names an address of the documentation range: without asking DNS they are taken to resolve.
func assumed(names []string) map[string][]netip.Addr {
	addresses := map[string][]netip.Addr{}
	for _, name := range names {
		addresses[name] = []netip.Addr{netip.MustParseAddr("192.0.2.1")}
	}
	return addresses
}

// ask gets an answer from the running controller.
func (q *question) ask(c *cobra.Command, path string, query url.Values) error {
	socket := filepath.Join(q.runtimeDir, controllerSocket)
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		},
	}}
	if query == nil {
		query = url.Values{}
	}
	query.Set("output", q.output)
	request, err := http.NewRequestWithContext(c.Context(), http.MethodGet, "http://controller"+path+"?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		remedy := "give manifests with -f, or the controller's --runtime-dir"
		if c.Flags().Lookup("filename") == nil {
			remedy = "give the controller's --runtime-dir"
		}
		return fmt.Errorf("ask the controller: %w; %s", errors.Unwrap(err), remedy)
	}
	defer response.Body.Close()
	q.status, q.header = response.StatusCode, response.Header
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(response.Body, 4096))
		return errors.New(strings.TrimSpace(string(text)))
	}
	if why := response.Header.Get(controller.StaleHeader); why != "" {
		fmt.Fprintf(c.ErrOrStderr(), "Warning: the last change is not in force: %s\n", why)
	}
	_, err = io.Copy(c.OutOrStdout(), response.Body)
	return err
}
