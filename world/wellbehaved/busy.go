package wellbehaved

import (
	"strconv"
	"strings"
	"time"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// busyness follows which clients wait for answers, those of watches aside.
type busyness struct {
	asked map[sentBy]string // the plural, by request in flight
	work  map[sim.ActorID]work
}

// work is what a client waits for.
type work struct {
	n     int           // requests
	since time.Duration // since when it has waited without a pause
	until time.Duration // when it was last told an answer
}

func newBusyness() busyness { return busyness{map[sentBy]string{}, map[sim.ActorID]work{}} }

// record takes in requests, answers, and the lives of processes. It is to see a page after whoever asks of what that is.
func (b *busyness) record(w property.World, r *sim.Record, restarts sim.Kind) {
	switch at := (sentBy{r.Actor, r.N}); r.Kind {
	case fakeapiserver.KindRequest:
		if strings.HasPrefix(r.Detail, "watch") {
			return
		}
		b.asked[at] = strings.Clone(r.Key)
		x := b.work[at.client]
		if x.n == 0 && (r.At > x.until || x.until == 0) {
			x.since = r.At
		}
		x.n++
		b.work[at.client] = x
	case fakeapiserver.KindResponse:
		b.answered(at, r.At)
	case fakeapiserver.KindPage:
		b.answered(pageOf(r), r.At)
	case restarts:
		if client, ok := clientOf(w, r); ok {
			delete(b.work, client)
			for q := range b.asked { // order: each by itself
				if q.client == client {
					delete(b.asked, q)
				}
			}
		}
	}
}

func (b *busyness) answered(at sentBy, when time.Duration) {
	if _, is := b.asked[at]; !is {
		return // of a watch, or of a request whose page has come
	}
	delete(b.asked, at)
	x := b.work[at.client]
	x.n--
	x.until = when
	b.work[at.client] = x
}

// idled reports whether a client has waited for nothing at some time after another one.
func (b *busyness) idled(client sim.ActorID, after, now time.Duration) bool {
	x := b.work[client]
	if x.n == 0 && now > x.until {
		return now > after
	}
	return x.since > after
}

// pageOf returns the request that a page answers.
func pageOf(r *sim.Record) sentBy {
	n, err := strconv.ParseInt(strings.TrimPrefix(strings.SplitN(r.Detail, " ", 2)[0], "request="), 10, 64)
	if err != nil {
		n = -1
	}
	return sentBy{r.Actor, n}
}
