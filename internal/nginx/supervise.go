// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package nginx

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/fairway-ingress/fairway/internal/nginx/conf"
	"github.com/fairway-ingress/fairway/internal/nginx/process"
	"github.com/fairway-ingress/fairway/internal/nginx/push"
	"github.com/fairway-ingress/fairway/internal/nginx/state"
)

const (
	backoffMin = 50 * time.Millisecond
	backoffMax = 10 * time.Second
	// healthyAfter is how long nginx must have lived for the next backoff to begin anew.
	healthyAfter = 30 * time.Second
)

// Run keeps nginx alive from the first Apply on until ctx ends, then stops it gracefully; see controller.Driver.
func (d *Driver) Run(ctx context.Context) error {
	select {
	case <-d.started:
	case <-ctx.Done():
		return nil
	}
	backoff := backoffMin
	for {
		begin := time.Now()
		proc, err := d.ensureRunning(ctx)
		d.note(err)
		if err == nil {
			select {
			case <-ctx.Done():
				d.stop(proc)
				return nil
			case <-proc.Done():
				err = fmt.Errorf("nginx ended: %w", orUnknown(proc.Err()))
				d.forget(ctx, proc)
			}
		}
		if ctx.Err() != nil {
			return nil
		}
		if time.Since(begin) > healthyAfter {
			backoff = backoffMin
		}
		d.log.Error("nginx is not running and is started again", "err", err, "after", backoff)
		select {
		case <-time.After(backoff):
		case <-ctx.Done():
			return nil
		}
		backoff = min(2*backoff, backoffMax)
	}
}

// note keeps what came of a start, for those who wait for it.
func (d *Driver) note(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failure, d.settled = err, err == nil
	d.ran = d.ran || err == nil
}

func orUnknown(err error) error {
	if err == nil {
		return errors.New("without an error")
	}
	return err
}

// ensureRunning gives the running master, starting one if there is none, when it answers with the whole state.
func (d *Driver) ensureRunning(ctx context.Context) (*process.Process, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.proc != nil { // adopted
		err := d.bringUp(ctx)
		if err == nil {
			return d.proc, nil
		}
		d.log.Warn("adopted nginx is replaced", "err", err)
		d.proc.Quit(ctx)
		d.proc = nil
	}
	removeStale(filepath.Join(d.command.Dir, conf.AdminSocket))
	removeStale(filepath.Join(d.command.Dir, conf.TLSSocket))
	proc, err := process.Start(d.command, d.memory, orDefault(d.options.AccessLog, os.Stdout), orDefault(d.options.ErrorLog, os.Stderr))
	if err != nil {
		return nil, err
	}
	d.proc = proc
	if err := d.awaitConfiguration(ctx, d.hash, nil); err != nil {
		proc.Quit(ctx)
		d.proc = nil
		return nil, err
	}
	d.log.Info("nginx started", "pid", proc.PID, "configuration", d.hash)
	if err := d.settle(ctx); err != nil {
		d.log.Error("state is not complete", "err", err)
		d.owe()
	}
	return proc, nil
}

// settle sends what nginx did not get from the memory file.
func (d *Driver) settle(ctx context.Context) error {
	status, err := d.client.Status(ctx)
	if err != nil {
		return err
	}
	if status.Generation == d.latest {
		d.unsent = nil
		return nil
	}
	if status.Generation > d.latest || d.latest-status.Generation > uint64(len(d.unsent)) {
		return d.resend(ctx, status.Generation)
	}
	if err := d.flush(ctx); errors.Is(err, push.ErrFull) {
		return d.grow(ctx)
	} else if err != nil {
		return err
	}
	return nil
}

// resend is for a zone that took only part of the memory file: a larger one takes it all.
func (d *Driver) resend(ctx context.Context, generation uint64) error {
	d.log.Warn("nginx has not the whole state", "generation", generation, "wanted", d.latest)
	d.unsent = nil
	return d.grow(ctx)
}

// bringUp leads an adopted nginx to the configuration and state that are wanted.
func (d *Driver) bringUp(ctx context.Context) error {
	status, err := d.client.Status(ctx)
	if err != nil {
		return err
	}
	if status.Configuration != d.hash {
		old := process.Workers(d.proc.PID)
		if err := d.proc.Reload(); err != nil {
			return err
		}
		if err := d.awaitConfiguration(ctx, d.hash, old); err != nil {
			return err
		}
	}
	d.log.Info("nginx adopted", "pid", d.proc.PID, "configuration", d.hash)
	return d.settle(ctx)
}

// adopt takes over the nginx of an earlier controller, with the state it holds. It tells whether there was one.
func (d *Driver) adopt() bool {
	proc, memory, err := process.Adopt(d.command, filepath.Join(d.command.Dir, conf.PIDFile))
	if err != nil {
		if !errors.Is(err, process.ErrNone) {
			d.log.Warn("running nginx can't be adopted", "err", err)
		}
		return false
	}
	held, latest, err := state.Replay(memory)
	if err != nil && !errors.Is(err, state.ErrTruncated) {
		d.log.Warn("state of the running nginx is not readable", "err", err)
		held, latest = state.Entries{}, 0
	}
	d.proc, d.memory, d.held, d.last, d.latest = proc, memory, held, nil, latest
	return true
}

// forget notes that the master is gone and makes its orphaned workers leave the ports.
func (d *Driver) forget(ctx context.Context, proc *process.Process) {
	d.mu.Lock()
	d.proc, d.settled = nil, false
	d.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	process.ReleaseOrphans(ctx, proc.PID)
}

// owe asks the controller to apply again.
func (d *Driver) owe() {
	select {
	case d.restarted <- struct{}{}:
	default:
	}
}

// stop lets the workers finish for as long as the settings allow.
func (d *Driver) stop(proc *process.Process) {
	d.mu.Lock()
	grace := d.config.Settings.WorkerShutdownTimeout
	d.proc, d.settled = nil, false
	d.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), grace+time.Second)
	defer cancel()
	proc.Quit(ctx)
	d.log.Info("nginx stopped", "pid", proc.PID)
}

// awaitRunning waits until Run has nginx running with the state it is owed, has failed to start it, or ctx ends.
func (d *Driver) awaitRunning(ctx context.Context) error {
	for {
		d.mu.Lock()
		running, failure := d.proc != nil && d.settled, d.failure
		d.mu.Unlock()
		if running {
			return nil
		}
		if failure != nil {
			return fmt.Errorf("nginx is not running: %w", failure)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("nginx is not running: %w", ctx.Err())
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func orDefault(w io.Writer, file *os.File) io.Writer {
	if w == nil {
		return file
	}
	return w
}
