package simtest

import (
	"encoding/json"
	"fmt"
	"runtime"

	"github.com/informersim/informersim/simtest/fault"
	"github.com/informersim/informersim/simtest/internal/wire"
)

// Cluster answers questions about the fake apiserver, for tests that inspect it. None is a step of the run, and between two calls of Env's methods its
// answer does not change. Pending and Keys are an exchange with the engine each. Any goroutine of the run may ask.
type Cluster struct{ e *Env }

// PendingFault is a fault that is yet to strike, or that lasts.
type PendingFault struct {
	// State is "scheduled" (its time is to come), "triggered" (it waits for its event), "armed" (it waits for requests or watches to hit), or
	// "active" (it lasts).
	State string
	// Left is how many hits, or events, are left; 0 if it is active.
	Left int
	// Fault is what was injected; of one that is active, what it has hit. Its kind is "crash" for CrashAfter.
	Fault fault.Fault
}

// Cluster returns what answers questions about the fake apiserver.
func (e *Env) Cluster() Cluster { return Cluster{e} }

// Revision returns the Store's revision: that of the newest commit, or of a restore.
func (c Cluster) Revision() int64 { return c.counts().Revision }

// Steps returns the number of the run's steps so far.
func (c Cluster) Steps() uint64 { return c.counts().Steps }

// Faults returns the number of faults that have struck so far, those that a mix drew and the crashes of processes included.
func (c Cluster) Faults() int { return c.counts().Faults }

// Pending returns the faults that are yet to strike, in the order in which they were injected, and then those that last.
func (c Cluster) Pending() []PendingFault {
	s := c.state()
	all := make([]PendingFault, len(s.Pending))
	for n, p := range s.Pending {
		all[n] = PendingFault{State: p.State, Left: p.Left}
		if err := json.Unmarshal(p.Fault, &all[n].Fault); err != nil {
			panic(fmt.Sprintf("simtest: env.Cluster: a fault %s: %v; this is a bug in informersim", p.Fault, err))
		}
	}
	return all
}

// Keys returns the keys, "namespace/name" or "name", of all objects of a resource, in the Store's order. The resource is named by its plural, and
// its group unless that is the core group: "pods", "deployments.apps". It panics if there is none of that name.
func (c Cluster) Keys(resource string) []string {
	m := c.ask(wire.New(wire.Query).Byte(wire.QueryKeys).Text(resource))
	keys := []string{}
	for n := m.Num(); n > 0 && m.Err() == nil; n-- {
		keys = append(keys, m.Text())
	}
	return keys
}

// counts returns the state, perhaps without the faults that are pending.
func (c Cluster) counts() wire.State {
	c.e.alive()
	w := c.e.w
	w.mu.Lock()
	s := w.counts
	w.mu.Unlock()
	if s != nil && w.turn.Load() {
		return *s
	}
	return c.state()
}

func (c Cluster) state() (s wire.State) {
	c.ask(wire.New(wire.Query).Byte(wire.QueryState)).JSON(&s)
	return s
}

func (c Cluster) ask(p *wire.Packet) *wire.Message {
	c.e.alive()
	m, err := c.e.w.query(p)
	if err != nil {
		if c.e.w.ctx.Err() != nil {
			runtime.Goexit()
		}
		panic("simtest: env.Cluster: " + err.Error())
	}
	return m
}
