package world

import (
	"strconv"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/sim"
)

// landing observes what the helpers' own requests commit. A step that admits a request of theirs serves nothing else, so what is committed in
// it is theirs: that is how a lost answer is told from a lost request.
type landing struct {
	w    *world
	step *landedWrite // of the current step
	last *landedWrite // of the helpers', since forget
}

// landedWrite is a commit.
type landedWrite struct {
	rv   int64
	obj  runtime.Object
	gone bool // it was deleted
}

func (l *landedWrite) resourceVersion() string { return strconv.FormatInt(l.rv, 10) }

// forget is called before a request.
func (l *landing) forget() { l.last = nil }

// Record implements sim.Observer.
func (l *landing) Record(r *sim.Record) {
	if r.Kind == fakeapiserver.KindCommit {
		obj, _ := r.Obj.(runtime.Object)
		l.step = &landedWrite{r.RV, obj, r.Detail == "DELETED"}
	}
}

// StepEnd implements sim.Observer.
func (l *landing) StepEnd(s *sim.StepInfo) {
	if l.step != nil && s.Choice.Actor == l.w.helpers && s.Choice.Kind == fakeapiserver.KindAdmit {
		l.last = l.step
	}
	l.step = nil
}
