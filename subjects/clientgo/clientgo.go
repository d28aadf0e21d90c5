package clientgo

import (
	"errors"
	"fmt"
	"time"

	"github.com/informersim/informersim/bubble"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// Kind is the kind of subject "client-go".
var Kind = subjects.Kind{
	Name: "client-go", Engine: bubble.Engine, Queues: []subjects.Queue{subjects.QueueDelta, subjects.QueueInOrder, subjects.QueueAtomic}, New: New,
	Host: Host, Interleaved: interleavedHost(), NotInterleaved: notInterleaved, Many: hostOfMany,
}

// Subject is a subject of Kind, or one in a guest.
type Subject struct {
	deps      subjects.Dependencies
	side      Side // nil if there is none
	informers []*actor
	queues    []*workQueue
	silent    bool   // handlers cannot say when they have synced
	stamp     uint64 // of choices that are offered because time has passed
	touched   bool   // this step may have woken goroutines in the bubble
	passed    bool   // time has passed in this step
}

// New returns client-go as a subject. It must be called inside a bubble: see Host.
func New(deps subjects.Dependencies) subjects.Subject { return NewOn(enterBubble, nil)(deps) }

// NewOn returns the factory of subjects whose client-go lives on the side that enter finds, and lacks these features.
func NewOn(enter Enter, lacks map[subjects.Feature]string) subjects.Factory {
	_, silent := lacks[subjects.HandlerSync]
	return func(deps subjects.Dependencies) subjects.Subject {
		s := &Subject{deps: deps, silent: silent}
		side, err := enter(deps.Kernel.Elapsed(), s.deliver)
		if err != nil {
			return s // AddInformer says so
		}
		s.side = side
		deps.Kernel.Clock().Share(s.pass)
		deps.Kernel.OnApplied(s.settle)
		return s
	}
}

// AddInformer implements subjects.Subject.
func (s *Subject) AddInformer(spec subjects.InformerSpec) (subjects.Informer, error) {
	if s.side == nil {
		return nil, errors.New("the subject client-go needs a bubble of its own, which clientgo.Host makes")
	}
	i, err := newInformer(s, spec, nil)
	if err != nil {
		return nil, err
	}
	return i, nil
}

// Restart implements subjects.Subject.
func (s *Subject) Restart(stopped subjects.Informer) (subjects.Informer, error) {
	before := stopped.(*actor)
	i, err := newInformer(s, before.Spec, before)
	if err != nil {
		return nil, err
	}
	return i, nil
}

// begin reseeds, in a transcript, the source that client-go draws from, for the cause of what happens next.
func (s *Subject) begin(cause string) {
	if d := s.deps.Draws; d != nil {
		s.side.Seed(d.Source(cause))
	}
}

// pass lets time pass in the bubble, at most until the next resync, which cannot be observed in any other way.
func (s *Subject) pass(d time.Duration) time.Duration {
	now := s.deps.Kernel.Elapsed()
	for _, i := range s.informers {
		if in, ok := i.resyncIn(now); ok {
			d = min(d, in)
		}
	}
	s.stamp = s.deps.Kernel.NextStamp()
	s.begin(subjects.ByClock)
	s.touched, s.passed = true, true
	return s.side.Pass(d)
}

// quiesce waits, within a step, until the bubble is quiescent.
func (s *Subject) quiesce() {
	s.touch()
	s.side.Quiesce()
	if err := s.side.Err(); err != nil {
		s.deps.Kernel.Fail(err)
	}
}

// touch notes that goroutines in the bubble may have something to do.
func (s *Subject) touch() { s.touched = true }

// settle ends a step: it waits until the bubble is quiescent and records what happened there.
func (s *Subject) settle() {
	k := s.deps.Kernel
	if s.touched && !s.passed {
		s.side.Quiesce()
	}
	if err := s.side.Err(); err != nil {
		k.Fail(err)
		return
	}
	if !s.touched {
		return
	}
	if s.side.Elapsed() != k.Elapsed() {
		k.Fail(&sim.DefectError{Why: fmt.Sprintf("the bubble is at %v, the run at %v: time passed without being advanced", s.side.Elapsed(), k.Elapsed())})
	}
	if p := s.side.Panic(); p != nil {
		k.Fail(p)
		return
	}
	for _, i := range s.informers {
		i.collect()
	}
	for _, q := range s.queues {
		q.collect()
	}
	s.touched, s.passed = false, false
}

// Goroutines describes client-go's goroutines, for a run that does not end.
func (s *Subject) Goroutines() []string {
	if s.side == nil {
		return nil
	}
	return s.side.Goroutines()
}
