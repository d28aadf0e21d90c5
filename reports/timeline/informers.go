package timeline

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
)

// informerRecord takes in what an informer or a handler says of itself.
func (b *builder) informerRecord(r *sim.TraceRecord) {
	switch r.Kind {
	case "notify":
		b.told(r)
		return
	case "handler":
		b.handler(r)
		return
	}
	if strings.Contains(r.Actor, "/") { // a handler has synced
		_, h := b.handlerOf(r.Actor)
		b.mark(h.lane, ShapeEvent)
		return
	}
	i := b.informerOf(r.Actor)
	switch r.Kind {
	case "replace":
		b.replaced(i, r)
	case "tombstone":
		b.about(i.keyOf(r.Key))
		b.queued(i, i.keyOf(r.Key), delta{"DELETED", r.RV, b.index})
	case "indexer":
		b.indexed(i, r)
	case "backoff":
		b.mark(i.reflector, ShapeEvent)
		b.set(b.part(i.reflector, PartReflector), "does", 0, fmt.Sprintf("backs off for %s (%s)", reports.Rounded(time.Duration(r.N)), r.Detail))
	case "stopped":
		b.stopped(i)
	case "restarted":
		b.restarted(i)
	default: // synced, resync
		b.mark(i.indexer, ShapeEvent)
	}
}

// queued adds to an informer's queue.
func (b *builder) queued(i *informer, key string, d delta) {
	b.mark(i.queue, ShapeEvent)
	if conn, ok := b.lanes["conn/"+i.name]; ok && d.what != "Replaced" {
		b.arrow(b.index, conn, i.queue)
	}
	if len(i.pending[key]) == 0 {
		i.order = append(i.order, key)
	}
	i.pending[key] = append(i.pending[key], d)
	b.showQueue(i, key)
}

func (b *builder) showQueue(i *informer, key string) {
	part, all := b.part(i.queue, PartQueue), i.pending[key]
	if len(all) == 0 {
		delete(i.pending, key)
		if n := slices.Index(i.order, key); n >= 0 {
			i.order = slices.Delete(i.order, n, n+1)
		}
		b.drop(part, key)
		return
	}
	b.set(part, key, all[len(all)-1].rv, notes(all))
}

// notes names the last deltas of a key.
func notes(all []delta) string {
	const most = 4
	words := make([]string, 0, most)
	for _, d := range all[max(0, len(all)-most):] {
		words = append(words, d.what)
	}
	text := strings.Join(words, ", ")
	if len(all) > most {
		text = fmt.Sprintf("%d earlier, %s", len(all)-most, text)
	}
	return text
}

// replaced takes in a list that replaced a queue's content: what the store had at its revision. If that is another number of objects,
// the list has a selector, and only what is in the Indexer already is known to be queued.
func (b *builder) replaced(i *informer, r *sim.TraceRecord) {
	i.streaming = 0
	b.mark(i.reflector, ShapeSync)
	if conn, ok := b.lanes["conn/"+i.name]; ok {
		b.arrow(b.index, conn, i.reflector)
		b.arrow(b.index, i.reflector, i.queue)
	}
	b.mark(i.queue, ShapeSync)
	var listed []*Object
	for _, o := range b.t.Objects {
		resource, object, _ := strings.Cut(o.Key, " ")
		if resource != i.resource || i.namespace != "" && !strings.HasPrefix(object, i.namespace+"/") {
			continue
		}
		if v := o.at(r.RV); v != nil && !v.Deleted() {
			listed = append(listed, o)
		}
	}
	if int64(len(listed)) != r.N {
		return
	}
	// What is in client-go's queue is not recorded: neither tombstones, nor that it takes what the Indexer has already.
	observed := r.Detail == "tombstones-visible"
	lane := b.laneOf("conn/" + i.name)
	part := b.part(lane, PartDelivered)
	in := map[string]bool{}
	for _, o := range listed {
		v := o.at(r.RV)
		in[o.Key] = true
		b.reach(o.Key, v.RV, Stage{Lane: lane, Kind: PartDelivered, How: "list"})
		b.set(part, o.Key, v.RV, "list")
		if h, ok := i.has[o.Key]; observed || !ok || h.rv != v.RV || len(i.pending[o.Key]) > 0 {
			b.queued(i, o.Key, delta{"Replaced", v.RV, b.index})
		}
	}
	if !observed {
		b.tombstones(i, in)
	}
	for _, o := range b.t.Objects {
		if resource, _, _ := strings.Cut(o.Key, " "); resource != i.resource || in[o.Key] {
			continue
		}
		if v := o.at(r.RV); v != nil && v.Deleted() {
			b.reach(o.Key, v.RV, Stage{Lane: lane, Kind: PartDelivered, How: "list"})
			b.drop(part, o.Key)
		}
	}
}

// tombstones queues the deletions of what an informer knows and a list does not have.
func (b *builder) tombstones(i *informer, listed map[string]bool) {
	for _, key := range append(sortedKeys(i.has), sortedKeys(i.pending)...) {
		all := i.pending[key]
		if listed[key] || len(all) > 0 && all[len(all)-1].what == "DELETED" {
			continue
		}
		b.queued(i, key, delta{"DELETED", i.has[key].rv, b.index})
	}
}

// indexed takes in a change of an Indexer.
func (b *builder) indexed(i *informer, r *sim.TraceRecord) {
	i.moved = true
	key := i.keyOf(r.Key)
	b.mark(i.indexer, ShapeEvent)
	b.about(key)
	from := b.takes(i, key, r)
	if from >= 0 {
		b.arrow(from, i.queue, i.indexer)
	}
	part := b.part(i.indexer, PartIndexer)
	was, had := i.has[key]
	what := r.Detail
	if what == "delete" {
		delete(i.has, key)
		b.drop(part, key)
		b.reachDeletion(key, Stage{Lane: i.indexer, Kind: PartIndexer})
	} else {
		i.has[key] = held{r.RV, b.index}
		b.set(part, key, r.RV, what)
		b.reach(key, r.RV, Stage{Lane: i.indexer, Kind: PartIndexer})
		if had && was.rv == r.RV {
			return // a resync, or a list that says what is known: handlers need not be told
		}
	}
	for _, h := range i.handlers {
		h.ring[key] = append(h.ring[key], delta{what, r.RV, b.index})
		b.set(b.part(h.lane, PartRing), key, r.RV, notes(h.ring[key]))
	}
}

// reachDeletion notes that the last deletion of an object has got to a lane.
func (b *builder) reachDeletion(key string, s Stage) {
	o := b.objects[key]
	if o == nil {
		return
	}
	for n := len(o.Versions) - 1; n >= 0; n-- {
		if v := &o.Versions[n]; v.Deleted() {
			b.reach(key, v.RV, s)
			return
		}
	}
}

// takes removes from a queue what a change of the Indexer came from, and returns the index of the step that brought it, -1 if it is
// not known.
func (b *builder) takes(i *informer, key string, r *sim.TraceRecord) int {
	all := i.pending[key]
	upTo := -1
	for n, d := range all {
		if r.Detail == "delete" && d.what == "DELETED" || r.Detail != "delete" && d.what != "DELETED" && d.rv == r.RV {
			upTo = n
			break
		}
	}
	if upTo < 0 {
		return -1
	}
	from := all[upTo].step
	for upTo+1 < len(all) && all[upTo].what == "DELETED" && all[upTo+1].what == "DELETED" {
		upTo++ // two deletions in a row are one
	}
	i.pending[key] = all[upTo+1:]
	b.showQueue(i, key)
	return from
}

// popped ends a pop: one that changed nothing took the oldest key.
func (b *builder) popped(actor string) {
	i := b.informers[actor]
	if i == nil {
		return
	}
	if !i.moved && len(i.order) > 0 {
		key := i.order[0]
		i.pending[key] = nil
		b.showQueue(i, key)
	}
	i.moved = false
}

// handler takes in a handler that is added or removed. One that comes late is told all that the Indexer has.
func (b *builder) handler(r *sim.TraceRecord) {
	i, h := b.handlerOf(r.Actor)
	b.mark(h.lane, ShapeEvent)
	ring := b.part(h.lane, PartRing)
	if r.Detail != "added" {
		for _, key := range sortedKeys(h.ring) {
			b.drop(ring, key)
		}
		i.handlers = slices.DeleteFunc(i.handlers, func(o *handler) bool { return o == h })
		return
	}
	for _, key := range sortedKeys(i.has) {
		v := i.has[key]
		h.ring[key] = append(h.ring[key], delta{"add initial", v.rv, b.index})
		b.set(ring, key, v.rv, notes(h.ring[key]))
	}
}

// told takes in a notification.
func (b *builder) told(r *sim.TraceRecord) {
	b.t.Run.Notifications++
	i, h := b.handlerOf(r.Actor)
	key := i.keyOf(r.Key)
	b.mark(h.lane, ShapeEvent)
	b.about(key)
	ring := b.part(h.lane, PartRing)
	word, _, _ := strings.Cut(r.Detail, " ")
	if all := h.ring[key]; len(all) > 0 && strings.HasPrefix(all[0].what, word) {
		b.arrow(all[0].step, i.indexer, h.lane)
		h.ring[key] = all[1:]
		if len(all) == 1 {
			delete(h.ring, key)
			b.drop(ring, key)
		} else {
			b.set(ring, key, all[len(all)-1].rv, notes(all[1:]))
		}
	}
	part := b.part(h.lane, PartTold)
	if word == "delete" {
		delete(h.told, key)
		b.drop(part, key)
		b.reachDeletion(key, Stage{Lane: h.lane, Kind: PartTold})
		return
	}
	if h.told == nil {
		h.told = map[string]bool{}
	}
	h.told[key] = true
	b.set(part, key, r.RV, r.Detail)
	b.reach(key, r.RV, Stage{Lane: h.lane, Kind: PartTold})
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m { // order: sorted below
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
