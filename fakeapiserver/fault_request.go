package fakeapiserver

import "errors"

// strike has the fault hit the request or watch.
func (c *call) strike(index int, f Fault) {
	c.client.cluster.emitFault(f.Kind, c.client.name)
	switch stage := faultTable[index].stage; {
	case stage == onStream:
		c.watch.strike(f)
	case stage == onFrame:
		c.watch.mangling = &mangling{fault: f}
	default:
		c.fault = &f
		if c.state == stateAnswered && c.slow() {
			c.withdraw()
			c.delay()
		}
	}
	c.client.offerFaults()
}

// slow tells whether the request's fault is that its answer takes its time.
func (c *call) slow() bool {
	return c.fault != nil && maskOf(c.fault.Kind)&slowMask != 0
}

// delay lets the answer reach the client after the fault's duration.
func (c *call) delay() {
	f := c.fault
	c.client.cluster.until(f.Duration, func() {
		if c.fault == f {
			c.forgive()
		}
	})
}

// forgive ends the fault of a request.
func (c *call) forgive() {
	held := c.slow()
	c.fault = nil
	if held && c.state == stateAnswered {
		c.offer(KindRespond)
	}
}

// faultBefore applies a fault that hits the request before it is served, and tells whether that was the end of it.
func (c *call) faultBefore() bool {
	if c.fault == nil {
		return false
	}
	i, _ := faultIndex(c.fault.Kind)
	spec := &faultTable[i]
	switch {
	case 1<<i&answerMask != 0:
		return false
	case spec.name == ListStale || spec.name == WatchOpenStale:
		c.replica = c.client.cluster.stalest(c)
		return false
	case spec.name == WatchOpenTooLarge:
		c.refuseTooLarge()
		return true
	}
	c.answer(c.fault.answer(spec, c))
	return true
}

// refuseTooLarge opens the watch with an ERROR as its only event (S16).
func (c *call) refuseTooLarge() {
	cache := c.replica.caches[c.res]
	rev, err := parseRevision(c.options.ResourceVersion)
	if err != nil || rev == 0 {
		rev = c.client.cluster.store.revision + 1
	}
	s := &stream{call: c, cache: cache, filter: filter{resource: c.client.cluster.store.resources[c.res]}}
	s.refuse(errTooLarge(rev, min(rev-1, cache.rev)))
}

// loseAnswer loses the answer, if that is the request's fault.
func (c *call) loseAnswer() {
	if c.fault == nil || c.slow() {
		return
	}
	i, _ := faultIndex(c.fault.Kind)
	if 1<<i&answerMask != 0 {
		if c.watch != nil {
			c.watch.detach()
		}
		c.page, c.obj, c.watch, c.err = nil, nil, nil, c.fault.answer(&faultTable[i], c)
	}
}

// stalest is the ready replica whose watch cache of the request's resource is the furthest behind.
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
		return c.watch.possible()
	case c.fault != nil || c.state == stateFinished:
		return 0
	}
	before, after := onList, onListAnswer
	switch c.verb {
	case verbWatch:
		before, after = onOpen, onOpenAnswer
	case verbWrite:
		before, after = onWrite, onWriteAnswer
	}
	if c.state != stateSubmitted && !c.admitting {
		return stageMask[after]
	}
	m := stageMask[before] | stageMask[after]
	switch c.verb {
	case verbList:
		o := &c.options
		fromAny := o.ResourceVersion == "" || o.ResourceVersion == "0"
		if fromAny {
			m &^= tooLargeMask
			if o.Continue == "" {
				m &^= goneMask
			}
		}
		if !c.mayBeStale() {
			m &^= staleMask
		}
	case verbWatch:
		if send := c.options.SendInitialEvents; send == nil || !*send || c.client.cluster.store.Resource(c.res) == nil {
			m &^= openTooLargeMask
		}
	}
	return m
}

// possible is the set of faults that can hit the watch now.
func (s *stream) possible() faultMask {
	if s.closing != nil {
		return 0
	}
	m := stageMask[onStream]
	if s.blocked > 0 {
		m &^= blockingMask
	}
	if s.mangling == nil {
		m |= stageMask[onFrame]
		if !s.bookmarks {
			m &^= bookmarkMask
		}
		if !s.initialEnd {
			m &^= noEndMask
		}
	}
	return m
}

var (
	blockingMask     = maskOf(WatchStall, WatchHalfOpen, WatchDelay)
	staleMask        = maskOf(ListStale)
	goneMask         = maskOf(List410)
	tooLargeMask     = maskOf(ListTooLarge)
	openTooLargeMask = maskOf(WatchOpenTooLarge)
	bookmarkMask     = maskOf(WatchBookmarkLost, WatchBookmarkLate, WatchNoEndBookmark)
	noEndMask        = maskOf(WatchNoEndBookmark)
	slowMask         = maskOf(ListSlow, WatchOpenSlow, WriteSlow)
	answerMask       = stageMask[onListAnswer] | stageMask[onOpenAnswer] | stageMask[onWriteAnswer]
)

// served runs serve as the replica that has the request: with its clock, and not without a leader.
func (c *call) served(serve func() error) error {
	cluster := c.client.cluster
	if cluster.leaderless > 0 {
		return errNoLeader()
	}
	if cluster.serving != nil {
		return errors.New("fakeapiserver: a request is served within another")
	}
	cluster.serving = c.replica
	defer func() { cluster.serving = nil }()
	return serve()
}
