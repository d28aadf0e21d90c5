package wellbehaved

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// NameDeletion is the name of the property for which what controllers have made is deleted while their watches of it have ended.
const NameDeletion = "NoLostDeletion"

// ofTombstones says what a handler that was told by a list has to do with it.
const ofTombstones = ". Where a list tells, handlers are handed a cache.DeletedFinalStateUnknown, not the object: cache.DeletionHandlingMetaNamespaceKeyFunc takes both"

// noLostDeletion checks that a controller that makes an object again when its watch tells that somebody has deleted it does so, too, when it learns of that from a list. Informers hand their
// handlers a cache.DeletedFinalStateUnknown then, in place of the object. That it still wants the object is shown when its informers list anew, long after.
func noLostDeletion(o *Options) property.Property {
	return property.Property{
		Name:      NameDeletion,
		Statement: "what a controller does when its watch tells of a deletion, it does when a list does",
		Kinds:     slices.Concat(following, []sim.Kind{fakeapiserver.KindResponse, fakeapiserver.KindWatchClosed, fakeapiserver.KindCommit, o.Restarts}),
		New: func() property.Checker {
			d := &deletions{gazette: newGazette(), o: o, gone: map[string]*deed{}, answers: map[sentAs]answer{}, made: map[string]sim.ActorID{}, touched: map[string]*deed{}, mends: map[followed]answer{}, anew: newAnew()}
			d.ends = newEnds(d)
			return property.Checker{Record: d.record, End: d.ends.end}
		},
	}
}

type (
	// deed is what somebody else has done to an object: a deletion, or a change.
	deed struct {
		reports.Evidence
		watched map[sim.ActorID]bool // whose watch has told of it
	}
	// answer is what a controller did when its watch told of a deletion, or of a change.
	answer struct{ gone, sent reports.Evidence }
)

func newDeed(r *sim.Record, does string) *deed {
	return &deed{reports.Because(r, "somebody %s %s (RV %d)", does, r.Key, r.RV), map[sim.ActorID]bool{}}
}

// deletions follows the objects that somebody deletes while controllers are probed.
type deletions struct {
	gazette
	anew
	ends    ends
	o       *Options
	gone    map[string]*deed // the deletions that no controller has answered by making the object again, by key
	answers map[sentAs]answer
	made    map[string]sim.ActorID // who has made an object, by key
	touched map[string]*deed       // of these
	mends   map[followed]answer    // what a client has put back of a resource
}

func (d *deletions) record(w property.World, r *sim.Record) *reports.Violation {
	d.gazette.record(w, r, d.o.Restarts)
	if r.Kind == fakeapiserver.KindCommit && r.Detail == "ADDED" {
		if x := d.o.writeOf(w); x.role == Controller {
			d.made[strings.Clone(r.Key)] = x.client
		} else {
			delete(d.made, r.Key)
		}
	}
	if !d.o.Probing() {
		return nil
	}
	if v := d.ends.record(w, r); v != nil {
		return v
	}
	again := d.anew.record(w, r, d.o)
	switch r.Kind {
	case fakeapiserver.KindRequest:
		if q := d.o.Sent(r.Actor, r.N); q != nil && !again && d.o.Role(r.Actor) == Controller {
			d.sent(w, r, q)
		}
	case fakeapiserver.KindPage, fakeapiserver.KindFrame:
		if x := d.gone[r.Key]; x != nil && r.Detail == "DELETED" && r.RV >= d.of[r.Key].rv {
			x.watched[r.Actor] = true
		} else if x := d.touched[r.Key]; x != nil && r.Detail == "MODIFIED" {
			x.watched[r.Actor] = true
		}
	case fakeapiserver.KindCommit:
		return d.committed(r, d.o.writeOf(w), again)
	case d.o.Restarts:
		if client, ok := clientOf(w, r); ok && !again { // what it makes now, it makes since it begins
			clear(d.gone)
			maps.DeleteFunc(d.answers, func(id sentAs, _ answer) bool { return id.client == client })
		}
	}
	return nil
}

// sent notes that a controller makes something: in answer to the deletions that it may know of. Or it puts back what somebody has changed.
func (d *deletions) sent(w property.World, r *sim.Record, q *Request) {
	id := sentAsOf(r.Actor, q)
	for key, x := range d.touched { // order: each by itself
		if d.made[key] == r.Actor && x.watched[r.Actor] && r.At <= x.At+reaction && q.writes() && names(q.Path, key) {
			d.mends[followed{r.Actor, pluralOf(key)}] = answer{x.Evidence, reports.Because(r, "%s, whose watch has told of that, sends %s %s", clientName(w, r.Actor), q.Method, q.Path)}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(d.gone)) {
		x := d.gone[key]
		if !id.remakes(key) {
			continue
		}
		if x.watched[r.Actor] && r.At <= x.At+reaction {
			d.answers[id] = answer{x.Evidence, reports.Because(r, "%s, whose watch has told of that, sends %s %s", clientName(w, r.Actor), q.Method, q.Path)}
		}
		delete(d.gone, key)
	}
}

// remakes reports whether a request may make an object of a key anew: a create, or an apply, which makes what is not there.
func (id *sentAs) remakes(key string) bool {
	return id.makes(key) || id.method == http.MethodPatch && names(id.path, key)
}

func (d *deletions) committed(r *sim.Record, x write, again bool) *reports.Violation {
	if _, theirs := d.made[r.Key]; theirs && r.Detail == "MODIFIED" && x.role == Outside && !again {
		d.touched[strings.Clone(r.Key)] = newDeed(r, "changes")
		return nil
	}
	if r.Detail == "DELETED" && x.role == Outside && !again {
		d.put(r)
		d.gone[strings.Clone(r.Key)] = newDeed(r, "deletes")
		return nil
	}
	if r.Detail != "ADDED" || !again || x.role != Controller || x.request == nil || d.o.excepted(NameDeletion, x.name, r.Key) {
		return nil
	}
	id := sentAsOf(x.client, x.request)
	told, is := d.justTold(&x)
	if !is {
		return nil
	}
	if !d.begun[x.client] { // what it makes at its start it may make whenever it starts
		if v := d.deaf(r, &x, &id, told); v != nil {
			return v
		}
	}
	did, knows := d.answers[id]
	if !knows {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(d.gone)) {
		gone := d.gone[key]
		learned, is := d.of[key].told[x.client]
		if !id.remakes(key) || !is || gone.watched[x.client] || learned.At >= told.At {
			continue
		}
		return &reports.Violation{
			Key: strings.Clone(r.Key),
			Message: fmt.Sprintf(
				"%s creates %s only when %s: %s had been deleted %v before, while no watch of its was open, so that a list told of that. When its watch tells of a deletion, %s sends %s %s at once"+ofTombstones,
				x.name, r.Key, d.onlyWhen(x.client), key, span(x.request.At-gone.At), x.name, x.request.Method, x.request.Path),
			Because: []reports.Evidence{
				did.gone, did.sent, gone.Evidence, learned, told,
				x.sends(),
				reports.Because(r, "%s is %s (RV %d)", r.Key, r.Detail, r.RV),
			},
		}
	}
	return nil
}

// deaf judges what a controller makes again only when its informers list anew, although its watch had told of the deletion: if it puts back at once what somebody changes of that resource, its handler
// takes no notice of deletions.
func (d *deletions) deaf(r *sim.Record, x *write, id *sentAs, told reports.Evidence) *reports.Violation {
	for _, key := range slices.Sorted(maps.Keys(d.gone)) {
		gone := d.gone[key]
		learned, is := d.of[key].told[x.client]
		did, mends := d.mends[followed{x.client, pluralOf(key)}]
		if !id.remakes(key) || !is || !gone.watched[x.client] || !mends || learned.At+overdue > told.At {
			continue
		}
		return &reports.Violation{
			Key: strings.Clone(r.Key),
			Message: fmt.Sprintf(
				"%s creates %s only when %s: its watch had told it %v before that %s was deleted. When its watch tells of a change of one of these objects, %s puts that back at once. A handler without a DeleteFunc, or a filter, such as a predicate, that drops deletions, takes no notice of them",
				x.name, r.Key, d.onlyWhen(x.client), span(x.request.At-learned.At), key, x.name),
			Because: []reports.Evidence{
				did.gone, did.sent, gone.Evidence, learned, told,
				x.sends(),
				reports.Because(r, "%s is %s (RV %d)", r.Key, r.Detail, r.RV),
			},
		}
	}
	return nil
}
