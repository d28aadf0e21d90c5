package properties

import (
	"fmt"
	"time"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// PauseAfterPanic checks that a handler rests after a panic (I85).
var PauseAfterPanic = Property{
	Name:      "PauseAfterPanic",
	Statement: fmt.Sprintf("a handler that has panicked is not called again within %v", subjects.CrashBackoff),
	Kinds:     []sim.Kind{subjects.KindPanic, subjects.KindNotify, subjects.KindHandler},
	New: func() Checker {
		p := &pauseAfterPanic{}
		return Checker{Record: p.record}
	},
}

// pauseAfterPanic knows when each handler panicked last.
type pauseAfterPanic struct{ panics byActor[lastPanic] }

type lastPanic struct {
	step uint64 // 0 for none
	at   time.Duration
	key  string
}

func (p *pauseAfterPanic) record(w World, r *sim.Record) *reports.Violation {
	last := p.panics.get(r.Actor)
	switch {
	case r.Kind == subjects.KindPanic:
		*last = lastPanic{r.Step, r.At, r.Key}
	case r.Kind == subjects.KindHandler:
		if r.Detail == "added" { // one that was removed may still be called once (see NothingAfterRemove)
			*last = lastPanic{}
		}
	case last.step != 0 && r.At-last.at < subjects.CrashBackoff:
		return &reports.Violation{
			Key: r.Key,
			Message: fmt.Sprintf("handler %s was called %v after it had panicked, want a pause of %v",
				w.Kernel().ActorName(r.Actor), r.At-last.at, subjects.CrashBackoff),
			Because: []reports.Evidence{
				{Step: last.step, At: last.at, Text: fmt.Sprintf("its call about %s panicked", last.key)},
				{Step: r.Step, At: r.At, Text: fmt.Sprintf("but it was called about %s", r.Key)},
			},
		}
	}
	return nil
}
