package world

import (
	"strings"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/world/wire"
)

// leaseWriters observes who writes Leases. The holder of a Lease is the only one who renews it, and what it calls itself may be a name that
// says nothing: the processes of a test share one host name.
type leaseWriters struct {
	w    *world
	step []string          // the Leases that the current step has committed, as in records
	last map[string]string // the client that wrote each of them last
}

// Record implements sim.Observer.
func (l *leaseWriters) Record(r *sim.Record) {
	if r.Kind == fakeapiserver.KindCommit && strings.HasPrefix(r.Key, "leases ") {
		l.step = append(l.step, r.Key)
	}
}

// StepEnd implements sim.Observer.
func (l *leaseWriters) StepEnd(s *sim.StepInfo) {
	for _, lease := range l.step {
		if s.Choice.Kind == fakeapiserver.KindAdmit {
			l.last[lease] = strings.TrimPrefix(l.w.kernel.ActorName(s.Choice.Actor), "conn/")
		}
	}
	l.step = l.step[:0]
}

// answer answers with the client that wrote a Lease last.
func (l *leaseWriters) answer(key string, p *wire.Packet) { p.Error(nil).Text(l.last["leases "+key]) }
