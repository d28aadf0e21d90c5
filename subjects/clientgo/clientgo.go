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
	Name: "client-go", Engine: bubble.Engine, Queues: []subjects.Queue{subjects.QueueDelta, subjects.QueueInOrder, subjects.QueueAtomic}, New: New, Host: Host,
}

// Subject is a subject of Kind.
type Subject struct {
	deps      subjects.Dependencies
	gate      *gate // nil outside a bubble
	informers []*actor
	queues    []*workQueue
	stamp     uint64 // of choices that are offered because time has passed
}

// New returns client-go as a subject. It must be called inside a bubble: see Host.
func New(deps subjects.Dependencies) subjects.Subject {
	s := &Subject{deps: deps}
	b, err := bubble.Enter(deps.Kernel.Elapsed())
	if err != nil {
		return s // AddInformer says so
	}
	b.AtEnd(s.close)
	s.gate = &gate{Bubble: b}
	deps.Kernel.Clock().Share(s.pass)
	deps.Kernel.OnApplied(s.settle)
	return s
}

// AddInformer implements subjects.Subject.
func (s *Subject) AddInformer(spec subjects.InformerSpec) (subjects.Informer, error) {
	if s.gate == nil {
		return nil, errors.New("the subject client-go needs a bubble of its own, which clientgo.Host makes")
	}
	i, err := newInformer(s, spec)
	if err != nil {
		return nil, err
	}
	s.informers = append(s.informers, i)
	return i, nil
}

// begin reseeds, in a transcript, the source that client-go draws from, for the cause of what happens next.
func (s *Subject) begin(cause string) {
	if d := s.deps.Draws; d != nil {
		s.gate.SeedRand(d.Source(cause))
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
	return s.gate.pass(d)
}

// settle ends a step: it waits until the bubble is quiescent and records what happened there.
func (s *Subject) settle() {
	b := s.gate
	if !b.touched {
		return
	}
	if !b.passed {
		b.Quiesce()
	}
	if k := s.deps.Kernel; b.Elapsed() != k.Elapsed() {
		k.Fail(&sim.DefectError{Why: fmt.Sprintf("the bubble is at %v, the run at %v: time passed without being advanced", b.Elapsed(), k.Elapsed())})
	}
	if p := panicked.Load(); p != nil {
		s.deps.Kernel.Fail(p)
		return
	}
	for _, i := range s.informers {
		i.collect()
	}
	for _, q := range s.queues {
		q.collect()
	}
	b.touched, b.passed = false, false
}

// Goroutines describes client-go's goroutines, for a run that does not end.
func (s *Subject) Goroutines() []string {
	if s.gate == nil {
		return nil
	}
	var all []string
	for _, g := range s.gate.Goroutines() {
		all = append(all, g.String())
	}
	return all
}

// shutdownTimeout limits the virtual time that client-go may take to stop. A streaming list that backs off sleeps on (I18).
const shutdownTimeout = 10 * time.Minute

// close ends everything in the bubble after the run. The time that passes there is not the run's.
func (s *Subject) close() {
	for _, i := range s.informers {
		i.shutDown()
	}
	for _, q := range s.queues {
		q.close()
	}
	s.gate.Quiesce()
	limit := time.Now().Add(shutdownTimeout)
	for _, i := range s.informers {
		if !s.gate.PassUntil(i.ended, time.Until(limit)) {
			return // the bubble reports the goroutines that are left
		}
	}
}
