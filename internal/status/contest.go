// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"time"

	netv1 "k8s.io/api/networking/v1"

	"github.com/fairway-ingress/fairway/internal/model"
)

const (
	// patience is after how many overwritten writes an object is given up. One overwritten write proves nothing: a predecessor that
	// stops empties what it wrote. When manyContested have seen two, somebody works on all, and two are enough for the others.
	patience      = 3
	manyContested = 3
	// tryAgain is after how long one more write is made: the other one may have gone.
	tryAgain = time.Hour
	// loggedContests bounds the warnings; the metric counts them all.
	loggedContests = 20
)

// record is what happened to the writes of one object.
type record struct {
	wrote       Addresses // what we wrote last; nil when it was seen overwritten
	overwritten int
	last        time.Time // when it was last seen overwritten
	until       time.Time // given up until then; zero is not
	resumed     int       // how often it was taken up again because the other one had emptied it
}

// gaveUp tells whether nothing is to be written now; a nil record has no writes.
func (r *record) gaveUp(now time.Time) bool { return r != nil && now.Before(r.until) }

// maySettle tells whether an object that was given up and is empty now is taken up again: whoever empties it has left, most likely.
func (r *record) maySettle(says *netv1.IngressLoadBalancerStatus) bool {
	return len(says.Ingress) == 0 && r.resumed < patience
}

// recordOf is to be called with w.mu held.
func (w *Writer) recordOf(ref model.Ref) *record {
	r := w.writes[ref]
	if r == nil {
		r = &record{}
		w.writes[ref] = r
	}
	return r
}

// forget is to be called with w.mu held.
func (w *Writer) forget(ref model.Ref) {
	r := w.writes[ref]
	if r == nil {
		return
	}
	if !r.until.IsZero() {
		w.contested--
	}
	if r.overwritten > 1 {
		w.twice--
	}
	delete(w.writes, ref)
}

// forgetAll is to be called with w.mu held.
func (w *Writer) forgetAll() {
	clear(w.writes)
	w.contested, w.twice = 0, 0
}

// Contests is how many objects are given up.
func (w *Writer) Contests() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.contested
}

// settle forgets contests that are over or came to none: the time is up, and what is there is ours. w.mu is held.
func (w *Writer) settle() {
	now := time.Now()
	for ref, r := range w.writes {
		over := !r.until.IsZero() && !r.gaveUp(now)
		old := r.until.IsZero() && r.overwritten > 0 && now.Sub(r.last) > tryAgain
		if (over || old) && !w.differs(ref) {
			w.forget(ref)
		}
	}
}

// givesWay tells whether an object is left to somebody else: we wrote these addresses, and what is there now are others, for the
// last of several times.
func (w *Writer) givesWay(ref model.Ref, wanted Addresses, live *live) bool {
	if !w.yields(ref, live) {
		return false
	}
	w.tell(ref, wanted, live)
	return true
}

func (w *Writer) yields(ref model.Ref, live *live) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	now, r := time.Now(), w.writes[ref]
	if r != nil && r.gaveUp(now) && r.maySettle(&live.says) {
		resumed := r.resumed + 1
		w.forget(ref)
		w.recordOf(ref).resumed = resumed
		return false
	}
	if r == nil || r.wrote == nil {
		return false
	}
	r.wrote, r.last = nil, now
	if r.overwritten++; r.overwritten == 2 {
		w.twice++
	}
	if r.overwritten < 2 || r.overwritten < patience && w.twice <= manyContested {
		return false
	}
	if r.until.IsZero() {
		w.contested++
	}
	r.until = now.Add(tryAgain)
	return true
}

func (w *Writer) tell(ref model.Ref, wanted Addresses, live *live) {
	count := w.Contests()
	other := otherWriter(live)
	found := Addresses(live.says.Ingress)
	w.options.Contested(model.Problem{
		Object: ref, Field: "status.loadBalancer", Reason: model.ReasonContestedStatus,
		Message: fmt.Sprintf("%s keeps writing %s over our %s, so the field is left to it for an hour; let one controller alone have the IngressClass, or set --update-status=false",
			other, found, wanted),
	})
	switch {
	case count <= loggedContests:
		w.log.Warn("status is contested and left as it is: two controllers serve the same class", "object", ref.String(),
			"writer", other, "found", found.String(), "wanted", wanted.String())
	case count == loggedContests+1:
		w.log.Warn("status of many objects is contested; no more are named here", "writer", other)
	}
}

// otherWriter names who last wrote the status, as the API server noted it.
func otherWriter(live *live) string {
	var last *time.Time
	name := "another controller"
	for _, f := range live.GetManagedFields() {
		if f.Subresource != "status" || f.Manager == manager || f.Time == nil {
			continue
		}
		if last == nil || f.Time.After(*last) {
			last, name = &f.Time.Time, fmt.Sprintf("the client %q", f.Manager)
		}
	}
	return name
}
