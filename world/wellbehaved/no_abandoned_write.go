package wellbehaved

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
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
			a := &abandonment{o: o, underWay: newUnderWay[reconciled](o.Reconciles), undone: map[string]undone{}, failed: map[sentAs]*abandoned{}, trying: map[sentAs]*abandoned{}, usual: map[way]time.Duration{}, anew: newAnew()}
			return property.Checker{Record: a.record}
		},
	}
}

const (
	// Outage is how long the writes of an object fail once it was undone or deleted: longer than the few tries take that some give it, and shorter than fifteen, which many of Kubernetes' own controllers
	// give it, doubling a wait of 5 ms each time.
	Outage = 10 * time.Second
	// patient is how long what has failed may wait for what its reconcile always asks for: a little more than a run waits that is made once more.
	patient = 90 * time.Minute
	// reaction is within what time of a change a controller tries to answer it, at least once.
	reaction = Outage
)

type (
	// sentAs is a request, whatever its number and its body. A create is known by the name in its body, or by the beginning of one that the server draws.
	sentAs struct {
		client             sim.ActorID
		method, path, name string
	}
	// undone is what somebody has undone of an object, or that he has deleted it.
	undone struct {
		was []change // what its fields were before
		reports.Evidence
	}
	// abandoned is a request that has failed, and was not sent again.
	abandoned struct {
		undone, failed reports.Evidence
		first          time.Duration
		times          int
		after          time.Duration // when its reconcile was to be called again, as it always is
	}
	// reconciled is a reconcile with the requests that have failed since something was undone; failed says that any has.
	reconciled struct {
		requests []sentAs
		failed   bool
	}
)

// abandonment follows requests that fail after something was undone.
type abandonment struct {
	underWay[reconciled]
	anew
	o      *Options
	undone map[string]undone // by object
	failed map[sentAs]*abandoned
	trying map[sentAs]*abandoned // once more
	usual  map[way]time.Duration // when what has not failed is reconciled again
}

// sentAsOf returns what kind of request one is.
func sentAsOf(client sim.ActorID, q *Request) sentAs {
	id := sentAs{client: client, method: q.Method, path: q.Path}
	if q.Method == http.MethodPost {
		var body struct {
			Metadata struct{ Name, GenerateName string }
		}
		if json.Unmarshal([]byte(q.Body), &body) == nil {
			id.name = cmp.Or(body.Metadata.Name, body.Metadata.GenerateName+"*")
		}
	}
	return id
}

// makes reports whether a request may be the one that has made an object.
func (id *sentAs) makes(key string) bool {
	path, _, _ := strings.Cut(id.path, "?")
	tail, object := collectionOf(key)
	start, drawn := strings.CutSuffix(id.name, "*")
	return id.method == http.MethodPost && strings.HasSuffix(path, tail) && (object == id.name || drawn && start != "" && strings.HasPrefix(object, start))
}

// empties reports whether a request deletes the collection that an object is in.
func (id *sentAs) empties(key string) bool {
	path, _, _ := strings.Cut(id.path, "?")
	collection, _ := collectionOf(key)
	return id.method == http.MethodDelete && strings.HasSuffix(path, collection)
}

// collectionOf returns how the path of an object's collection ends, and the object's name.
func collectionOf(key string) (tail, name string) {
	plural, object, _ := strings.Cut(key, " ")
	if namespace, name, namespaced := strings.Cut(object, "/"); namespaced {
		return "/namespaces/" + namespace + "/" + plural, name
	}
	return "/" + plural, object
}

func (a *abandonment) record(w property.World, r *sim.Record) *reports.Violation {
	a.follow(w, r)
	if !a.o.Probing() {
		a.learn(w, r)
		return nil
	}
	again := a.anew.record(w, r, a.o)
	switch r.Kind {
	case fakeapiserver.KindRequest, fakeapiserver.KindResponse:
		q := a.o.Sent(r.Actor, r.N)
		if q == nil || a.o.Role(r.Actor) != Controller {
			return nil
		}
		id := sentAsOf(r.Actor, q)
		if r.Kind == fakeapiserver.KindRequest {
			if f := a.failed[id]; f != nil && !again {
				delete(a.failed, id)
				a.trying[id] = f
			}
			return nil
		}
		a.fails(w, r, id, q)
	case fakeapiserver.KindCommit:
		return a.committed(w, r, again)
	case a.o.Reconciles.End:
		a.ends(w, r)
	case a.o.Restarts: // its queues are new
		if client, ok := clientOf(w, r); ok && !again {
			for _, all := range []map[sentAs]*abandoned{a.failed, a.trying} {
				maps.DeleteFunc(all, func(id sentAs, _ *abandoned) bool { return id.client == client })
			}
		}
	}
	return nil
}

// learn notes what reconciles ask for before writes are made to fail.
func (a *abandonment) learn(w property.World, r *sim.Record) {
	switch r.Kind {
	case fakeapiserver.KindResponse:
		if by := a.answered(r); by != nil && !strings.HasPrefix(r.Detail, "2") {
			by.failed = true
		}
	case a.o.Reconciles.End:
		a.ends(w, r)
	}
}

// ends notes the end of a reconcile. One that asks to be called again, however late, has not given up what has failed, unless it always asks for that, and for long.
func (a *abandonment) ends(w property.World, r *sim.Record) {
	by := a.ended(r)
	if by == nil || r.N < 0 {
		return
	}
	at, after := wayOf(w, r), time.Duration(r.N)
	if !by.failed {
		a.usual[at] = after
	}
	swallowed := after > patient && a.usual[at] == after
	for _, id := range by.requests {
		if f := a.failed[id]; f != nil && swallowed {
			f.after = after
		} else {
			delete(a.failed, id)
		}
	}
}

// fails notes a request that has failed soon after what it writes was undone.
func (a *abandonment) fails(w property.World, r *sim.Record, id sentAs, q *Request) {
	by, before := a.answered(r), a.trying[id]
	delete(a.trying, id)
	if by != nil && !strings.HasPrefix(r.Detail, "2") {
		by.failed = true
	}
	if !strings.HasPrefix(r.Detail, "5") && !strings.HasPrefix(r.Detail, "409 Conflict") || a.o.ListsAnew() {
		return
	}
	u, is := a.answers(q, &id)
	if !is {
		return
	}
	f := &abandoned{undone: u.Evidence, first: r.At}
	if before != nil && before.undone == u.Evidence {
		f = before
	}
	f.failed, f.times = reports.Because(r, "%s sends %s %s, which fails: %s", clientName(w, r.Actor), q.Method, q.Path, r.Detail), f.times+1
	a.failed[id] = f
	if by != nil {
		by.requests = append(by.requests, id)
	}
}

// answers returns what a request answers to: the last that was undone of its object, or the last deletion of one that it may make.
func (a *abandonment) answers(q *Request, id *sentAs) (last undone, is bool) {
	of := ""
	for key, u := range a.undone { // order: the last one counts, and of those of one step the last key
		if q.At < u.At || q.At > u.At+reaction || !names(q.Path, key) && !id.makes(key) && !id.empties(key) {
			continue
		}
		if !is || u.Step > last.Step || u.Step == last.Step && key > of {
			of, last, is = key, u, true
		}
	}
	return last, is
}

// names reports whether a request's path is that of an object, or of a subresource.
func names(path, key string) bool {
	path, _, _ = strings.Cut(path, "?")
	tail, name := collectionOf(key)
	tail += "/" + name
	return strings.HasSuffix(path, tail) || strings.Contains(path, tail+"/")
}

func (a *abandonment) committed(w property.World, r *sim.Record, again bool) *reports.Violation {
	x := a.o.writeOf(w)
	if x.role == Outside && !again {
		switch {
		case r.Detail == "MODIFIED" && deleted(r.Obj) && !deleted(r.Old):
			a.undone[strings.Clone(r.Key)] = undone{nil, reports.Because(r, "somebody deletes %s, which has the finalizers %s (RV %d)", r.Key, strings.Join(meta(r.Obj).GetFinalizers(), ", "), r.RV)}
		case r.Detail == "MODIFIED":
			a.undone[strings.Clone(r.Key)] = undone{changes(r.Obj, r.Old), reports.Because(r, "somebody undoes what had been written of %s (RV %d)", r.Key, r.RV)}
		case r.Detail == "DELETED":
			a.undone[strings.Clone(r.Key)] = undone{nil, reports.Because(r, "somebody deletes %s (RV %d)", r.Key, r.RV)}
		case r.Detail == "ADDED":
			a.undone[strings.Clone(r.Key)] = undone{nil, reports.Because(r, "somebody makes %s anew, which a controller had deleted (RV %d)", r.Key, r.RV)}
		}
		return nil
	}
	if !again || x.role != Controller || x.request == nil || a.o.excepted(NameAbandoned, x.name, r.Key) {
		return nil
	}
	told, is := a.justTold(&x)
	failed := a.failed[sentAsOf(x.client, x.request)]
	if failed == nil || !is {
		return nil
	}
	what := ""
	switch r.Detail {
	case "ADDED":
		what = "creates " + r.Key
	case "DELETED":
		if what = "deletes " + r.Key; x.request.Method != http.MethodDelete {
			what = "removes the last finalizer of " + r.Key
		}
	case "MODIFIED":
		if deleted(r.Obj) && !deleted(r.Old) { // it has finalizers, or a grace period
			what = "deletes " + r.Key
			break
		}
		if f := released(r); f != "" {
			what = fmt.Sprintf("removes the finalizer %s of %s", f, r.Key)
			break
		}
		for _, c := range changes(r.Old, r.Obj) {
			if !moves(c.value) && slices.Contains(a.undone[r.Key].was, c) {
				what = fmt.Sprintf("changes %s of %s to %s", c.field, r.Key, shown(c.value))
				break
			}
		}
	}
	if what == "" {
		return nil
	}
	tries := "had failed"
	if failed.times > 1 {
		tries = fmt.Sprintf("had failed %d times within %v, the last time", failed.times, span(failed.failed.At-failed.first))
	}
	tried := "not tried again"
	if failed.after > 0 {
		tried = fmt.Sprintf("to be tried again after %v, as when nothing has failed", failed.after)
	}
	return &reports.Violation{
		Key: strings.Clone(r.Key),
		Message: fmt.Sprintf(
			"%s %s only when %s: the same request, %s %s, %s %v before, for a reason that passes, and was %s. Either the error was swallowed or given up, which a reconcile returns, or puts its key back (AddRateLimited), for as long as it takes; or the object in the informer's cache was changed before, in place of a copy, and the next attempt took that for written (-simtest.mutations=on tells), or what it has sent was noted as written before the answer",
			x.name, what, a.onlyWhen(x.client), x.request.Method, x.request.Path, tries, span(x.request.At-failed.failed.At), tried),
		Because: []reports.Evidence{
			failed.undone, failed.failed, told,
			{Step: x.request.Step, At: x.request.At, Text: fmt.Sprintf("%s sends %s %s again", x.name, x.request.Method, x.request.Path)},
			reports.Because(r, "%s is %s (RV %d)", r.Key, r.Detail, r.RV),
		},
	}
}

// deleted reports whether an object is being deleted.
func deleted(obj any) bool {
	m := meta(obj)
	return m != nil && m.GetDeletionTimestamp() != nil
}

// released returns a finalizer that an update removes of an object that is being deleted, "" for none.
func released(r *sim.Record) string {
	if !deleted(r.Old) || !deleted(r.Obj) {
		return ""
	}
	for _, f := range meta(r.Old).GetFinalizers() {
		if !slices.Contains(meta(r.Obj).GetFinalizers(), f) {
			return f
		}
	}
	return ""
}
