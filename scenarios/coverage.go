package scenarios

import (
	"strings"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// Cover counts what the faults of a run meet. It is a sim.Observer, for Options.Observe.
type Cover struct {
	w      *World
	states map[sim.ActorID]string // of connections
	order  []sim.ActorID
	last   string // fault
	counts reports.Coverage
}

// NewCover returns an observer for a run that begins.
func NewCover(w *World) *Cover { return &Cover{w: w, states: map[sim.ActorID]string{}} }

// Coverage returns what was counted.
func (c *Cover) Coverage() *reports.Coverage { return &c.counts }

// Record implements sim.Observer.
func (c *Cover) Record(r *sim.Record) {
	switch r.Kind {
	case fakeapiserver.KindRequest:
		c.request(r)
	case fakeapiserver.KindResponse:
		c.response(r)
	case fakeapiserver.KindFrame:
		if c.states[r.Actor] == reports.StateStreams && r.Detail == "BOOKMARK" {
			c.set(r.Actor, reports.StateWatches)
		}
	case fakeapiserver.KindWatchClosed:
		c.set(r.Actor, reports.StateUnwatched)
	case subjects.KindBackoff:
		if id, ok := c.w.kernel.ActorByName("conn/" + c.w.kernel.ActorName(r.Actor)); ok {
			c.set(id, reports.StateBacksOff)
		}
	case fakeapiserver.KindFault:
		c.fault(r)
	}
}

// StepEnd implements sim.Observer.
func (*Cover) StepEnd(*sim.StepInfo) {}

func (c *Cover) set(id sim.ActorID, state string) {
	if _, known := c.states[id]; !known {
		c.order = append(c.order, id)
	}
	c.states[id] = state
}

func (c *Cover) request(r *sim.Record) {
	switch {
	case strings.HasPrefix(r.Detail, "list"):
		c.set(r.Actor, reports.StateLists)
	case !strings.HasPrefix(r.Detail, "watch"):
		if c.states[r.Actor] == "" {
			c.set(r.Actor, reports.StateWrites)
		}
	case strings.Contains(r.Detail, "sendInitialEvents"):
		c.set(r.Actor, reports.StateStreams)
	default:
		c.set(r.Actor, reports.StateOpens)
	}
}

func (c *Cover) response(r *sim.Record) {
	state, ok := c.states[r.Actor], r.Detail == "ok" || strings.HasPrefix(r.Detail, "2")
	switch {
	case state == reports.StateWrites:
	case !ok:
		c.set(r.Actor, reports.StateRefused)
	case state == reports.StateOpens:
		c.set(r.Actor, reports.StateWatches)
	}
}

func (c *Cover) fault(r *sim.Record) {
	if c.last != "" {
		c.counts.Pair(c.last, r.Detail)
	}
	c.last = r.Detail
	if id, ok := c.w.kernel.ActorByName(r.Key); ok && strings.HasPrefix(r.Key, "conn/") {
		state := c.states[id]
		if state == "" {
			state = reports.StateIdle
		}
		c.counts.Meet(r.Detail, state)
		return
	}
	met := false
	for _, id := range c.order {
		if state := c.states[id]; state != reports.StateWrites {
			c.counts.Meet(r.Detail, state)
			met = true
		}
	}
	if !met {
		c.counts.Meet(r.Detail, reports.StateIdle)
	}
}
