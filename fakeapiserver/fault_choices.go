package fakeapiserver

import (
	"strings"
	"time"

	"github.com/informersim/informersim/sim"
)

// faultSet is the faults that one actor offers to the kernel at the moment: at most one choice for each kind.
type faultSet struct {
	offered faultMask
	choices []sim.Choice // by kind; empty while nothing was ever offered
}

// set offers and withdraws until exactly the wanted faults are offered.
func (s *faultSet) set(k *sim.Kernel, id sim.ActorID, want faultMask) {
	if s.offered == want {
		return
	}
	if s.choices == nil {
		s.choices = make([]sim.Choice, numFaults)
	}
	for i := range faultTable {
		bit := faultMask(1) << i
		switch {
		case want&bit != 0 && s.offered&bit == 0:
			s.choices[i] = k.Offer(id, faultTable[i].kind, 0)
		case want&bit == 0 && s.offered&bit != 0:
			k.Withdraw(s.choices[i])
		}
	}
	s.offered = want
}

// applied notes that a choice was taken.
func (s *faultSet) applied(c sim.Choice) {
	if i, ok := faultOfKind(c.Kind); ok {
		s.offered &^= 1 << i
	}
}

// EnableFaults has the actors offer these kinds as choices, in addition to those enabled before. Unknown kinds are an
// error, and nothing is enabled then.
func (c *Cluster) EnableFaults(kinds ...FaultKind) error {
	for _, k := range kinds {
		if _, err := ParseFaultKind(string(k)); err != nil {
			return err
		}
	}
	c.enable(kinds)
	return nil
}

func (c *Cluster) enable(kinds []FaultKind) {
	for _, k := range kinds {
		if i, ok := faultIndex(k); ok {
			c.enabled |= 1 << i
		}
	}
	c.offerFaults()
}

func (c *Cluster) offerFaults() {
	c.offerStoreFaults()
	for _, r := range c.replicas {
		r.offerFaults()
	}
	for _, cl := range c.clients {
		cl.offerFaults()
	}
}

func (c *Cluster) offerStoreFaults() {
	want := c.enabled & stageMask[onStore]
	if c.store.revision <= c.store.compacted {
		want &^= maskOf(CompactFault, RestoreFault, RestoreBumped)
	}
	if c.leaderless > 0 {
		want &^= maskOf(LeaderLoss)
	}
	c.faults.set(c.kernel, c.id, want)
}

func (r *Replica) offerFaults() {
	want := r.cluster.enabled & stageMask[onReplica]
	if r.held > 0 {
		want &^= maskOf(ReplicaLag)
	}
	r.faults.set(r.cluster.kernel, r.id, want)
}

// offerFaults offers what can go wrong with the client's requests and watches as they are now.
func (cl *Client) offerFaults() {
	enabled := cl.cluster.enabled &^ (stageMask[onStore] | stageMask[onReplica])
	if enabled == 0 && cl.faults.offered == 0 {
		return
	}
	want := faultMask(0)
	for _, c := range cl.calls {
		if want |= c.possible(); want&enabled == enabled {
			break
		}
	}
	cl.faults.set(cl.cluster.kernel, cl.id, want&enabled)
}

// offerNoFaults takes back what is offered; what has happened goes on.
func (c *Cluster) offerNoFaults() {
	c.enabled = 0
	c.offerFaults()
}

// param draws a fault's parameter, between low and high inclusive.
func (c *Cluster) param(kind FaultKind, low, high int64) int64 {
	if high <= low {
		return low
	}
	return low + int64(c.kernel.Stream("fault/"+string(kind)+"/param").Uint64()%uint64(high-low+1))
}

func (c *Cluster) paramDuration(kind FaultKind, low, high time.Duration) time.Duration {
	return time.Duration(c.param(kind, int64(low/time.Millisecond), int64(high/time.Millisecond))) * time.Millisecond
}

// drawn is a fault of the kind with its parameters drawn.
func (c *Cluster) drawn(kind FaultKind, target string) Fault {
	f := Fault{Kind: kind, Target: target, Count: 1}
	switch kind {
	case WatchStall:
		f.Duration = time.Duration(c.param(kind, 10, 600)) * time.Second
	case WatchDelay, ListSlow, WatchOpenSlow, WriteSlow:
		f.Duration = c.paramDuration(kind, time.Millisecond, 5*time.Second)
	case WatchBookmarkLate:
		f.Duration = c.paramDuration(kind, 100*time.Millisecond, 30*time.Second)
	case ReplicaLag:
		f.Duration = c.paramDuration(kind, 100*time.Millisecond, 30*time.Second)
	case LeaderLoss:
		f.Duration = c.paramDuration(kind, time.Second, 30*time.Second)
	case ReplicaSkew:
		f.Duration = c.paramDuration(kind, 0, 10*time.Minute) - 5*time.Minute
	case List429, WatchOpen429, Write429:
		f.RetryAfter = time.Duration(c.param(kind, 1, 5)) * time.Second
	case CompactFault:
		f.Revision = c.param(kind, c.store.compacted+1, c.store.revision)
	case RestoreFault, RestoreBumped:
		f.Revision = c.param(kind, max(c.store.compacted, 1), c.store.revision-1)
	}
	return f
}

// drawFault applies a fault that was chosen: its victim and its parameters are drawn.
func (c *Cluster) drawFault(kind sim.Kind, target string) {
	i, ok := faultOfKind(kind)
	if !ok {
		return
	}
	c.struck++
	if c.options.MaxFaults > 0 && c.struck >= c.options.MaxFaults {
		defer c.offerNoFaults()
	}
	spec := &faultTable[i]
	f := c.drawn(spec.name, target)
	switch spec.stage {
	case onStore:
		if err := c.strike(f); err != nil {
			c.kernel.Fail(err)
		}
		c.offerStoreFaults()
	case onReplica:
		if r, err := c.replicaNamed(target); err == nil {
			r.strike(f)
		}
	default:
		if hits := c.victims(i, &f); len(hits) > 0 {
			hits[c.param(f.Kind, 0, int64(len(hits)-1))].strike(i, f)
		}
		if cl := c.byName[strings.TrimPrefix(target, "conn/")]; cl != nil {
			cl.offerFaults()
		}
	}
}
