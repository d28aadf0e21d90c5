package clientgo

import (
	"errors"
	"time"

	"github.com/informersim/informersim/bubble"
	"github.com/informersim/informersim/subjects"
)

// Kind is the kind of subject "client-go".
var Kind = subjects.Kind{Name: "client-go", Engine: bubble.Engine, New: New, Host: Host}

// Subject is a subject of Kind.
type Subject struct {
	env       subjects.Env
	gate      *gate // nil outside of one
	informers []*actor
	queues    []*workQueue
	stamp     uint64 // what is offered because time has passed is as old as this
}

// New returns client-go in a world, which must be inside a bubble: see Host.
func New(env subjects.Env) subjects.Subject {
	s := &Subject{env: env}
	b, err := bubble.Enter(env.Kernel)
	if err != nil {
		return s // AddInformer says so
	}
	b.AtEnd(s.close)
	s.gate = &gate{Bubble: b}
	env.Kernel.Clock().Share(s.pass)
	env.Kernel.OnApplied(s.settle)
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

// begin seeds the source that client-go draws from anew, in a transcript, with what belongs to who makes something happen now.
func (s *Subject) begin(who string) {
	if d := s.env.Draws; d != nil {
		s.gate.SeedRand(d.Source(who))
	}
}

// pass lets time pass in the bubble, no further than to the next resync, which nothing in the bubble would tell of.
func (s *Subject) pass(d time.Duration) time.Duration {
	now := s.env.Kernel.Elapsed()
	for _, i := range s.informers {
		if in, ok := i.resyncIn(now); ok {
			d = min(d, in)
		}
	}
	s.stamp = s.env.Kernel.NextStamp()
	s.begin(subjects.ByClock)
	return s.gate.pass(d)
}

// settle ends a step: it waits until the bubble is quiescent and notes what happened there.
func (s *Subject) settle() {
	b := s.gate
	if !b.touched {
		return
	}
	if !b.passed {
		b.Quiesce()
	}
	b.CheckTime()
	for _, i := range s.informers {
		i.collect()
	}
	for _, q := range s.queues {
		q.collect()
	}
	b.touched, b.passed = false, false
}

// lastWait is how long client-go is waited for when it is stopped. A streaming list that backs off sleeps on (I18).
const lastWait = 10 * time.Minute

// close ends everything in the bubble, when the run is over. Time passes there that the run does not have.
func (s *Subject) close() {
	for _, i := range s.informers {
		i.shutDown()
	}
	for _, q := range s.queues {
		q.close()
	}
	s.gate.Quiesce()
	limit := time.Now().Add(lastWait)
	for _, i := range s.informers {
		if !s.gate.PassUntil(i.ended, time.Until(limit)) {
			return // who is left will be named
		}
	}
}
