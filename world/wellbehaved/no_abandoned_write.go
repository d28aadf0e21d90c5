package wellbehaved

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// NameAbandoned is the name of the property for which informers list anew after writes have been made to fail.
const NameAbandoned = "NoAbandonedWrite"

// noAbandonedWrite checks that a controller whose write has failed for a reason that passes tries it again. What it would have written is known, since somebody has undone
// just that; and that it still would write it is shown when its informers list anew, long after: it sends the same request, and the object is as before.
func noAbandonedWrite(o *Options) property.Property {
	return property.Property{
		Name:      NameAbandoned,
		Statement: "a write that has failed for a reason that passes is tried again before the run has the controller's informers list anew",
		Kinds:     slices.Concat(o.Reconciles.kinds(), following, []sim.Kind{o.Restarts}),
		New: func() property.Checker {
			a := &abandonment{o: o, underWay: newUnderWay[reconciled](o.Reconciles), undone: map[string]undone{}, failed: map[sentAs]*abandoned{}, told: map[sim.ActorID]reports.Evidence{}}
			return property.Checker{Record: a.record}
		},
	}
}

// reaction is within what time of a change a controller tries to answer it, at least once.
const reaction = 10 * time.Second

type (
	// sentAs is a request, whatever its number and its body.
	sentAs struct {
		client       sim.ActorID
		method, path string
	}
	// undone is what somebody has undone of an object.
	undone struct {
		was []change // what its fields were before
		reports.Evidence
	}
	// abandoned is a request that has failed, and was not sent again.
	abandoned struct{ undone, failed reports.Evidence }
	// reconciled is a reconcile with the requests that have failed.
	reconciled struct{ requests []sentAs }
)

// abandonment follows requests that fail after something was undone.
type abandonment struct {
	underWay[reconciled]
	o      *Options
	undone map[string]undone // by object
	failed map[sentAs]*abandoned
	told   map[sim.ActorID]reports.Evidence // the last that a client was told since its informers list anew
}

func (a *abandonment) record(w property.World, r *sim.Record) *reports.Violation {
	if !a.o.Probing() {
		return nil
	}
	again := a.o.ListsAnew()
	a.follow(w, r)
	switch r.Kind {
	case fakeapiserver.KindRequest, fakeapiserver.KindResponse:
		q := a.o.Sent(r.Actor, r.N)
		if q == nil || q.Method != http.MethodPut && q.Method != http.MethodPatch || a.o.Role(r.Actor) != Controller {
			return nil
		}
		id := sentAs{r.Actor, q.Method, q.Path}
		if r.Kind == fakeapiserver.KindRequest {
			if !again {
				delete(a.failed, id)
			}
			return nil
		}
		a.fails(w, r, id, q)
	case fakeapiserver.KindPage, fakeapiserver.KindFrame:
		if again && r.Detail != "BOOKMARK" { // of which no handler is told
			a.told[r.Actor] = reports.Because(r, "%s, whose watches the run has ended, is told anew of what there is", clientName(w, r.Actor))
		}
	case fakeapiserver.KindCommit:
		return a.committed(w, r, again)
	case a.o.Reconciles.End:
		if by := a.ended(r); by != nil && r.N >= 0 { // it asks to be called again, however late
			for _, id := range by.requests {
				delete(a.failed, id)
			}
		}
	case a.o.Restarts: // its queues are new
		if client, ok := clientOf(w, r); ok {
			for id := range a.failed { // order: each by itself
				if id.client == client {
					delete(a.failed, id)
				}
			}
		}
	}
	return nil
}

// fails notes a request that has failed soon after what it writes was undone.
func (a *abandonment) fails(w property.World, r *sim.Record, id sentAs, q *Request) {
	by := a.answered(r)
	if !strings.HasPrefix(r.Detail, "5") || a.o.ListsAnew() {
		return
	}
	for key, u := range a.undone { // order: one object has the path
		if q.At >= u.At && q.At <= u.At+reaction && names(q.Path, key) {
			a.failed[id] = &abandoned{u.Evidence, reports.Because(r, "%s sends %s %s, which fails: %s", clientName(w, r.Actor), q.Method, q.Path, r.Detail)}
			if by != nil {
				by.requests = append(by.requests, id)
			}
		}
	}
}

// names reports whether a request's path is that of an object, or of a subresource.
func names(path, key string) bool {
	path, _, _ = strings.Cut(path, "?")
	plural, object, _ := strings.Cut(key, " ")
	namespace, name, namespaced := strings.Cut(object, "/")
	tail := "/" + plural + "/" + object
	if namespaced {
		tail = "/namespaces/" + namespace + "/" + plural + "/" + name
	}
	return strings.HasSuffix(path, tail) || strings.Contains(path, tail+"/")
}

func (a *abandonment) committed(w property.World, r *sim.Record, again bool) *reports.Violation {
	if r.Detail != "MODIFIED" {
		return nil
	}
	x := a.o.writeOf(w)
	if x.role == Outside && !again {
		a.undone[strings.Clone(r.Key)] = undone{changes(r.Obj, r.Old), reports.Because(r, "somebody undoes what had been written of %s (RV %d)", r.Key, r.RV)}
		return nil
	}
	if !again || x.role != Controller || x.request == nil || a.o.excepted(NameAbandoned, x.name, r.Key) {
		return nil
	}
	told, is := a.told[x.client]
	failed := a.failed[sentAs{x.client, x.request.Method, x.request.Path}]
	if failed == nil || !is || x.request.At < told.At || x.request.At > told.At+prompt {
		return nil
	}
	for _, c := range changes(r.Old, r.Obj) {
		if moves(c.value) || !slices.Contains(a.undone[r.Key].was, c) {
			continue
		}
		return &reports.Violation{
			Key: strings.Clone(r.Key),
			Message: fmt.Sprintf(
				"%s changes %s of %s to %s only when its informers have listed anew, since the run has ended their watches: the same request, %s %s, had failed %v before, for a reason that passes, and was not tried again. Either the error was swallowed, which a reconcile returns, or puts its key back (AddRateLimited); or the object in the informer's cache was changed before, in place of a copy, and the next attempt took that for written (-simtest.mutations=on tells)",
				x.name, c.field, r.Key, shown(c.value), x.request.Method, x.request.Path, span(x.request.At-failed.failed.At)),
			Because: []reports.Evidence{
				failed.undone, failed.failed, told,
				{Step: x.request.Step, At: x.request.At, Text: fmt.Sprintf("%s sends %s %s again", x.name, x.request.Method, x.request.Path)},
				reports.Because(r, "%s is %s (RV %d)", r.Key, r.Detail, r.RV),
			},
		}
	}
	return nil
}
