package wellbehaved

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kinds "k8s.io/apimachinery/pkg/types"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

const nameFinalizer = "NoFinalizerLeft"

// noFinalizerLeft checks that an object that is being deleted goes. A finalizer is the controllers' that have added or removed it in the run:
// whose it is else is not known, and those of the cluster's own controllers are theirs.
func noFinalizerLeft(o *Options) property.Property {
	return property.Property{
		Name:      nameFinalizer,
		Statement: "an object that is being deleted goes while the controllers of its finalizers run",
		Kinds:     []sim.Kind{fakeapiserver.KindCommit, fakeapiserver.KindFrame},
		New: func() property.Checker {
			f := &finalizers{o: o, owners: map[string]map[sim.ActorID]holding{}, leaving: map[kinds.UID]*leaving{}}
			o.Keeps(nameFinalizer, f.keeps)
			return property.Checker{Record: f.record, End: f.end}
		},
	}
}

// finalizers follows who adds and removes finalizers, and the objects that are being deleted.
type finalizers struct {
	o       *Options
	owners  map[string]map[sim.ActorID]holding // by finalizer, the clients that have added or removed it
	leaving map[kinds.UID]*leaving
	// late is the first finalizer that was taken off after the controllers had been notified of everything anew, and lateBy who did so.
	late   *reports.Violation
	lateBy sim.ActorID
}

// relisted is within what time of the end of its watches a controller has looked at everything again.
const relisted = time.Minute

// holding is why a finalizer is taken for a client's.
type holding struct {
	by   string // its name
	puts bool   // it has put it somewhere, and not only taken it away
	how  reports.Evidence
}

// leaving is an object that is being deleted.
type leaving struct {
	since reports.Evidence
	told  map[sim.ActorID]reports.Evidence // when a client was first told
}

func (f *finalizers) record(w property.World, r *sim.Record) *reports.Violation {
	m := meta(r.Obj)
	if m == nil {
		return nil
	}
	if r.Kind == fakeapiserver.KindFrame {
		if l := f.leaving[m.GetUID()]; l != nil && m.GetDeletionTimestamp() != nil {
			if _, told := l.told[r.Actor]; !told {
				l.told[r.Actor] = reports.Because(r, "%s is told that it is being deleted (RV %d)", clientName(w, r.Actor), r.RV)
			}
		}
		return nil
	}
	var before []string
	if old := meta(r.Old); old != nil {
		before = old.GetFinalizers()
	}
	if x := f.o.writeOf(w); x.role == Controller {
		for _, name := range slices.Concat(before, m.GetFinalizers()) {
			if slices.Contains(before, name) != (slices.Contains(m.GetFinalizers(), name) && r.Detail != "DELETED") {
				if f.owners[name] == nil {
					f.owners[name] = map[sim.ActorID]holding{}
				}
				f.hold(r, &x, name, !slices.Contains(before, name))
				f.tookOff(r, &x, name)
			}
		}
	}
	switch {
	case r.Detail == "DELETED":
		delete(f.leaving, m.GetUID())
	case m.GetDeletionTimestamp() != nil && f.leaving[m.GetUID()] == nil:
		f.leaving[m.GetUID()] = &leaving{
			reports.Because(r, "%s is to be deleted, and has the finalizers %s (RV %d)", r.Key, strings.Join(m.GetFinalizers(), ", "), r.RV), map[sim.ActorID]reports.Evidence{},
		}
	}
	return nil
}

// hold notes that a client has put a finalizer on an object, or taken it off. That it has put it on one says more, since others' can be taken off by mistake.
func (f *finalizers) hold(r *sim.Record, x *write, name string, puts bool) {
	if known, is := f.owners[name][x.client]; is && (known.puts || !puts) {
		return
	}
	did := "takes the finalizer %s off %s (RV %d)"
	if puts {
		did = "puts the finalizer %s on %s (RV %d)"
	}
	f.owners[name][x.client] = holding{x.name, puts, reports.Because(r, "%s "+did, x.name, name, r.Key, r.RV)}
}

// tookOff notes a finalizer that its controller has overlooked until the run had its informers list anew, which nobody does in a cluster: the deletion is from
// before the quiet time, which is as long as any backoff.
func (f *finalizers) tookOff(r *sim.Record, x *write, name string) {
	observed, watched := f.o.Observed()
	calm, _ := f.o.Calm()
	l := f.leaving[meta(r.Obj).GetUID()]
	if f.late != nil || !watched || l == nil || l.since.At > calm || r.At-observed > relisted || !f.owners[name][x.client].puts || f.o.excepted(nameFinalizer, x.name, r.Key) {
		return
	}
	f.lateBy = x.client
	f.late = &reports.Violation{Key: strings.Clone(r.Key), Message: fmt.Sprintf(
		"%s was still there %v after its deletion: its finalizer %q is %s's, which ran, and took it off only when its informers had listed anew, since the run had ended their watches; nothing had changed for %v before that",
		r.Key, span(observed-l.since.At), name, x.name, span(observed-calm))}
	f.late.Because = []reports.Evidence{f.owners[name][x.client].how, l.since}
	if told, is := l.told[x.client]; is {
		f.late.Because = append(f.late.Because, told)
	}
	f.late.Because = append(f.late.Because, reports.Because(r, "%s takes the finalizer %s off %s (RV %d)", x.name, name, r.Key, r.RV))
}

func (f *finalizers) end(w property.World) *reports.Violation {
	if all := f.left(w); len(all) > 0 {
		return all[0]
	}
	if f.late != nil && f.o.Runs(f.lateBy) {
		return f.late
	}
	return nil
}

// keeps returns the keys of the objects that are left.
func (f *finalizers) keeps(w property.World) (keys []string) {
	for _, v := range f.left(w) {
		keys = append(keys, v.Key)
	}
	return keys
}

// left returns what is to be said of each object that is still there.
func (f *finalizers) left(w property.World) (all []*reports.Violation) {
	since, ok := f.o.Observed()
	if !ok {
		return nil
	}
	for _, s := range inOrder(w) {
		l := f.leaving[s.obj.GetUID()]
		if l == nil || l.since.At > since {
			continue
		}
		for _, name := range s.obj.GetFinalizers() {
			if name == metav1.FinalizerOrphanDependents || name == metav1.FinalizerDeleteDependents {
				continue
			}
			for _, client := range slices.Sorted(maps.Keys(f.owners[name])) {
				h := f.owners[name][client]
				who := h.by
				if !f.o.Runs(client) || f.o.excepted(nameFinalizer, who, s.key) {
					continue
				}
				whose := fmt.Sprintf("its finalizer %q is %s's, which runs", name, who)
				if !h.puts {
					whose = fmt.Sprintf("%s, which runs, has taken its finalizer %q off another object, though it has never put it on one: it is either %[1]s's to remove, or somebody else's and not %[1]s's to touch", who, name)
				}
				v := &reports.Violation{Key: s.key, Because: []reports.Evidence{h.how, l.since}, Message: fmt.Sprintf("%s is still there, %v after its deletion: %s, and no fault has kept it from removing it for %v. If it waits on purpose, until something else happens, except it",
					s.key, span(w.Kernel().Elapsed()-l.since.At), whose, span(w.Kernel().Elapsed()-since))}
				if told, is := l.told[client]; is {
					v.Because = append(v.Because, told)
				}
				all = append(all, v)
			}
		}
	}
	return all
}

// clientName returns the name of a client without "conn/".
func clientName(w property.World, client sim.ActorID) string {
	return strings.TrimPrefix(w.Kernel().ActorName(client), "conn/")
}
