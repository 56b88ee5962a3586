// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/fairway-ingress/fairway/internal/maxmind"
)

// maxmindFlags are about databases that the controller downloads itself.
type maxmindFlags struct {
	key, mirror string
	attempts    int
	wait        time.Duration
}

func (f *maxmindFlags) flags() *pflag.FlagSet {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.StringVar(&f.key, "maxmind-license-key", "",
		"download the databases of --maxmind-edition-ids from MaxMind with this key at the start, into --geoip2-dir")
	flags.StringVar(&f.mirror, "maxmind-mirror", "", "download them from this URL instead, as URL/EDITION.tar.gz")
	flags.IntVar(&f.attempts, "maxmind-retries-count", 1, "attempts for each database")
	flags.DurationVar(&f.wait, "maxmind-retries-timeout", 0, "time before the second attempt, and half as much again before each further one; 0 for one attempt")
	return flags
}

func (f *maxmindFlags) check() error {
	if f.mirror == "" {
		return nil
	}
	if u, err := url.Parse(f.mirror); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return usageError{errors.New("--maxmind-mirror must be an http or https URL")}
	}
	if f.attempts < 1 {
		return usageError{fmt.Errorf("--maxmind-retries-count is %d; it must be 1 or more", f.attempts)}
	}
	return nil
}

// start downloads in the background: routes do not wait for databases, and whoever uses them watches the folder. What gets lost is logged, and an
// older database stays.
func (f *maxmindFlags) start(ctx context.Context, editions, dir string, log *slog.Logger) {
	if f.key == "" && f.mirror == "" {
		return
	}
	o := maxmind.Options{Key: maxmind.Key(f.key), Mirror: f.mirror, Attempts: f.attempts, Wait: f.wait}
	if f.wait <= 0 {
		o.Attempts = 1
	}
	go func() {
		for edition := range strings.SplitSeq(editions, ",") {
			if err := maxmind.Download(ctx, o, edition, dir); err != nil && ctx.Err() == nil {
				log.Error("database for GeoIP is not downloaded", "edition", edition, "err", err)
			}
		}
	}()
}
