package fakeapiserver

import (
	"slices"
	"strings"
	"time"

	"k8s.io/utils/clock"

	"github.com/informersim/informersim/fakeapiserver/fault"
)

// The states of ordered faults.
const (
	FaultScheduled = "scheduled" // its time is to come
	FaultTriggered = "triggered" // it waits for its event
	FaultArmed     = "armed"     // it waits for requests or watches to hit
	FaultActive    = "active"    // it lasts
)

// OrderedFault is a fault that is yet to happen, or that lasts.
type OrderedFault struct {
	ID    int    // 0 if it is active
	State string // FaultScheduled and so on
	Left  int    // how many hits, or events, are left
	Fault fault.Fault
}

// scheduledFault is a fault whose time is to come.
type scheduledFault struct {
	id    int
	fault fault.Fault
	timer clock.Timer
}

// nextOrder is the id of a fault that is ordered now.
func (c *Cluster) nextOrder() int {
	c.lastOrder++
	return c.lastOrder
}

// schedule injects a fault after a while.
func (c *Cluster) schedule(id int, f fault.Fault, wait time.Duration) {
	s := &scheduledFault{id: id, fault: f}
	s.timer = c.kernel.Clock().AfterFunc(wait, func() {
		c.scheduled = slices.DeleteFunc(c.scheduled, func(other *scheduledFault) bool { return other == s })
		c.injectLater(id, f)
	})
	c.scheduled = append(c.scheduled, s)
}

// Faults are the faults that are yet to happen, in the order in which they were ordered, and then those that last.
func (c *Cluster) Faults() []OrderedFault {
	var all []OrderedFault
	for _, s := range c.scheduled {
		all = append(all, OrderedFault{ID: s.id, State: FaultScheduled, Left: max(s.fault.Count, 1), Fault: s.fault})
	}
	for _, t := range c.triggers {
		all = append(all, OrderedFault{ID: t.id, State: FaultTriggered, Left: t.left, Fault: t.fault})
	}
	for _, a := range c.armed {
		if a.fault.Until == 0 || c.kernel.Elapsed() < a.fault.Until {
			all = append(all, OrderedFault{ID: a.id, State: FaultArmed, Left: a.left, Fault: a.fault})
		}
	}
	slices.SortFunc(all, func(a, b OrderedFault) int { return a.ID - b.ID })
	return append(all, c.activeFaults()...)
}

// activeFaults are the faults that last, with what they have hit.
func (c *Cluster) activeFaults() []OrderedFault {
	var all []OrderedFault
	add := func(f fault.Fault) { all = append(all, OrderedFault{State: FaultActive, Fault: f}) }
	if c.leaderless > 0 {
		add(fault.Fault{Kind: fault.LeaderLoss})
	}
	for _, r := range c.replicas {
		if r.lagging > 0 {
			add(fault.Fault{Kind: fault.ReplicaLag, Target: r.name})
		}
		if r.skew != 0 {
			add(fault.Fault{Kind: fault.ReplicaSkew, Target: r.name, Duration: r.skew})
		}
	}
	for _, cl := range c.clients {
		for _, k := range cl.calls {
			if f, ok := k.activeFault(); ok {
				f.Target = strings.TrimPrefix(cl.name, "conn/")
				if res := c.store.Resource(k.res); res != nil {
					f.Resource = res.Plural
				}
				add(f)
			}
		}
	}
	return all
}

// activeFault is the fault that the request or watch suffers from.
func (c *call) activeFault() (fault.Fault, bool) {
	s := c.watch
	switch {
	case c.state != stateOpen && c.fault != nil:
		return fault.Fault{Kind: c.fault.Kind}, true
	case c.state != stateOpen:
		return fault.Fault{}, false
	case s.frameFault != nil:
		return fault.Fault{Kind: s.frameFault.fault.Kind}, true
	case s.dead && s.closing == nil:
		return fault.Fault{Kind: fault.WatchHalfOpen}, true
	case s.silent:
		return fault.Fault{Kind: fault.WatchStall}, true
	case s.blocked > s.holds:
		return fault.Fault{Kind: fault.WatchDelay}, true
	case len(s.lateBookmarks) > 0:
		return fault.Fault{Kind: fault.WatchBookmarkLate}, true
	}
	return fault.Fault{}, false
}

// WithdrawFault takes back a fault that is yet to happen, or as much of it as is left. It tells whether there was one.
func (c *Cluster) WithdrawFault(id int) bool {
	before := len(c.scheduled) + len(c.triggers) + len(c.armed)
	c.scheduled = slices.DeleteFunc(c.scheduled, func(s *scheduledFault) bool {
		if s.id == id {
			s.timer.Stop()
		}
		return s.id == id
	})
	c.triggers = slices.DeleteFunc(c.triggers, func(t *armedTrigger) bool { return t.id == id })
	c.armed = slices.DeleteFunc(c.armed, func(a *armedFault) bool { return a.id == id })
	return len(c.scheduled)+len(c.triggers)+len(c.armed) < before
}

// WithdrawFaults takes back all faults that are yet to happen, and ends those that last. Those that were enabled as choices
// stay enabled.
func (c *Cluster) WithdrawFaults() {
	c.endFaults()
	c.offerFaults()
}
