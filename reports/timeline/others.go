package timeline

import (
	"strings"
	"time"

	"github.com/informersim/informersim/sim"
)

// fault takes in a fault. One after which a watch is silent begins a band.
func (b *builder) fault(r *sim.TraceRecord, at time.Duration) {
	b.t.Run.CountFault(r.Detail)
	b.t.Faults = append(b.t.Faults, Fault{Step: uint64(b.index + 1), At: at, Name: r.Detail, Victim: r.Key})
	lane := b.laneOf("cluster")
	if n, ok := b.lanes[r.Key]; ok {
		lane = n
	}
	b.mark(lane, ShapeFault)
	switch {
	case strings.HasPrefix(r.Detail, "watch-stall"), strings.HasPrefix(r.Detail, "watch-half-open"), strings.HasPrefix(r.Detail, "watch-delay"):
		b.beginBand("stall "+strings.TrimPrefix(r.Key, "conn/"), lane, r.Detail+": nothing arrives", true)
	}
}

// process takes in a change of a user's process.
func (b *builder) process(r *sim.TraceRecord, at time.Duration) {
	lane := b.laneOf(r.Actor)
	part := b.part(lane, PartProcess)
	b.mark(lane, ShapeEvent)
	if r.Detail == "started" {
		b.endBand("down " + r.Actor)
		b.set(part, "it", 0, "runs")
		return
	}
	crashed := r.Detail == "crashed"
	if crashed {
		b.t.Run.CountFault("crash")
		b.t.Faults = append(b.t.Faults, Fault{Step: uint64(b.index + 1), At: at, Name: "crash", Victim: r.Actor})
		b.mark(lane, ShapeFault)
	}
	b.set(part, "it", 0, r.Detail)
	b.beginBand("down "+r.Actor, lane, "the process is down: "+r.Detail, crashed)
}

// work takes in what a controller's workers do.
func (b *builder) work(r *sim.TraceRecord, at time.Duration) {
	pool, _, isWorker := strings.Cut(r.Actor, "/")
	if r.Kind == "reconcile" && r.RV < 0 {
		b.bare[pool] = true
	}
	if b.bare[pool] {
		b.toldOf(r, pool, at)
		return
	}
	lane := b.laneOf(pool)
	if r.Kind == "workers" && r.Key != "" {
		b.pools[pool], _, _ = strings.Cut(r.Key, "/")
	}
	owner := b.pools[pool]
	b.t.Lanes[lane].Role, b.t.Lanes[lane].Owner = RoleWorkQueue, owner
	queue := b.part(lane, PartWork)
	key := r.Key
	if i := b.informers[owner]; i != nil {
		key = i.keyOf(key)
	}
	if isWorker {
		lane = b.laneOf(r.Actor)
		b.t.Lanes[lane].Role, b.t.Lanes[lane].Owner = RoleWorker, owner
	}
	b.mark(lane, ShapeEvent)
	if r.Kind != "workers" {
		b.about(key)
	}
	switch r.Kind {
	case "workers":
		if r.Detail == "stopping" || r.Detail == "stopped" {
			b.t.stoppedPools = append(b.t.stoppedPools, pool)
		}
	case "enqueue":
		b.set(queue, key, 0, "added")
	case "ready":
		b.set(queue, key, 0, "ready")
	case "reconcile":
		b.reconcile(r, pool, key, at)
		b.drop(queue, key)
		b.set(b.part(lane, PartWork), key, r.RV, "reconciles")
		b.beginBand("reconcile "+r.Actor, lane, "reconciles "+key, false)
		b.arrow(b.index, b.laneOf(pool), lane)
	case "reconciled":
		b.reconcile(r, pool, key, at)
		b.t.Run.Reconciles++
		b.drop(b.part(lane, PartWork), key)
		b.endBand("reconcile " + r.Actor)
		if r.N >= 0 && r.Detail != "ok" {
			b.set(queue, key, 0, "retry in "+time.Duration(r.N).String())
		}
	}
}

// toldOf takes in a reconcile that a Go test tells of. Nothing is known of the work queue, nor of what was in the controller's cache.
func (b *builder) toldOf(r *sim.TraceRecord, pool string, at time.Duration) {
	lane := b.laneOf(r.Actor)
	b.t.Lanes[lane].Role, b.t.Lanes[lane].Owner = RoleWorker, pool
	b.mark(lane, ShapeEvent)
	b.about(r.Key)
	b.reconcile(r, pool, r.Key, at)
	part := b.part(lane, PartWork)
	if r.Kind == "reconcile" {
		b.set(part, r.Key, 0, "reconciles")
		b.beginBand("reconcile "+r.Actor, lane, "reconciles "+r.Key, false)
		return
	}
	b.t.Run.Reconciles++
	b.drop(part, r.Key)
	b.endBand("reconcile " + r.Actor)
}
