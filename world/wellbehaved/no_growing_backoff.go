package wellbehaved

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// NameBackoff is the name of the property for which writes are made to fail.
const NameBackoff = "NoGrowingBackoff"

// ProbeRounds and ProbeFailures are how often, one time after the other, a write is made to fail for NoGrowingBackoff, and how many times then. A
// backoff that doubles is four times as long from one round to the next if nobody has reset it, and the same if somebody has.
const (
	ProbeRounds   = 5
	ProbeFailures = 2
)

// CreateRounds is how often creates of an object are made to fail, ProbeFailures times each: as often as a progression needs.
const CreateRounds = progression / ProbeFailures

// By what factor the last delay of a round is longer than that of the round before: four, unless something else made the controller look again. Who
// polls, or puts off by chance, does not come to that four times in a row.
const (
	leastGrowth = 1.9
	mostGrowth  = 8
)

// A limiter whose delays begin with a second, or end with a minute, does not come to five rounds. It shows by several delays in a row, of retries that fail and of such that succeed, each by the same
// factor longer than the last one: whoever has forgotten begins anew after each success.
const (
	progression    = 6
	leastFactor    = 1.4
	mostFactor     = 4
	sameFactor     = 1.2 // by what one may be another
	leastSuccesses = 2   // between the first retry and the last
)

// noGrowingBackoff checks that a controller which has succeeded forgets how often it has failed. What is judged are the delays before attempts of one and the same request: of those that succeed,
// and of several in a row.
func noGrowingBackoff(o *Options) property.Property {
	return property.Property{
		Name:      NameBackoff,
		Statement: "a retry does not come the later, the more often the same request has failed and then succeeded",
		Kinds:     []sim.Kind{fakeapiserver.KindRequest, fakeapiserver.KindResponse, o.Restarts},
		New: func() property.Checker {
			all := map[sentAs]*attempts{}
			return property.Checker{Record: func(w property.World, r *sim.Record) *reports.Violation {
				if !o.Probing() {
					return nil
				}
				if r.Kind == o.Restarts { // its queues are new
					if id, ok := clientOf(w, r); ok {
						maps.DeleteFunc(all, func(of sentAs, _ *attempts) bool { return of.client == id })
					}
					return nil
				}
				q := o.Sent(r.Actor, r.N)
				if q == nil || !q.writes() || o.Role(r.Actor) != Controller {
					return nil
				}
				id := sentAsOf(r.Actor, q)
				a := all[id]
				if a == nil {
					a = &attempts{}
					all[id] = a
				}
				if r.Kind == fakeapiserver.KindRequest {
					a.key = objectOf(r)
					a.again(r)
					return nil
				}
				client := strings.TrimPrefix(w.Kernel().ActorName(r.Actor), "conn/")
				if !a.answered(r) || o.excepted(NameBackoff, client, a.key) {
					return nil
				}
				return a.violation(client, q)
			}}
		},
	}
}

// attempts are those of one request.
type attempts struct {
	key    string
	failed moment // the last one, if it has failed
	down   bool
	last   retry // the attempt that followed the last failure

	rounds []retry // those that succeeded
	row    []retry // by the same factor later each time
}

// retry is an attempt, with the failure that it follows.
type retry struct {
	failed, again moment
	delay         time.Duration
	succeeds      bool
}

// again notes that the request is sent.
func (a *attempts) again(r *sim.Record) {
	a.last = retry{}
	if a.down {
		a.last = retry{failed: a.failed, again: momentOf(r), delay: r.At - a.failed.at}
	}
}

// answered notes an answer, and reports whether the delays have grown although attempts have succeeded.
func (a *attempts) answered(r *sim.Record) bool {
	if a.down = !strings.HasPrefix(r.Detail, "2"); a.down {
		a.failed = momentOf(r)
	}
	x := a.last
	a.last = retry{}
	if x.failed == (moment{}) {
		return false
	}
	if x.delay == 0 { // something else made the controller look again
		a.row = nil
		return false
	}
	x.succeeds = !a.down
	if !a.continues(x) {
		a.row = nil
	}
	if a.row = append(a.row, x); a.down {
		return false
	}
	if n := len(a.rounds); n > 0 {
		if by := a.rounds[n-1].growth(x); by < leastGrowth || by > mostGrowth {
			a.rounds = nil
		}
	}
	a.rounds = append(a.rounds, x)
	return len(a.rounds) == ProbeRounds || a.progresses()
}

// growth is by what factor the delay of the next retry is longer.
func (x retry) growth(next retry) float64 { return float64(next.delay) / float64(x.delay) }

// continues reports whether a retry comes later by the same factor as those in a row before it.
func (a *attempts) continues(x retry) bool {
	n := len(a.row)
	if n == 0 {
		return false
	}
	by := a.row[n-1].growth(x)
	if by < leastFactor || by > mostFactor {
		return false
	}
	if n == 1 {
		return true
	}
	as := by / a.row[0].growth(a.row[1])
	return as < sameFactor && as > 1/sameFactor
}

// progresses reports whether the retries in a row are many, with enough successes between them.
func (a *attempts) progresses() bool {
	n := len(a.row)
	if n < progression {
		return false
	}
	successes := 0
	for _, x := range a.row[:n-1] {
		if x.succeeds {
			successes++
		}
	}
	return successes >= leastSuccesses
}

func (a *attempts) violation(client string, q *Request) *reports.Violation {
	all := a.rounds
	if len(all) < ProbeRounds {
		all = a.row
	}
	var delays []string
	var because []reports.Evidence
	for _, x := range all {
		end := "and it succeeds"
		if !x.succeeds {
			end = "and it fails once more"
		}
		delays = append(delays, span(x.delay).String())
		because = append(because, reports.Evidence{Step: x.failed.step, At: x.failed.at, Text: "it fails"},
			reports.Evidence{Step: x.again.step, At: x.again.at, Text: fmt.Sprintf("%s sends it again, after %s, %s", client, span(x.delay), end)})
	}
	return &reports.Violation{Key: a.key, Because: because, Message: fmt.Sprintf(
		"%s puts off %s %s ever longer: by %s after a failure, although it has succeeded in between. Whoever tells a rate limiter of a failure (AddRateLimited) has to tell it of a success (Forget), as controller-runtime does when a reconcile returns no error. It does not after reconcile.TerminalError: where a status says what is wrong, return nil",
		client, q.Method, q.Path, strings.Join(delays, ", "))}
}
