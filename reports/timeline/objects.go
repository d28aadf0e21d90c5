package timeline

import (
	"sort"
	"strings"
	"time"

	"github.com/informersim/informersim/sim"
)

// An Object is what became of an object: a row for each of its versions.
type Object struct {
	Key      string // "pods default/a"
	Versions []Version
}

// A Version is a write of an object, and where it got to.
type Version struct {
	RV   int64
	What string // ADDED, MODIFIED, DELETED
	Step uint64
	At   time.Duration
	By   string // the actor whose step it was
	// Request is the one that wrote it, if that is a reconcile's; else nil.
	Request *Request
	Stages  []Stage // in the order in which they happened

	index int // of its step
}

// A Stage is the arrival of a version at a lane: a replica applied it, a client was sent it, an Indexer has it, a handler was told.
type Stage struct {
	Lane int
	Kind PartKind
	Step uint64
	At   time.Duration
	How  string // "list" if it came with a list and not as an event
	Left bool   // a client is sent DELETED, although the version is none: it no longer selects the object

	index int
}

// Deleted reports whether the version is a deletion.
func (v *Version) Deleted() bool { return v.What == "DELETED" }

// Stage returns the first arrival at a lane, nil if there was none.
func (v *Version) Stage(lane int, kind PartKind) *Stage {
	for i := range v.Stages {
		if s := &v.Stages[i]; s.Lane == lane && s.Kind == kind {
			return s
		}
	}
	return nil
}

func (o *Object) move(lanes []int) {
	for i := range o.Versions {
		v := &o.Versions[i]
		for n := range v.Stages {
			v.Stages[n].Lane = lanes[v.Stages[n].Lane]
		}
	}
}

func (b *builder) object(key string) *Object {
	o := b.objects[key]
	if o == nil {
		o = &Object{Key: key}
		b.objects[key] = o
		b.t.Objects = append(b.t.Objects, o)
	}
	return o
}

func (b *builder) commit(r *sim.TraceRecord, at time.Duration, by string) {
	b.t.Run.Commits++
	lane := b.laneOf(r.Actor)
	b.mark(lane, ShapeWrite)
	b.about(r.Key)
	o := b.object(r.Key)
	v := Version{RV: r.RV, What: r.Detail, Step: uint64(b.index + 1), At: at, By: by, index: b.index}
	if q := b.admitted; q != nil && q.By != nil {
		v.Request = q
		q.By.wrote(&v, r.Key)
		b.arrow(int(q.Step)-1, b.laneOf(by), lane)
	}
	o.Versions = append(o.Versions, v)
	b.wrote(by, &v, r.Key)
	store := b.part(lane, PartStore)
	if v.Deleted() {
		b.drop(store, r.Key)
	} else {
		b.set(store, r.Key, r.RV, r.Detail)
	}
}

// restored forgets the versions that a restore of the Store took back.
func (b *builder) restored(rv int64) {
	store := b.part(b.laneOf("cluster"), PartStore)
	for _, o := range b.t.Objects {
		before, now := len(o.Versions), o.at(rv)
		if before == 0 || o.Versions[before-1].RV <= rv {
			continue
		}
		if now == nil || now.Deleted() {
			b.drop(store, o.Key)
		} else {
			b.set(store, o.Key, now.RV, now.What)
		}
	}
}

// version returns an object's version with that revision, nil if there is none. The last one counts: a restored Store gives revisions
// out twice.
func (o *Object) version(rv int64) *Version {
	for i := len(o.Versions) - 1; i >= 0; i-- {
		if o.Versions[i].RV == rv {
			return &o.Versions[i]
		}
	}
	return nil
}

// at returns the version that an object has at a revision, nil if it was not written until then.
func (o *Object) at(rv int64) *Version {
	n := len(o.Versions)
	if n > 0 && o.Versions[n-1].RV <= rv {
		return &o.Versions[n-1]
	}
	i := sort.Search(n, func(i int) bool { return o.Versions[i].RV > rv })
	if i == 0 {
		return nil
	}
	return &o.Versions[i-1]
}

// reach notes that a version has got to a lane, and returns the index of the step of its write, -1 if it is not known.
func (b *builder) reach(key string, rv int64, s Stage) int {
	o := b.objects[key]
	if o == nil {
		return -1
	}
	v := o.version(rv)
	if v == nil {
		return -1
	}
	if v.Stage(s.Lane, s.Kind) == nil {
		s.Step, s.At, s.index = uint64(b.index+1), b.t.Run.Virtual, b.index
		v.Stages = append(v.Stages, s)
	}
	return v.index
}

func (b *builder) applied(r *sim.TraceRecord) {
	lane := b.laneOf(r.Actor)
	b.mark(lane, ShapeEvent)
	if r.Key == "" {
		b.initialised(lane, r.RV)
		return
	}
	b.resources[b.target], _, _ = strings.Cut(r.Key, " ")
	b.about(r.Key)
	if from := b.reach(r.Key, r.RV, Stage{Lane: lane, Kind: PartApplied}); from >= 0 {
		b.arrow(from, b.laneOf("cluster"), lane)
	}
	part := b.part(lane, PartApplied)
	if r.Detail == "DELETED" {
		b.drop(part, r.Key)
	} else {
		b.set(part, r.Key, r.RV, r.Detail)
	}
}

// initialised fills a replica's watch cache of a resource with what the Store had at a revision, as it does after a restart. The record does
// not name the resource; its step has the number that earlier ones gave it.
func (b *builder) initialised(lane int, rv int64) {
	resource, known := b.resources[b.target]
	part := b.part(lane, PartApplied)
	for _, o := range b.t.Objects {
		v := o.at(rv)
		if r, _, _ := strings.Cut(o.Key, " "); v == nil || known && r != resource || !known && len(b.resources) > 1 {
			continue
		}
		b.reach(o.Key, v.RV, Stage{Lane: lane, Kind: PartApplied, How: "restart"})
		if v.Deleted() {
			b.drop(part, o.Key)
		} else {
			b.set(part, o.Key, v.RV, "restart")
		}
	}
}

// lost draws what a client was never sent as an event although it watched before: its watch ended, or was not open.
func (b *builder) lost() {
	for _, name := range b.clientOrder() {
		c := b.clients[name]
		for _, o := range b.t.Objects {
			if !c.interested(o.Key) {
				continue
			}
			for i := range o.Versions {
				v := &o.Versions[i]
				if s := v.Stage(c.lane, PartDelivered); s != nil && s.How == "" || !c.missed(o.Key, v.index) {
					continue
				}
				s := &b.t.Steps[v.index]
				s.Arrows = append(s.Arrows, Arrow{From: v.index, FromLane: b.laneOf("cluster"), ToLane: c.lane, Lost: true})
			}
		}
	}
}
