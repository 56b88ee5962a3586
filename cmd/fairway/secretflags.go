// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"strings"

	"github.com/spf13/pflag"
)

// secretFlags say which Secrets are looked at. Those that other flags name always are.
type secretFlags struct {
	secretNamespaces []string
	secretSelector   selectorFlag
}

func (f *secretFlags) add(flags *pflag.FlagSet) {
	flags.StringSliceVar(&f.secretNamespaces, "watch-secrets-in", nil,
		"namespaces whose Secrets alone are watched, comma-separated, so that no right to those of others is needed; empty for all that Ingresses are taken of")
	flags.Var(&f.secretSelector, "secret-label-selector", "watch Secrets with matching labels alone")
}

// check finds mistakes that these flags make with others.
func (f *secretFlags) check(namespace string) error {
	if namespace != "" && len(f.secretNamespaces) > 0 {
		return usageError{errors.New("--watch-namespace and --watch-secrets-in exclude each other: Secrets of the watched namespace alone are watched then")}
	}
	return nil
}

// limit says in words which Secrets are looked at; empty for all.
func (f *secretFlags) limit() string {
	var words []string
	if len(f.secretNamespaces) > 0 {
		words = append(words, "of --watch-secrets-in="+strings.Join(f.secretNamespaces, ","))
	}
	if f.secretSelector.Selector != nil {
		words = append(words, "with labels "+f.secretSelector.String())
	}
	return strings.Join(words, " ")
}
