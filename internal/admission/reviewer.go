// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	netv1 "k8s.io/api/networking/v1"

	"github.com/fairway-ingress/fairway/internal/ingress"
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
)

// Objects is where the reviewer learns what Ingresses mean.
type Objects interface {
	// Synced is closed when everything that there was at the start is known.
	Synced() <-chan struct{}
	// Frame gives the objects that decide which Ingresses count and what they mean: classes, namespaces and the ConfigMap of the settings.
	Frame() *source.Snapshot
}

// Reviewer judges Ingresses. Its exported fields are set before use and not changed afterwards; it is safe for concurrent use.
type Reviewer struct {
	Objects Objects
	// Index has been told of every Ingress that Objects knows.
	Index *Index
	// Options are those of the controller's loop.
	Options ingress.Options
	// Strict refuses an Ingress for every Problem, not only for those that the predecessor refused.
	Strict bool
	// Kong judges custom resources; nil where the data plane is none.
	Kong *Kong

	settings atomic.Pointer[parsedSettings]
}

// parsedSettings are the settings of a ConfigMap, nil for none.
type parsedSettings struct {
	of *corev1.ConfigMap
	*model.Settings
}

// verdict is that of package ingress and what it took.
type verdict struct {
	ingress.Verdict
	rivals int
	took   time.Duration
}

// ready tells whether all Ingresses are known.
func (r *Reviewer) ready() bool {
	select {
	case <-r.Objects.Synced():
		return true
	default:
		return false
	}
}

// review judges an Ingress against those in the index.
func (r *Reviewer) review(ing *netv1.Ingress) verdict {
	begin := time.Now()
	frame := r.Objects.Frame()
	frame.Ingresses = r.Index.Rivals(ing)
	v := verdict{Verdict: ingress.Review(r.Options, r.settingsOf(frame), frame, ing), rivals: len(frame.Ingresses)}
	if r.Strict {
		v.Refusals, v.Warnings = model.SortProblems(append(v.Refusals, v.Warnings...)), nil
	}
	v.took = time.Since(begin)
	return v
}

// settingsOf parses the ConfigMap anew only when it has changed.
func (r *Reviewer) settingsOf(frame *source.Snapshot) *model.Settings {
	object := frame.ConfigMaps[r.Options.ConfigMap]
	last := r.settings.Load()
	if last == nil || last.of != object {
		last = &parsedSettings{object, ingress.ReadSettings(r.Options, frame)}
		r.settings.Store(last)
	}
	return last.Settings
}
