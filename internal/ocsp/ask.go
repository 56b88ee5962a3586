// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ocsp

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/fairway-ingress/fairway/internal/model"
)

const (
	parallel = 4
	// An answer is fetched anew after half of its time, but not in a hurry and not too late.
	refreshMin = time.Second
	refreshMax = 24 * time.Hour
	retryMax   = time.Hour
	// withoutEnd is how long an answer is used that does not say when the next comes.
	withoutEnd = time.Hour
	// rest is how long nobody looks whether something is due.
	rest = time.Hour
)

// next takes an entry that is due, or says how long none is.
func (d *Driver) next(client *http.Client) (ask func(context.Context), wait time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	wait = rest
	for id, e := range d.entries {
		if e.question == nil || e.asked {
			continue
		}
		if left := e.due.Sub(now); left > 0 {
			wait = min(wait, left)
			continue
		}
		e.asked = true
		return func(ctx context.Context) {
			answer, err := e.question.ask(ctx, client, d.options.Patience)
			if ctx.Err() == nil {
				d.note(id, e, answer, err)
			}
		}, 0
	}
	return nil, wait
}

// note keeps an answer, or waits longer after each failure. An answer that was good stays until it ends.
func (d *Driver) note(id model.CertificateID, e *entry, answer model.OCSPAnswer, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	e.asked = false
	now := time.Now()
	if err != nil {
		e.due = now.Add(min(d.options.Retry<<min(e.failures, 10), retryMax))
		e.failures++
		if e.failure != err.Error() {
			e.failure = err.Error()
			d.log.Warn("authority says nothing of a certificate", "certificate", string(id), "url", e.question.url, "err", err)
		}
	} else {
		e.failures, e.failure = 0, ""
		e.due = now.Add(min(max(answer.Until.Sub(now)/2, refreshMin), refreshMax))
	}
	d.Wake()
	news := err == nil && answer != e.answer
	if err == nil {
		e.answer = answer
	} else if errors.Is(err, errRevoked) && e.answer.Text != "" {
		e.answer, news = model.OCSPAnswer{}, true
	}
	if news && d.entries[id] == e {
		d.Owe()
	}
}
