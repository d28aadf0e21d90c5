package properties

import (
	"fmt"
	"math"
	"time"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// NoLivelock checks that virtual time gets on: a subject that tries again for ever, at once or after next to no time, is found
// after seconds of real time.
var NoLivelock = Property{
	Name:      property.NoLivelock,
	Statement: "within a second of virtual time, an informer makes a bounded number of requests and resyncs, and the run a bounded number of steps",
	Kinds: []sim.Kind{
		fakeapiserver.KindCommit, fakeapiserver.KindRequest, subjects.KindReplace, subjects.KindResync, subjects.KindReconciled,
	},
	New: func() Checker { return newLivelockMeter().checker() },
}

// The bounds of a second of virtual time. Correct stacks stay far below them. Over 3,000 seeds of the built-in scenario and of
// generated ones, with and without storm, the maxima were 9 lists and watches of one informer, 1 resync, and 7,139 steps, a
// seventeenth of what that run was allowed:
//
//	go test ./properties -run TestLivelockBounds -v -args -livelock.seeds 3000
const (
	// maxRepeats bounds the lists and watches, pages aside, and the resyncs of one informer. One that waits 1 ms before it tries
	// again makes 1,000.
	maxRepeats = 250
	// freeSteps is the number of steps that need no reason. Scripts, faults and time itself take some.
	freeSteps = 100_000
	// stepsPerDelivery is for one object on its way to one party: a frame or a page, a pop, a call and its return.
	stepsPerDelivery = 4
	// leastRetry is the delay from which on a failed reconcile is a reason for another one; see BackoffHonoured.
	leastRetry = time.Millisecond
)

// livelockMeter counts what happens in the current second of virtual time. The number of steps it may take grows with the work
// that there is: the objects that were ever written, listed or resynced, which a hold can keep back for any time, times the
// parties that each of them is delivered to.
type livelockMeter struct {
	second    time.Duration // the current one, counted from 1
	first     reports.Evidence
	start     uint64 // the steps before it
	checkAt   uint64 // the step at which the run may have taken too many
	work      uint64 // in objects, since the start of the run
	clients   byActor[repeats]
	informers byActor[repeats]
}

// repeats counts what one actor does in a second.
type repeats struct {
	second time.Duration
	first  reports.Evidence
	n      int
}

func newLivelockMeter() *livelockMeter { return &livelockMeter{checkAt: math.MaxUint64} }

func (m *livelockMeter) checker() Checker {
	return Checker{Record: m.record, StepEnd: m.stepEnd}
}

func (m *livelockMeter) record(w World, r *sim.Record) *reports.Violation {
	switch r.Kind {
	case fakeapiserver.KindCommit:
		m.work++
	case subjects.KindReplace:
		m.work += uint64(r.N)
	case subjects.KindReconciled:
		if time.Duration(r.N) >= leastRetry {
			m.work++
		}
	case subjects.KindResync:
		m.work += uint64(r.N)
		return m.informers.get(r.Actor).again(w, r, "resync")
	case fakeapiserver.KindRequest:
		// The next pages of a list do not count: there are as many of those as objects.
		if _, q := askedFor(r); q != nil && q.Continue == "" {
			return m.clients.get(r.Actor).again(w, r, "request")
		}
	}
	return nil
}

// again counts one more.
func (c *repeats) again(w World, r *sim.Record, what string) *reports.Violation {
	if second := r.At/time.Second + 1; second != c.second {
		*c = repeats{second: second, first: reports.Evidence{Step: r.Step, At: r.At}}
	}
	if c.n++; c.n <= maxRepeats {
		return nil
	}
	name := w.Kernel().ActorName(r.Actor)
	c.first.Text = fmt.Sprintf("%s makes the first %s of this second", name, what)
	v := &reports.Violation{
		Message: fmt.Sprintf("%s has made %d %ss within a second of virtual time: it tries again without a pause that would let anything change", name, c.n, what),
		Because: []reports.Evidence{c.first},
	}
	last := reports.Because(r, "and makes number %d", c.n)
	if r.Detail != "" {
		last.Text += ": " + r.Detail
	}
	v.Because = append(v.Because, last)
	return v
}

func (m *livelockMeter) stepEnd(w World) *reports.Violation {
	k := w.Kernel()
	if second := k.Elapsed()/time.Second + 1; second != m.second {
		m.second, m.start = second, k.Steps()-1
		m.first = reports.Evidence{Step: k.Steps(), At: k.Elapsed()}
		m.checkAt = m.start + freeSteps
		return nil
	}
	if k.Steps() <= m.checkAt {
		return nil
	}
	if allowed := m.allowed(w); k.Steps()-m.start <= allowed {
		m.checkAt = m.start + allowed
		return nil
	}
	n := k.Steps() - m.start
	m.first.Text = "a second of virtual time begins"
	return &reports.Violation{
		Message: fmt.Sprintf("a second of virtual time has taken %d steps, and there is no end: %d objects, which were written, listed or resynced, explain at most %d", n, m.work, m.allowed(w)),
		Because: []reports.Evidence{m.first, {Step: k.Steps(), At: k.Elapsed(), Text: fmt.Sprintf("%d steps later it is not over", n)}},
	}
}

// allowed returns the number of steps that the second may take.
func (m *livelockMeter) allowed(w World) uint64 {
	parties := uint64(1 + len(w.Workers()))
	for _, inf := range w.Informers() {
		parties += 1 + uint64(len(inf.Handlers()))
	}
	return freeSteps + stepsPerDelivery*parties*m.work
}
