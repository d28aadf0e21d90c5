package world

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

const (
	// hotLoop is the number of identical lists or watches in a row, at one instant, that count as a tight loop.
	hotLoop = 1000
	// hotMixed is the number of identical lists or gets, at one instant, with others in between, that does: each of many reconciles may get one and the same object. Of watches
	// it is hotLoop.
	hotMixed = 10_000
	// hotWrites is the number of a process's writes of one object, at one instant, that do, and hotCreates of its creates of one resource, whose
	// names are not in the request. A controller that answers each of its own writes with the next would not end before the run's last step.
	hotWrites, hotCreates = 250, 2500
	// writesPerObject is how often a process may write for each object that it has not created, where that is more: one that sums up hundreds of objects in
	// one status, or makes something of each of thousands, has an end.
	writesPerObject = 10
	// mostlyFailed is of how many writes all but one have to fail for that to be the reason for the next.
	mostlyFailed = 10
)

// noHotLoop checks that no client repeats a list or watch without time passing, in a row or with others in between, and no process a write. The test's own goroutines may write as they like.
func noHotLoop(isProcess func(client string) bool) property.Property {
	return property.Property{
		Name:      "NoHotLoop",
		Statement: "no client sends one and the same request over and over while time stands still, and no process writes one object so",
		Kinds:     []sim.Kind{fakeapiserver.KindRequest, fakeapiserver.KindResponse},
		New: func() property.Checker {
			all, writes, mixed := map[sim.ActorID]*repeated{}, map[hotWrite]*repeated{}, map[hotWrite]*repeated{}
			now := time.Duration(0)              // of mixed
			unanswered := map[sentBy]*repeated{} // of writes
			return property.Checker{Record: func(w property.World, r *sim.Record) *reports.Violation {
				if r.Kind == fakeapiserver.KindResponse {
					at := sentBy{r.Actor, r.N}
					if q := unanswered[at]; q != nil && !strings.HasPrefix(r.Detail, "2") {
						q.failed, q.why = q.failed+1, strings.Clone(r.Detail)
					}
					delete(unanswered, at)
					return nil
				}
				if !strings.HasPrefix(r.Detail, "list") && !strings.HasPrefix(r.Detail, "watch") && !strings.HasPrefix(r.Detail, "get") {
					delete(all, r.Actor)
					if name := strings.TrimPrefix(w.Kernel().ActorName(r.Actor), "conn/"); isProcess(name) {
						q, v := writtenAgain(w.Cluster().Store(), writes, name, r)
						unanswered[sentBy{r.Actor, r.N}] = q
						return v
					}
					clear(writes) // the test writes, which may be the reason for any number of writes, and of reads
					clear(mixed)
					return nil
				}
				q := all[r.Actor]
				if q == nil || q.key != r.Key || q.detail != r.Detail || q.at != r.At {
					q = newRepeated(r)
					all[r.Actor] = q
				}
				if r.At != now {
					clear(mixed)
					now = r.At
				}
				if q.times++; q.times < hotLoop {
					q = readAgain(w.Cluster().Store(), mixed, r)
				}
				if q == nil {
					return nil
				}
				return &reports.Violation{
					Message: fmt.Sprintf("%s makes the request %q of %s %d times without waiting", w.Kernel().ActorName(r.Actor), r.Detail, r.Key, q.times),
					Because: []reports.Evidence{{Step: q.step, At: q.at, Text: "it is made for the first time"}, reports.Because(r, "it is made for the %dth time, at the same instant", q.times)},
				}
			}}
		},
	}
}

// readAgain counts a list, a watch or a get whatever its client does in between: one that lists, watches from a revision that is gone, and lists again makes no request twice in a row. It
// returns nil unless that is a tight loop.
func readAgain(st *store.Store, mixed map[hotWrite]*repeated, r *sim.Record) *repeated {
	q := mixed[hotWrite{r.Actor, r.Key, r.Detail}]
	if q == nil {
		q = newRepeated(r)
		mixed[hotWrite{r.Actor, q.key, q.detail}] = q
	}
	limit := hotMixed
	if strings.HasPrefix(r.Detail, "watch") {
		limit = hotLoop
	}
	if q.times++; q.times < max(limit, q.limit) {
		return nil
	}
	if q.limit == 0 {
		if q.limit = writesPerObject * objectsIn(st); q.times < q.limit {
			return nil
		}
	}
	return q
}

// hotWrite is what a process writes, as its requests say.
type hotWrite struct {
	client      sim.ActorID
	key, detail string
}

// writtenAgain counts a write.
func writtenAgain(st *store.Store, writes map[hotWrite]*repeated, name string, r *sim.Record) (*repeated, *reports.Violation) {
	id := hotWrite{r.Actor, r.Key, r.Detail}
	q := writes[id]
	if q == nil || q.at != r.At {
		q = newRepeated(r)
		writes[hotWrite{r.Actor, q.key, q.detail}] = q
	}
	verb, object, _ := strings.Cut(r.Detail, " ")
	limit, key, created := hotWrites, q.key+" "+object, 0
	if strings.HasSuffix(object, "/") || object == "" {
		limit, key, created = hotCreates, q.key, q.times
	}
	if q.times++; q.times < max(limit, q.limit) {
		return q, nil
	}
	if q.limit == 0 {
		if q.limit = writesPerObject * (objectsIn(st) - created); q.times < q.limit {
			return q, nil
		}
	}
	what := key
	if strings.HasPrefix(r.Note, "/") {
		what += r.Note
	}
	why := "and there is no end: each of its writes leads to the next"
	if q.failed > 0 && q.failed*mostlyFailed >= q.times*(mostlyFailed-1) { // the last ones have no answer yet
		why = fmt.Sprintf("each as soon as one before has failed (%s): it tries again without a pause, however long that lasts", q.why)
	}
	return q, &reports.Violation{
		Key: key, Message: fmt.Sprintf("%s writes %s %d times (%s) while no time passes and the test writes nothing, %s", name, what, q.times, verb, why),
		Because: []reports.Evidence{{Step: q.step, At: q.at, Text: "it is written for the first time"}, reports.Because(r, "it is written for the %dth time, at the same instant", q.times)},
	}
}

// objectsIn counts all objects.
func objectsIn(st *store.Store) (n int) {
	for id := store.ResourceID(0); st.Resource(id) != nil; id++ {
		st.Newest(id, "", func(string, runtime.Object) bool { n++; return true })
	}
	return n
}

func newRepeated(r *sim.Record) *repeated {
	return &repeated{key: strings.Clone(r.Key), detail: strings.Clone(r.Detail), at: r.At, step: r.Step}
}

// repeated is a client's request, and how often it was made at an instant, or in a row.
type repeated struct {
	key, detail string
	at          time.Duration
	step        uint64
	times       int
	limit       int    // where there are many objects; 0 until they are counted
	failed      int    // of its times, if it is a write
	why         string // for which it has failed last
}
