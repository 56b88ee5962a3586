// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package nginx

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/nginx/conf"
	"github.com/fairway-ingress/fairway/internal/nginx/process"
	"github.com/fairway-ingress/fairway/internal/nginx/push"
	"github.com/fairway-ingress/fairway/internal/nginx/state"
	"github.com/fairway-ingress/fairway/internal/nginx/traffic"
)

// Driver brings models into force on one nginx; it is a controller.Driver. Apply and Run may be called from different goroutines.
type Driver struct {
	options   Options
	log       *slog.Logger
	command   process.Command
	client    *push.Client
	fallback  *model.Certificate // self-signed, for names without a certificate
	restarted chan struct{}
	started   chan struct{} // closed by start when there is a configuration to start with
	start     sync.Once
	running   atomic.Pointer[configuration]

	mu      sync.Mutex  // guards all below
	config  conf.Config // in force; Shapes is nil before the first Apply
	hash    string      // of config, as workers report it
	held    state.Entries
	last    *model.Model // that held was made of; nil when held came from elsewhere
	memory  *os.File     // the state memory file; holds what `held` says
	grown   int64        // size of the memory file after the last compaction
	latest  uint64       // generation of held
	unsent  []state.Push
	proc    *process.Process // nil while nginx is not running
	settled bool             // proc answered and was given the state
	ran     bool             // nginx has been settled once
	failure error            // why nginx could not be started; nil while it runs or has not been tried

	inherited conf.Shapes // of the routes that an adopted nginx had

	files  files  // that the next configuration is made of
	refuse string // why the newest template is refused, "" when it is not

	tested   *model.Settings          // that nginx took last; nil for none
	verdicts map[model.Snippet]string // of raw configuration that was tested: why nginx refuses it, "" when it does not
}

// New prepares the runtime directory and looks at the nginx program. Nothing is started.
func New(options Options) (*Driver, error) {
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	d := &Driver{
		options: options, log: options.Log, held: state.Entries{},
		restarted: make(chan struct{}, 1), started: make(chan struct{}), verdicts: map[model.Snippet]string{},
	}
	place, binary, err := d.prepare()
	if err != nil {
		return nil, err
	}
	modules, err := writeModules(filepath.Join(place.Dir, conf.LuaDir))
	if err != nil {
		return nil, err
	}
	if d.fallback, err = selfSigned(); err != nil {
		return nil, err
	}
	d.config = conf.Config{Place: place, ZoneBytes: minZoneBytes, Modules: modules}
	if o := options.Traffic; o != nil {
		d.config.Traffic = &conf.Traffic{Options: *o, Layout: traffic.Layout(o)}
	}
	d.command = process.Command{Binary: binary, Dir: place.Dir, Conf: filepath.Join(place.Dir, "nginx.conf")}
	d.client = push.NewClient(filepath.Join(place.Dir, conf.AdminSocket))
	return d, nil
}

// Restarted sends a value when a push is owed because nginx came back.
func (d *Driver) Restarted() <-chan struct{} { return d.restarted }

// Apply brings m into force; see controller.Driver.
func (d *Driver) Apply(ctx context.Context, m *model.Model) (model.Change, error) {
	begin := time.Now()
	change, err := d.applyRunning(ctx, m)
	change.Took = time.Since(begin)
	return change, err
}

func (d *Driver) applyRunning(ctx context.Context, m *model.Model) (model.Change, error) {
	d.mu.Lock()
	ran := d.ran
	d.mu.Unlock()
	if ran { // it may be on its way back
		if err := d.awaitRunning(ctx); err != nil {
			return model.Change{}, err
		}
	}
	d.mu.Lock()
	change, err := d.apply(ctx, m)
	d.running.Store(&configuration{len(d.config.Shapes), d.hash})
	d.mu.Unlock()
	if !ran && err == nil {
		d.start.Do(func() { close(d.started) })
		err = d.awaitRunning(ctx)
	}
	return change, err
}

func (d *Driver) apply(ctx context.Context, m *model.Model) (model.Change, error) {
	if d.memory == nil {
		if err := d.takeOver(); err != nil {
			return model.Change{}, err
		}
	}
	if err := d.checkSettings(ctx, m); err != nil {
		return model.Change{}, err
	}
	if err := d.checkSnippets(ctx, m); err != nil {
		return model.Change{}, err
	}
	known := d.last
	if len(d.unsent) > 0 {
		known = nil // nginx still has routes of an older model
	}
	plan := newPlan(d.config, d.files, state.Compare(d.held, d.last, m, d.fallback), known, m)
	if !d.ran {
		return d.begin(plan, m)
	}
	change := model.Change{Generation: d.latest, Reload: plan.Reload, Reasons: plan.Reasons}
	if plan.Reload {
		if len(d.unsent) > 0 {
			plan.Config.Shapes.Add(d.config.Shapes) // nginx may still have a state older than the last one
		}
		if err := d.reload(ctx, plan.Config); err != nil {
			return change, err
		}
	}
	pushes := state.Pushes(d.latest, plan.Changes)
	for _, p := range pushes {
		if err := d.remember(p); err != nil {
			return change, err
		}
		change.Set, change.Deleted, change.Bytes = change.Set+p.Set, change.Deleted+p.Deleted, change.Bytes+len(p.Text)
	}
	d.keep(plan, m)
	change.Generation = d.latest
	if err := d.flush(ctx); err != nil {
		if !errors.Is(err, push.ErrFull) {
			return change, err
		}
		change.Reload, change.Reasons = true, append(change.Reasons, ReasonZoneFull)
		if err := d.grow(ctx); err != nil {
			return change, err
		}
	}
	d.compact()
	return change, nil
}

// takeOver adopts a running nginx with the state it holds, or begins with an empty one.
func (d *Driver) takeOver() error {
	if d.adopt() {
		// Its routes are served until the changes are in, so their shapes must stay for that long.
		d.inherited = state.Shapes(d.held).WithoutParts()
		return nil
	}
	memory, err := process.Memory()
	d.memory = memory
	return err
}

// begin leaves everything ready for Run to start nginx, or to lead an adopted one to this model. It is repeated until that has succeeded once, so
// that a first configuration which nginx refuses is mended by the next.
func (d *Driver) begin(plan Plan, m *model.Model) (model.Change, error) {
	if plan.Reload {
		plan.Config.Shapes.Add(d.inherited)
		d.config = plan.Config
	}
	change := model.Change{Reload: true, Reasons: []string{ReasonStart}}
	for _, p := range state.Pushes(d.latest, plan.Changes) {
		if err := d.remember(p); err != nil {
			return model.Change{}, err
		}
		change.Set, change.Deleted, change.Bytes = change.Set+p.Set, change.Deleted+p.Deleted, change.Bytes+len(p.Text)
	}
	d.keep(plan, m)
	change.Generation = d.latest
	d.config.ZoneBytes = max(d.config.ZoneBytes, zoneBytes(d.held))
	text, hash := d.config.Render()
	d.hash = hash
	if err := writeFiles(d.config); err != nil {
		return change, err
	}
	return change, writeFile(d.command.Conf, text)
}

// keep notes what the memory file holds now.
func (d *Driver) keep(plan Plan, m *model.Model) {
	d.held.Apply(plan.Changes)
	d.last = m
}

// remember appends a push to the memory file, from where nginx has it when it starts, and puts it in line for sending.
func (d *Driver) remember(p state.Push) error {
	if _, err := d.memory.Write(p.Text); err != nil {
		return fmt.Errorf("write state: %w", err)
	}
	d.latest = p.Generation
	d.unsent = append(d.unsent, p)
	return nil
}

// flush sends what was not sent yet. A push that nginx has already, from the memory file, is left out by its generation.
func (d *Driver) flush(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for len(d.unsent) > 0 {
		if d.proc == nil {
			return errors.New("nginx is not running")
		}
		status, err := d.client.Send(ctx, d.unsent[0])
		if errors.Is(err, push.ErrGeneration) && status.Generation >= d.unsent[0].Generation {
			err = nil
		}
		if err != nil {
			return err
		}
		if status.Configuration != d.hash { // an old worker took it, perhaps for an old zone
			time.Sleep(5 * time.Millisecond)
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("push generation %d: only old workers answer: %w", d.unsent[0].Generation, err)
			}
			continue
		}
		d.unsent = d.unsent[1:]
	}
	d.unsent = nil // lets go of what was sent
	return nil
}

// grow doubles the zone. The new one is filled from the memory file.
func (d *Driver) grow(ctx context.Context) error {
	for {
		next := d.config
		next.ZoneBytes *= 2
		d.log.Warn("shared memory zone is full and grows", "bytes", next.ZoneBytes)
		if err := d.reload(ctx, next); err != nil {
			return err
		}
		if err := d.flush(ctx); !errors.Is(err, push.ErrFull) {
			return err
		}
	}
}

// compact rewrites the memory file when most of it is history.
func (d *Driver) compact() {
	size, err := process.Size(d.memory)
	if err != nil || size < 2*d.grown+1<<20 {
		return
	}
	// A generation is one number for the whole text, and the file is only read while this driver starts or reloads nginx.
	var text strings.Builder
	changes := state.Diff(nil, d.held)
	pushes := state.Pushes(0, changes)
	if uint64(len(pushes)) > d.latest {
		return
	}
	for _, p := range state.Pushes(d.latest-uint64(len(pushes)), changes) {
		text.Write(p.Text)
	}
	if err := rewrite(d.memory, text.String()); err != nil {
		d.log.Error("state memory file is not compacted", "err", err)
		return
	}
	d.grown = int64(text.Len())
}

// reload lets nginx read another configuration. When it returns nil, all workers that accept connections have it. After an
// error the old one is in force.
func (d *Driver) reload(ctx context.Context, next conf.Config) error {
	if next.Settings.Worker.SerialReloads && d.proc != nil && anyQuitting(d.proc.PID) {
		return errors.New("reload nginx: workers of an earlier configuration still run, and enable-serial-reloads keeps others waiting for them")
	}
	text, hash := next.Render()
	if err := writeFiles(next); err != nil {
		return err
	}
	candidate := d.command.Conf + ".next"
	if err := writeFile(candidate, text); err != nil {
		return err
	}
	if err := process.Test(ctx, d.command, candidate); err != nil {
		return err
	}
	if d.proc == nil {
		return errors.New("nginx is not running")
	}
	old := process.Workers(d.proc.PID)
	previous, _ := d.config.Render()
	if err := os.Rename(candidate, d.command.Conf); err != nil {
		return err
	}
	err := d.proc.Reload()
	if err == nil {
		err = d.awaitConfiguration(ctx, hash, old)
	}
	if err != nil {
		if werr := writeFile(d.command.Conf, previous); werr != nil {
			d.log.Error("old nginx.conf is not restored", "err", werr)
		}
		return fmt.Errorf("reload nginx: %w", err)
	}
	d.config, d.hash = next, hash
	return nil
}

// awaitConfiguration waits until a worker reports the configuration and none of the old workers accepts any more.
func (d *Driver) awaitConfiguration(ctx context.Context, hash string, old map[int]bool) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		status, err := d.client.Status(ctx)
		if err == nil && status.Configuration == hash && !anyAccepting(d.proc.PID, old) {
			return nil
		}
		select {
		case <-d.proc.Done():
			return errors.New("nginx ended")
		case <-ctx.Done():
			return fmt.Errorf("no worker with the new configuration: %w", errors.Join(ctx.Err(), err))
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func anyQuitting(master int) bool {
	for _, quitting := range process.Workers(master) {
		if quitting {
			return true
		}
	}
	return false
}

func anyAccepting(master int, old map[int]bool) bool {
	for pid, quitting := range process.Workers(master) {
		if _, known := old[pid]; known && !quitting {
			return true
		}
	}
	return false
}
