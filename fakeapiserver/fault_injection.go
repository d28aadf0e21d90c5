package fakeapiserver

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/informersim/informersim/sim"
)

// halfOpenAfter is when a client with the default settings gives up a dead connection: ReadIdleTimeout and PingTimeout of
// HTTP/2, 30 s and 15 s.
const halfOpenAfter = 45 * time.Second

// armedFault is a fault that waits for what it can hit.
type armedFault struct {
	fault Fault
	index int
	left  int
}

// Inject makes a fault happen: to what is in flight, or, as far as that is less than Count, to what comes next. It fails if
// the kind or the target is unknown.
func (c *Cluster) Inject(f Fault) error {
	i, ok := faultIndex(f.Kind)
	if !ok {
		_, err := ParseFaultKind(string(f.Kind))
		return err
	}
	switch faultTable[i].stage {
	case onStore:
		return c.compactFault(f)
	case onReplica:
		r, err := c.replicaNamed(f.Target)
		if err != nil {
			return err
		}
		r.strike(f)
		return nil
	}
	if _, err := c.clientsNamed(f.Target); err != nil {
		return err
	}
	if f.Resource != "" && !c.knows(f.Resource) {
		return fmt.Errorf("fakeapiserver: fault %s: there is no resource %q", f.Kind, f.Resource)
	}
	left := f.Count
	if left == 0 {
		left = 1
	}
	for _, hit := range c.victims(i, &f) {
		if left == 0 {
			break
		}
		hit.strike(i, f)
		left--
	}
	if left > 0 {
		c.armed = append(c.armed, &armedFault{fault: f, index: i, left: left})
	}
	return nil
}

func (c *Cluster) knows(plural string) bool {
	for _, r := range c.store.resources {
		if r.Plural == plural {
			return true
		}
	}
	return false
}

// clientsNamed are the clients that a target means.
func (c *Cluster) clientsNamed(target string) ([]*Client, error) {
	if target == "" {
		return c.clients, nil
	}
	if cl := c.byName[strings.TrimPrefix(target, "conn/")]; cl != nil {
		return []*Client{cl}, nil
	}
	return nil, fmt.Errorf("fakeapiserver: there is no client %q to hit with a fault", target)
}

func (c *Cluster) replicaNamed(target string) (*Replica, error) {
	if target == "" {
		return c.replicas[0], nil
	}
	for _, r := range c.replicas {
		if r.name == target || strings.TrimPrefix(r.name, "replica/") == target {
			return r, nil
		}
	}
	return nil, fmt.Errorf("fakeapiserver: there is no replica %q: there are %d, from replica/0", target, len(c.replicas))
}

// victims are the requests and watches that a fault can hit now, in canonical order.
func (c *Cluster) victims(index int, f *Fault) []*call {
	clients, err := c.clientsNamed(f.Target)
	if err != nil {
		return nil
	}
	var hits []*call
	for _, cl := range clients {
		for _, k := range cl.calls {
			if k.possible()&(1<<index) != 0 && k.of(f) {
				hits = append(hits, k)
			}
		}
	}
	return hits
}

// of tells whether the request is one that the fault is about.
func (c *call) of(f *Fault) bool {
	if f.Target != "" && strings.TrimPrefix(f.Target, "conn/") != strings.TrimPrefix(c.client.name, "conn/") {
		return false
	}
	if f.Resource == "" {
		return true
	}
	r := c.client.cluster.store.Resource(c.res)
	return r != nil && r.Plural == f.Resource
}

// arm hits a new request, or a watch that has just opened, with a fault that waits for one.
func (c *Cluster) arm(k *call) {
	for n, a := range c.armed {
		if k.possible()&(1<<a.index) != 0 && k.of(&a.fault) {
			if a.left--; a.left == 0 {
				c.armed = append(c.armed[:n:n], c.armed[n+1:]...)
			}
			k.strike(a.index, a.fault)
			return
		}
	}
}

// strike has the fault hit the request or watch.
func (c *call) strike(index int, f Fault) {
	c.client.cluster.emitFault(f.Kind, c.client.name)
	if faultTable[index].stage == onStream {
		c.watch.strike(f)
	} else {
		c.fault = &f
	}
	c.client.offerFaults()
}

func (c *Cluster) emitFault(kind FaultKind, target string) {
	r := c.kernel.Record(c.id, KindFault)
	r.Key, r.Detail = target, string(kind)
	c.kernel.Emit(r)
}

// strike has the fault hit an open watch.
func (s *stream) strike(f Fault) {
	why := "fault " + string(f.Kind)
	switch f.Kind {
	case WatchClose:
		s.closeWith(closing{why: why})
	case WatchEOF:
		s.closeWith(closing{err: io.ErrUnexpectedEOF, why: why})
	case WatchReset:
		s.closeWith(closing{err: errReset, why: why})
	case Watch410:
		s.closeWith(closing{status: errorFrame(http.StatusGone, "The resourceVersion for the provided watch is too old."), why: why})
	case Watch500:
		s.closeWith(closing{status: errorFrame(http.StatusInternalServerError, "etcdserver: no leader"), why: why})
	case WatchStall:
		s.silent = true
		s.block(f.Duration)
	case WatchDelay:
		s.block(f.Duration)
	case WatchHalfOpen:
		s.silent, s.dead = true, true
		s.block(0)
		s.call.kernel().Clock().AfterFunc(halfOpenAfter, func() {
			s.closeWith(closing{err: ErrConnectionLost, why: why})
		})
	}
}

// block holds the watch's frames for a while, 0 for until healed.
func (s *stream) block(d time.Duration) {
	s.blocked++
	s.call.withdraw()
	if d > 0 {
		s.call.kernel().Clock().AfterFunc(d, s.unblock)
	}
}

func (s *stream) unblock() {
	if s.blocked == 0 {
		return
	}
	if s.blocked--; s.blocked == 0 {
		s.heal()
	}
}

// heal lets frames flow again. A server that comes to itself after the deadline ends the watch.
func (s *stream) heal() {
	s.blocked, s.holds = 0, 0
	if s.silent {
		s.silent = false
		if s.call.state == stateOpen && s.call.kernel().Elapsed() >= s.deadline {
			s.closeWith(closing{why: "timeout"})
		} else if s.call.state == stateOpen && s.closing == nil {
			s.timer.Stop()
			s.setTimer()
		}
	}
	s.offer()
	s.call.client.offerFaults()
}

// faultBefore applies a fault that hits the request before it is served, and tells whether that was the end of it.
func (c *call) faultBefore() bool {
	if c.fault == nil {
		return false
	}
	i, _ := faultIndex(c.fault.Kind)
	spec := &faultTable[i]
	switch {
	case spec.stage == onListAnswer || spec.stage == onWriteAnswer:
		return false
	case spec.name == ListStale:
		c.replica = c.client.cluster.stalest(c)
		return false
	}
	c.answer(c.fault.answer(spec, c))
	return true
}

// loseAnswer loses the answer, if that is the request's fault.
func (c *call) loseAnswer() {
	if c.fault == nil {
		return
	}
	i, _ := faultIndex(c.fault.Kind)
	spec := &faultTable[i]
	if spec.stage == onListAnswer || spec.stage == onWriteAnswer {
		c.page, c.obj, c.err = nil, nil, c.fault.answer(spec, c)
	}
}

// stalest is the ready replica whose watch cache of the list's resource is the furthest behind.
func (c *Cluster) stalest(k *call) *Replica {
	best := k.replica
	if best == nil {
		best = c.replicas[0]
	}
	if int(k.res) >= len(best.caches) {
		return best
	}
	for _, r := range c.replicas {
		if a, b := r.caches[k.res], best.caches[k.res]; a.ready && (!b.ready || a.rev < b.rev) {
			best = r
		}
	}
	return best
}

// mayBeStale tells whether some replica may answer the list with a state that is not the newest.
func (c *call) mayBeStale() bool {
	o := &c.options
	if o.Continue != "" || o.ResourceVersion == "" || c.client.cluster.store.Resource(c.res) == nil {
		return false
	}
	rev, err := parseRevision(o.ResourceVersion)
	if err != nil {
		return false
	}
	cache := c.client.cluster.stalest(c).caches[c.res]
	return cache.ready && rev <= cache.rev && cache.rev < c.client.cluster.store.revision
}

// possible is the set of faults that can hit the request or watch now.
func (c *call) possible() faultMask {
	switch {
	case c.state == stateOpen:
		if c.watch.closing != nil {
			return 0
		}
		m := stageMask[onStream]
		if c.watch.blocked > 0 {
			m &^= blockingMask
		}
		return m
	case c.fault != nil || c.state == stateFinished:
		return 0
	}
	early := c.state == stateSubmitted
	switch c.verb {
	case verbList:
		if !early {
			return stageMask[onListAnswer]
		}
		m := stageMask[onList] | stageMask[onListAnswer]
		if o := &c.options; o.Continue == "" && (o.ResourceVersion == "" || o.ResourceVersion == "0") {
			m &^= maskOf(List410)
		}
		if m&staleMask != 0 && !c.mayBeStale() {
			m &^= staleMask
		}
		return m
	case verbWatch:
		if early {
			return stageMask[onOpen]
		}
	case verbWrite:
		if early {
			return stageMask[onWrite] | stageMask[onWriteAnswer]
		}
		return stageMask[onWriteAnswer]
	}
	return 0
}

var (
	stageMask    = buildStageMasks()
	blockingMask = maskOf(WatchStall) | maskOf(WatchHalfOpen) | maskOf(WatchDelay)
	staleMask    = maskOf(ListStale)
)

func buildStageMasks() (m [onReplica + 1]faultMask) {
	for i := range faultTable {
		m[faultTable[i].stage] |= 1 << i
	}
	return m
}

func maskOf(k FaultKind) faultMask {
	i, _ := faultIndex(k)
	return 1 << i
}

// strike has a fault hit the replica.
func (r *Replica) strike(f Fault) {
	r.cluster.emitFault(f.Kind, r.name)
	if f.Kind == ReplicaRestart {
		r.Restart()
		return
	}
	r.Hold()
	r.lagging++
	if f.Duration > 0 {
		r.cluster.kernel.Clock().AfterFunc(f.Duration, func() {
			if r.lagging > 0 {
				r.lagging--
				r.Release()
				r.offerFaults()
			}
		})
	}
	r.offerFaults()
}

func (c *Cluster) compactFault(f Fault) error {
	rev := f.Revision
	if rev <= 0 {
		rev = c.store.revision
	}
	if rev > c.store.compacted {
		c.emitFault(f.Kind, c.Name())
	}
	return c.Compact(rev)
}

// StopFaults ends the faults: none is offered any more, none waits, and what stalls, lags or is held goes on.
func (c *Cluster) StopFaults() {
	c.armed = nil
	c.offerNoFaults()
	for _, r := range c.replicas {
		r.lagging = 0
		for r.held > 0 {
			r.Release()
		}
	}
	for _, cl := range c.clients {
		for _, k := range cl.calls {
			if k.state != stateOpen {
				k.fault = nil
			} else if s := k.watch; s.blocked > 0 && (!s.dead || s.closing != nil) {
				s.heal() // a dead connection is not healed, but that it is dead gets through
			}
		}
	}
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
	f := Fault{Kind: spec.name, Target: target, Count: 1}
	switch spec.name {
	case WatchStall:
		f.Duration = time.Duration(c.param(f.Kind, 10, 600)) * time.Second
	case WatchDelay:
		f.Duration = time.Duration(c.param(f.Kind, 1, 5000)) * time.Millisecond
	case ReplicaLag:
		f.Duration = time.Duration(c.param(f.Kind, 100, 30_000)) * time.Millisecond
	case List429, WatchOpen429, Write429:
		f.RetryAfter = time.Duration(c.param(f.Kind, 1, 5)) * time.Second
	case CompactFault:
		f.Revision = c.param(f.Kind, c.store.compacted+1, c.store.revision)
	}
	switch spec.stage {
	case onStore:
		if err := c.compactFault(f); err != nil {
			c.kernel.Fail(err)
		}
	case onReplica:
		if r, err := c.replicaNamed(target); err == nil {
			r.strike(f)
			r.offerFaults()
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
