package world

import (
	"fmt"
	"strings"
	"time"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// hotLoop is the number of identical lists or watches in a row, at one instant, that count as a tight loop.
const hotLoop = 1000

// noHotLoop checks that no client repeats a list or watch without time passing.
func noHotLoop() property.Property {
	return property.Property{
		Name:      "NoHotLoop",
		Statement: "no client sends one and the same request over and over while time stands still",
		Kinds:     []sim.Kind{fakeapiserver.KindRequest},
		New: func() property.Checker {
			all := map[sim.ActorID]*repeated{}
			return property.Checker{Record: func(w property.World, r *sim.Record) *reports.Violation {
				if !strings.HasPrefix(r.Detail, "list") && !strings.HasPrefix(r.Detail, "watch") && !strings.HasPrefix(r.Detail, "get") {
					delete(all, r.Actor)
					return nil
				}
				q := all[r.Actor]
				if q == nil || q.key != r.Key || q.detail != r.Detail || q.at != r.At {
					q = &repeated{key: strings.Clone(r.Key), detail: strings.Clone(r.Detail), at: r.At, step: r.Step}
					all[r.Actor] = q
				}
				if q.times++; q.times < hotLoop {
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

// repeated is a client's last request, and how often it was made in a row.
type repeated struct {
	key, detail string
	at          time.Duration
	step        uint64
	times       int
}
