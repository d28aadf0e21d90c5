package wellbehaved

import (
	"fmt"
	"net/http"
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

// By what factor the last delay of a round is longer than that of the round before: four, unless something else made the controller look again. Who
// polls, or puts off by chance, does not come to that four times in a row.
const (
	leastGrowth = 1.9
	mostGrowth  = 8
)

// noGrowingBackoff checks that a controller which has succeeded forgets how often it has failed. What is judged is the delay before the attempt that
// succeeds, of one and the same request.
func noGrowingBackoff(o *Options) property.Property {
	return property.Property{
		Name:      NameBackoff,
		Statement: "a retry does not come the later, the more often the same request has failed and then succeeded",
		Kinds:     []sim.Kind{fakeapiserver.KindRequest, fakeapiserver.KindResponse, o.Restarts},
		New: func() property.Checker {
			all := map[sim.ActorID]map[string]*attempts{}
			return property.Checker{Record: func(w property.World, r *sim.Record) *reports.Violation {
				if !o.Probing() {
					return nil
				}
				if r.Kind == o.Restarts { // its queues are new
					if id, ok := clientOf(w, r); ok {
						delete(all, id)
					}
					return nil
				}
				q := o.Sent(r.Actor, r.N)
				if q == nil || q.Method != http.MethodPut && q.Method != http.MethodPatch || o.Role(r.Actor) != Controller {
					return nil
				}
				if all[r.Actor] == nil {
					all[r.Actor] = map[string]*attempts{}
				}
				id := q.Method + " " + q.Path
				a := all[r.Actor][id]
				if a == nil {
					a = &attempts{}
					all[r.Actor][id] = a
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
	last   round // between the last failure and what followed it

	rounds []round
}

// round is a request that failed, and succeeded after a delay.
type round struct {
	failed, again moment
	delay         time.Duration
}

// again notes that the request is sent.
func (a *attempts) again(r *sim.Record) {
	a.last = round{}
	if a.down {
		a.last = round{failed: a.failed, again: momentOf(r), delay: r.At - a.failed.at}
	}
}

// answered notes an answer, and reports whether the delays have grown from each round to the next.
func (a *attempts) answered(r *sim.Record) bool {
	if a.down = !strings.HasPrefix(r.Detail, "2"); a.down {
		a.failed = momentOf(r)
		return false
	}
	if a.last.delay == 0 {
		return false // it had not failed, or something else made the controller look again
	}
	if n := len(a.rounds); n > 0 {
		by := float64(a.last.delay) / float64(a.rounds[n-1].delay)
		if by < leastGrowth || by > mostGrowth {
			a.rounds = nil
		}
	}
	a.rounds = append(a.rounds, a.last)
	a.last = round{}
	return len(a.rounds) == ProbeRounds
}

func (a *attempts) violation(client string, q *Request) *reports.Violation {
	var delays []string
	var because []reports.Evidence
	for _, x := range a.rounds {
		delays = append(delays, span(x.delay).String())
		because = append(because, reports.Evidence{Step: x.failed.step, At: x.failed.at, Text: "it fails"},
			reports.Evidence{Step: x.again.step, At: x.again.at, Text: fmt.Sprintf("%s sends it again, after %s, and it succeeds", client, span(x.delay))})
	}
	return &reports.Violation{Key: a.key, Because: because, Message: fmt.Sprintf(
		"%s puts off %s %s ever longer: by %s after a failure, although it has succeeded in between. Whoever tells a rate limiter of a failure (AddRateLimited) has to tell it of a success (Forget)",
		client, q.Method, q.Path, strings.Join(delays, ", "))}
}
