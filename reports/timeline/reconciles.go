package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/informersim/informersim/sim"
)

// A Reconcile is a call of a worker, and how it ended.
type Reconcile struct {
	Worker string // "c1/0"
	Pool   string // "c1"
	Owner  string // the informer whose notifications fill the queue, "" if it is not known
	Key    string // as parts have it
	RV     int64  // of the object in the Indexer when it began, 0 if it was not there, -1 if that is not known
	Step   uint64
	At     time.Duration
	// EndStep is 0 if it had not ended. Outcome is what it returned, "ok" for no error. Retry is after how long the key was due again, -1
	// if it was not. Wrote are the versions that the worker wrote meanwhile.
	EndStep uint64
	EndAt   time.Duration
	Outcome string
	Retry   time.Duration
	Wrote   []string
}

// OK reports whether the reconcile has ended without an error.
func (r *Reconcile) OK() bool { return r.EndStep > 0 && r.Outcome == "ok" }

// reconcile takes in the begin or the end of a reconcile of a key as parts have it.
func (b *builder) reconcile(r *sim.TraceRecord, pool, key string, at time.Duration) {
	t := b.t
	if r.Kind == "reconcile" {
		b.busy[r.Actor] = len(t.Reconciles)
		t.Reconciles = append(t.Reconciles, &Reconcile{
			Worker: r.Actor, Pool: pool, Owner: b.pools[pool], Key: key, RV: r.RV, Step: uint64(b.index + 1), At: at, Retry: -1,
		})
		return
	}
	if n, ok := b.busy[r.Actor]; ok {
		x := t.Reconciles[n]
		x.EndStep, x.EndAt, x.Outcome, x.Retry = uint64(b.index+1), at, r.Detail, max(time.Duration(r.N), -1)
		delete(b.busy, r.Actor)
	}
}

// wrote notes a write of a worker.
func (b *builder) wrote(by string, v *Version, key string) {
	if n, ok := b.busy[by]; ok {
		b.t.Reconciles[n].wrote(v, key)
	}
}

func (r *Reconcile) wrote(v *Version, key string) {
	r.Wrote = append(r.Wrote, fmt.Sprintf("%s of %s at rv=%d", v.What, key, v.RV))
}

// sends takes in that a reconcile of a Go test has sent the request of the record before.
func (b *builder) sends(r *sim.TraceRecord) {
	lane, c := b.laneOf(r.Actor), b.clients["conn/"+r.Detail]
	b.mark(lane, ShapeEvent)
	n, busy := b.busy[r.Actor]
	if !busy || c == nil || c.requests[r.N] == nil {
		return
	}
	by := b.t.Reconciles[n]
	c.requests[r.N].By = by
	b.about(by.Key)
	b.arrow(b.index, lane, c.lane)
}

// deed says what a reconcile's request did to an object: "creates pods default/a-0 at rv=7 for jobs default/a".
func (v *Version) deed(key string) string {
	asked, _, _ := strings.Cut(v.Request.What, " ")
	did := map[string]string{"ADDED": "creates", "DELETED": "deletes", "MODIFIED": "updates"}[v.What]
	switch {
	case v.What == "MODIFIED" && asked == "patch":
		did = "patches"
	case v.What == "MODIFIED" && strings.HasPrefix(asked, "delete"):
		did = "marks for deletion"
	}
	text := fmt.Sprintf("%s %s at rv=%d", did, key, v.RV)
	if of := v.Request.By.Key; of != key {
		text += " for " + of
	}
	return text
}

// by adds how the version came about, as far as it is known: the reconcile that sent its request.
func (x *explainer) by() {
	q := x.v.Request
	if q == nil {
		return
	}
	x.say(q.By.Step, "%s begins to reconcile %s", q.By.Worker, q.By.Key)
	x.say(q.Step, "it sends request %d of %s: %s of %s", q.N, q.Client, q.What, q.Resource)
}

// object says what the reconcile found in the Indexer.
func (r *Reconcile) object() string {
	switch {
	case r.RV == 0:
		return ", which is gone"
	case r.RV < 0:
		return ""
	}
	return fmt.Sprintf(" at rv=%d", r.RV)
}

// text tells a reconcile in a line.
func (r *Reconcile) text() string {
	text := "reconciles " + r.Key + r.object()
	if r.EndStep == 0 {
		return text + ", and has not returned"
	}
	text += ": " + cmp.Or(r.Outcome, "returns")
	if len(r.Wrote) > 0 {
		text += "; writes " + strings.Join(r.Wrote, ", ")
	}
	if r.Retry >= 0 {
		text += ", again in " + r.Retry.String()
	}
	return text
}

// reconcileEvents are the reconciles of an object; with nil, those that failed or have not returned.
func (t *Timeline) reconcileEvents(of *Object, upTo uint64) []event {
	var all []event
	for _, r := range t.Reconciles {
		if of != nil && r.Key != of.Key || of == nil && r.OK() {
			continue
		}
		if r.EndStep > upTo { // the story ends before it does
			c := *r
			c.EndStep, c.Wrote = 0, nil
			r = &c
		}
		step, at, like := r.Step, r.At, ""
		if r.EndStep > 0 {
			step, at, like = r.EndStep, r.EndAt, "reconcile "+r.Pool+" "+r.Key+" "+r.Outcome
		}
		all = append(all, event{Line: line(step, at, r.Worker, r.text()), like: like})
	}
	return all
}

// told says the same of the controllers of a Go test, those that have ever reconciled the object. What they have read of it is not known.
func (x *explainer) told() {
	var pools []string
	for _, r := range x.t.Reconciles {
		if r.RV < 0 && r.Key == x.key && !slices.Contains(pools, r.Pool) {
			pools = append(pools, r.Pool)
		}
	}
	for _, pool := range pools {
		x.reconciles(pool)
	}
}

// reconciles says what the workers of a pool have made of the version: the first call that began with it in the Indexer, or with what came
// later, and the calls before it that failed.
func (x *explainer) reconciles(pool string) {
	var failed []*Reconcile
	for _, r := range x.t.Reconciles {
		if r.Pool != pool || r.Key != x.key || r.Step < x.v.Step {
			continue
		}
		if newer := r.RV < 0 || r.RV >= x.v.RV || x.v.Deleted() && r.RV == 0; !newer {
			continue
		}
		if !r.OK() && r.EndStep > 0 {
			failed = append(failed, r)
			continue
		}
		x.failures(failed)
		x.say(r.Step, "%s %s", r.Worker, r.text())
		return
	}
	x.failures(failed)
	if len(failed) > 0 {
		x.never(pool, pool+" never reconciled it without an error")
		return
	}
	if at := slices.Index(x.t.stoppedPools, pool); at < 0 {
		x.never(pool, pool+" never reconciled it")
	}
}

// failures tells of reconciles that failed, equal ones once.
func (x *explainer) failures(all []*Reconcile) {
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].Outcome == all[0].Outcome {
			n++
		}
		if n == 1 {
			x.say(all[0].EndStep, "%s %s", all[0].Worker, all[0].text())
		} else {
			x.say(all[0].EndStep, "%s: %d × reconciles %s: %s, until step %d", all[0].Pool, n, x.key, all[0].Outcome, all[n-1].EndStep)
		}
		all = all[n:]
	}
}
