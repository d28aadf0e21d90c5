package properties

import (
	"fmt"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// ListLimits checks how many objects an informer lets a list have at most: without a limit, a server has to put together all of them at once (I5 to I8).
var ListLimits = Property{
	Name: "ListLimits",
	Statement: "each page of a list has the informer's page size as its limit or, without one, 500 if servers may have to read the list from the Store; " +
		"only the list that follows an expired continue token has none",
	Kinds: requestKinds,
	New: func() Checker {
		p := &listLimits{}
		return Checker{Record: p.record}
	},
}

// defaultLimit is the limit of lists at "" and "0" (I5). Servers answer others from memory, if they have no limit.
const defaultLimit = 500

// listLimits follows what limits each connection's lists are to have. Whether a request begins a list, goes on with it or repeats it follows from the
// answers before.
type listLimits struct {
	requests reflectorRequests
	lists    byActor[limitedList]
}

// limitedList is the last list of a connection, with those that repeat it.
type limitedList struct {
	fromAny   bool // it began at "0"
	fromStore bool // servers may have to read it from the Store
	pages     bool // it has come back in pages
	latched   bool // a list at "0" has, so that others have a limit, too (I6)
}

func (p *listLimits) record(w World, r *sim.Record) *reports.Violation {
	switch r.Kind {
	case fakeapiserver.KindRequest:
		return p.request(w, r)
	case subjects.KindStopped:
		if conn, ok := w.Kernel().ActorByName("conn/" + w.Kernel().ActorName(r.Actor)); ok {
			*p.lists.get(conn) = limitedList{}
		}
	case fakeapiserver.KindPage:
		if page, ok := r.Obj.(*fakeapiserver.Page); ok {
			l := p.lists.get(r.Actor)
			l.pages = l.pages || page.Continue != ""
			l.latched = l.latched || l.fromAny && l.pages && page.Continue == ""
		}
	}
	p.requests.answer(w, r)
	return nil
}

func (p *listLimits) request(w World, r *sim.Record) *reports.Violation {
	c, before, ok := p.requests.request(r)
	if !ok || c.kind != askList || before.resend == r.Detail {
		return nil
	}
	_, q := askedFor(r)
	l := p.lists.get(r.Actor)
	if !c.paged {
		l.pages = false
		if !c.relisting && !c.whole { // others repeat this one's limit (I5), or have none (I8)
			l.fromAny = q.Options.ResourceVersion == "0"
			l.fromStore = l.fromAny || l.latched || q.Options.ResourceVersion == ""
		}
	}
	id, known := watcherOf(w, r)
	if !known {
		return nil
	}
	inf := w.InformerOf(id)
	if inf == nil {
		return nil // it is being made
	}
	if l.fromAny && inf.LastSyncResourceVersion() != "" {
		return nil // it goes back behind what it has seen, which is LastSyncRVMonotonic's to say
	}
	got, want := q.Options.Limit, inf.PageSize()
	switch {
	case c.whole && !c.paged:
		want = 0
	case want == 0 && l.fromStore:
		want = defaultLimit
	}
	if got == want {
		return nil
	}
	return &reports.Violation{
		Message: fmt.Sprintf("informer %s asks for a list with %s, want %s: %s", inf.Name(), describeLimit(got), describeLimit(want), r.Detail),
		Because: append(before.after.because(), reports.Because(r, "but it asks: %s", r.Detail)),
	}
}

func describeLimit(n int64) string {
	if n == 0 {
		return "no limit"
	}
	return fmt.Sprintf("limit %d", n)
}
