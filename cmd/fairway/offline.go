// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
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

	"github.com/fairway-ingress/fairway/internal/ingress"
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
	"github.com/fairway-ingress/fairway/internal/source/manifests"
)

// question says whom a command asks: a folder of manifests or a running controller.
type question struct {
	file       string
	runtimeDir string
	output     string
	classes    classFlags
}

func (q *question) addFlags(c *cobra.Command) {
	c.Flags().StringVarP(&q.file, "filename", "f", "", "folder or file of manifests, or - for standard input; without it a running controller is asked")
	c.Flags().StringVar(&q.runtimeDir, "runtime-dir", defaultRuntimeDir(), "runtime directory of the running controller")
	c.Flags().StringVarP(&q.output, "output", "o", "text", "text or json")
	q.classes.add(c.Flags())
}

func (q *question) check() error {
	if q.output != "text" && q.output != "json" {
		return usageError{fmt.Errorf("--output is %q; it can be text or json", q.output)}
	}
	return nil
}

// load reads the manifests and builds their model, as the controller would with the same class flags.
func (q *question) load(stdin io.Reader) (*source.Snapshot, *ingress.Result, error) {
	s, err := manifests.Open(q.file, manifests.Options{Stdin: stdin})
	if err != nil {
		return nil, nil, err
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
	return snapshot, result, nil
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
func (q *question) ask(ctx context.Context, out io.Writer, path string, query url.Values) error {
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
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://controller"+path+"?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("ask the controller at %s: %w; give manifests with -f, or the controller's --runtime-dir", socket, errors.Unwrap(err))
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(response.Body, 4096))
		return errors.New(strings.TrimSpace(string(text)))
	}
	_, err = io.Copy(out, response.Body)
	return err
}

// faultProblems makes the faults of files look like other problems.
func faultProblems(faults []source.Fault) []model.Problem {
	var problems []model.Problem
	for _, f := range faults {
		field := ""
		if f.Line > 0 {
			field = fmt.Sprintf("line %d", f.Line)
		}
		problems = append(problems, model.Problem{
			Object: model.Ref{Kind: "File", Name: f.File}, Field: field, Reason: model.ReasonUnreadableManifest, Message: f.Message,
		})
	}
	return problems
}
