package wellbehaved

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

const nameForgotten = "NoForgottenFailure"

// patience is how long a failed reconcile may wait to be tried again: a little longer than any of client-go's backoffs, and shorter than the quiet time.
const patience = 18 * time.Minute

// noForgottenFailure checks that a reconcile which has failed is tried again. Only one is judged whose error is that of a request which the server could not answer, or
// whose connection broke: that passes, and nothing else tells the controller when. What is refused for good, or as stale, need not be tried again before something changes.
func noForgottenFailure(o *Options) property.Property {
	return property.Property{
		Name:      nameForgotten,
		Statement: "a reconcile that has failed since a request was not answered is tried again",
		Kinds:     slices.Concat(o.Reconciles.kinds(), watchKinds, []sim.Kind{o.Restarts}),
		New: func() property.Checker {
			f := &forgotten{o: o, followers: newFollowers(), underWay: newUnderWay[attempt](o.Reconciles), last: map[way]*failure{}}
			return property.Checker{Record: f.record, End: f.end}
		},
	}
}

// forgotten follows the failures that nobody has tried again yet.
type forgotten struct {
	underWay[attempt]
	followers
	o     *Options
	last  map[way]*failure
	order []way // of last
	late  *reports.Violation
}

// attempt is a reconcile that has begun, with what has become of its requests if they were not answered.
type attempt struct {
	client     sim.ActorID
	unanswered []reports.Evidence
}

// failure is a reconcile that has failed for that reason.
type failure struct {
	at     time.Duration
	text   string
	reason reports.Evidence
	end    reports.Evidence
	of     []selection // what its client had watched by then, of which the object may be
}

func (f *forgotten) record(w property.World, r *sim.Record) *reports.Violation {
	f.follow(w, r)
	f.followers.record(w, r, f.o.Restarts)
	switch r.Kind {
	case f.o.Reconciles.Begin:
		f.again(wayOf(w, r), r)
	case fakeapiserver.KindResponse:
		if by := f.answered(r); by != nil && passes(r.Detail) {
			by.client = r.Actor
			by.unanswered = append(by.unanswered, reports.Because(r, "%s is told: %s", clientName(w, r.Actor), r.Detail))
		}
	case f.o.Reconciles.End:
		f.ends(wayOf(w, r), r)
	case f.o.Restarts:
		f.last, f.order = map[way]*failure{}, nil // its queues are new; whose controllers they are is not known
	}
	return nil
}

// passes reports whether an answer is one that another attempt may not get: the server is busy or broken, or the connection is.
func passes(answer string) bool {
	code, _, _ := strings.Cut(answer, " ")
	switch {
	case answer == "ok" || strings.HasPrefix(code, "2"), strings.HasPrefix(code, "4") && code != "429":
		return false
	}
	return true
}

// again notes that something is reconciled. If it had failed long ago, and this is since the run had informers list anew, it had been forgotten.
func (f *forgotten) again(at way, r *sim.Record) {
	x := f.last[at]
	if x == nil {
		return
	}
	delete(f.last, at)
	if since, ok := f.o.Observed(); f.late == nil && ok && r.At >= since && r.At-x.at >= patience && f.judges(at) {
		f.late = f.violation(at, x, fmt.Sprintf("was tried again %v later, when its informers had listed anew, since the run had ended their watches", span(r.At-x.at)))
		f.late.Because = append(f.late.Because, reports.Because(r, "%s reconciles %s", at.controller, at.key))
	}
}

// ends notes how a reconcile has ended.
func (f *forgotten) ends(at way, r *sim.Record) {
	by := f.ended(r)
	delete(f.last, at)
	if r.Detail == "ok" || by == nil || f.o.Probing() {
		return
	}
	for _, e := range by.unanswered {
		_, why, _ := strings.Cut(e.Text, " is told: ")
		if _, message, coded := strings.Cut(why, ": "); coded && why[0] >= '0' && why[0] <= '9' {
			why = message
		}
		if strings.Contains(unquoted(r.Detail), unquoted(why)) {
			f.last[at] = &failure{r.At, strings.Clone(r.Detail), e, reports.Because(r, "%s has reconciled %s: %s", at.controller, at.key, r.Detail), f.with(by.client, at.key)}
			if !slices.Contains(f.order, at) {
				f.order = append(f.order, at)
			}
			return
		}
	}
}

func (f *forgotten) judges(at way) bool {
	return !f.gone[at.key] && !f.o.excepted(nameForgotten, at.controller, at.key)
}

func (f *forgotten) end(w property.World) *reports.Violation {
	if _, ok := f.o.Observed(); !ok {
		return nil
	}
	for _, at := range f.order {
		if x := f.last[at]; x != nil && w.Kernel().Elapsed()-x.at >= patience && f.judges(at) && !f.stopped(x.of) {
			return f.violation(at, x, fmt.Sprintf("has not been tried again in the %v since then", span(w.Kernel().Elapsed()-x.at)))
		}
	}
	return f.late
}

func (f *forgotten) violation(at way, x *failure, what string) *reports.Violation {
	return &reports.Violation{Key: at.key, Because: []reports.Evidence{x.reason, x.end}, Message: fmt.Sprintf(
		"%s failed to reconcile %s, and that %s. It had failed for a reason that passes, of which nothing tells it: %s", at.controller, at.key, what, x.text)}
}
