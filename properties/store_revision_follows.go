package properties

import (
	"fmt"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// StoreRevisionFollows checks that the Indexer's resourceVersion keeps up with the reflector's.
var StoreRevisionFollows = Property{
	Name:      "StoreRevisionFollows",
	Statement: "when nothing is queued, the Indexer's resourceVersion is the last one that the reflector saw",
	Kinds:     []sim.Kind{fakeapiserver.KindFrame, subjects.KindReplace, subjects.KindRefused},
	New: func() Checker {
		p := &storeRevisionFollows{}
		return Checker{Record: p.record, StepEnd: p.stepEnd, Pending: &p.due, End: p.check}
	},
}

// storeRevisionFollows counts bookmarks, too (I70). With a queue that has no bookmarks, the Indexer has no resourceVersion. It looks
// once after each frame or list, when everything is idle. A frame for which the informer's transform fails moves its reflector only.
type storeRevisionFollows struct {
	due    bool
	behind byActor[bool] // by informer: a frame was lost since its last list
	kept   byActor[bool] // by informer: its Indexer has had a resourceVersion, which it must not lose
}

func (p *storeRevisionFollows) record(_ World, r *sim.Record) *reports.Violation {
	p.due = true
	switch r.Kind {
	case subjects.KindReplace:
		*p.behind.get(r.Actor) = false
	case subjects.KindRefused:
		*p.behind.get(r.Actor) = true
	}
	return nil
}

func (p *storeRevisionFollows) stepEnd(w World) *reports.Violation {
	for _, inf := range w.Informers() {
		if inf.Busy() {
			return nil
		}
	}
	p.due = false
	return p.check(w)
}

func (p *storeRevisionFollows) check(w World) *reports.Violation {
	for _, inf := range w.Informers() {
		id, _ := w.Kernel().ActorByName(inf.Name())
		if *p.behind.get(id) {
			continue // until a list: what has come since may have been queued before
		}
		have, want := inf.StoreResourceVersion(), inf.LastSyncResourceVersion()
		kept := p.kept.get(id)
		*kept = *kept || have != ""
		if *kept && have != want && !inf.Busy() {
			if have == "" {
				have = "none"
			}
			return &reports.Violation{
				Message: fmt.Sprintf("the Indexer of informer %s is at rv=%s, but its reflector saw rv=%s and nothing is queued", inf.Name(), have, want),
				Because: []reports.Evidence{{Step: w.Kernel().Steps(), At: w.Kernel().Elapsed(), Text: fmt.Sprintf("the Indexer of %s is at rv=%s", inf.Name(), have)}},
			}
		}
	}
	return nil
}
