package overlay

// interleaving are the edits for a bubble whose goroutines the seed interleaves: at points where they synchronize, some give way, and which
// of those that can run goes on is drawn. Where they are not, a goroutine runs until it waits, or has
// synchronized very often without that, and there is one order between two steps.
//
// What a process does only once must not decide anything, or the first run of a seed in a process would not be like the second. So nothing
// gives way in a sync.Once, or at what is a package variable, or at a channel from outside of the bubble.
var interleaving = []edit{
	{file: "runtime/synctest.go", old: "func (bubble *synctestBubble) raceaddr() unsafe.Pointer {\n", new: `// bubbleInterleave says whether the goroutines of seeded bubbles made from now on are interleaved.
//
//go:linkname bubbleInterleave
var bubbleInterleave bool

// decide returns the next number for the interleaving. It is of no stream, so that those draw the same with and without.
func (b *synctestBubble) decide() uint64 {
	b.decided++
	return b.at(1<<63 | b.decided)
}

// drawRate draws how often goroutines give way in an epoch. Rare ones find what needs a long time in one place; frequent ones, what needs
// several changes.
func (b *synctestBubble) drawRate() {
	b.decided = 0
	b.rate = 1 << 31 >> (b.at(1<<63) % 3 * 2) // one half, one eighth or one in 32
}

// bubblePatience is how often a goroutine synchronizes, and does not wait, before others have their turns.
const bubblePatience = 1 << 16

// bubbleYield lets other goroutines of the bubble run, if the seed says so, or if the caller may be one that waits for what another one is about to do by
// asking again and again. Real time does not end that: whoever has used it up goes on before the others. The runtime's own work is never interrupted,
// nor is the bubble's first goroutine, in which package testing waits for the run.
func bubbleYield(gp *g) {
	b := gp.bubble
	if b == nil || !b.seeded || gp != gp.m.curg || gp == b.main || gp == b.root || gp.calm != 0 || gomaxprocs != 1 || !canPreemptM(gp.m) {
		return
	}
	if !b.interleaved {
		if gp.asked++; gp.asked >= bubblePatience {
			gp.asked = 0
			goyield()
		}
		return
	}
	n := b.decide()
	if uint32(n) >= b.rate || runqempty(gp.m.p.ptr()) {
		return
	}
	gp.late = n>>62 == 0
	goyield()
}

// bubblePick puts first in the queue which goroutine of a bubble is next. One that came late waits for all others. Goroutines from outside of
// the bubble keep their places, and no draw depends on them, because when they run is for real time to say. The queue is only this
// processor's, since there is no other.
func bubblePick(pp *p) {
	first := &pp.runnext
	head, tail := pp.runqhead, pp.runqtail
	if *first == 0 {
		if head == tail {
			return
		}
		first = &pp.runq[head%uint32(len(pp.runq))]
		head++
	}
	b := first.ptr().bubble
	if b == nil || !b.interleaved {
		return
	}
	if gp := first.ptr(); gp.resumes {
		gp.resumes = false // real time has stopped it, and decides nothing
		return
	}
	counts := [2]uint64{} // in time, late
	count := func(gp *g) {
		if gp.bubble == b {
			counts[bool2int(gp.late)]++
		}
	}
	count(first.ptr())
	for i := head; i != tail; i++ {
		count(pp.runq[i%uint32(len(pp.runq))].ptr())
	}
	late := counts[0] == 0
	skip := uint64(0)
	if n := counts[bool2int(late)]; n > 1 {
		skip = b.decide() % n
	}
	at := first
	for i := head; ; i++ {
		if gp := at.ptr(); gp.bubble == b && gp.late == late {
			if skip == 0 {
				gp.late = false
				*first, *at = *at, *first
				return
			}
			skip--
		}
		at = &pp.runq[i%uint32(len(pp.runq))]
	}
}

// bubbleHold has a fourth of the goroutines that others than its caller start in its bubble not begin, until it is called with false. The next Wait
// ends only that more are held. They look as if they waited for a channel, so the bubble is quiescent without them.
//
//go:linkname bubbleHold
var bubbleHold = holdGoroutines

func holdGoroutines(on bool) {
	b := getg().bubble
	if b == nil || !b.interleaved {
		return
	}
	b.holding, b.holder = on, getg()
	for !on && !b.held.empty() {
		goready(b.held.pop(), 0)
	}
}

// bubbleHolds reports whether the goroutine that gp starts is to be held. Those of the goroutine that asked for it are not.
func bubbleHolds(gp *g) bool {
	b := gp.bubble
	return b != nil && b.holding && gp != b.holder && gp.calm == 0 && gomaxprocs == 1 && b.decide()%4 == 0
}

// sync_interleave is called where package sync synchronizes with what is at p.
//
//go:linkname sync_interleave sync.runtime_interleave
func sync_interleave(p unsafe.Pointer) {
	if gp := getg(); gp.bubble != nil && gp.bubble.seeded && spanOfHeap(uintptr(p)) != nil {
		bubbleYield(gp)
	}
}

// sync_calm keeps the calling goroutine from giving way until it is called with -1.
//
//go:linkname sync_calm sync.runtime_calm
func sync_calm(delta int32) { getg().calm += delta }

func (bubble *synctestBubble) raceaddr() unsafe.Pointer {
`},
	{file: "runtime/runtime2.go", old: "	coroarg *coro // argument during coroutine transfers\n", new: `	calm int32 // it does not give way
	late bool  // it gave way, and lets all others run first
	resumes bool // it is the next of its bubble
	asked uint32 // how often it has synchronized since it waited, in a bubble that is not interleaved

	coroarg *coro // argument during coroutine transfers
`},
	{file: "runtime/proc.go", old: "	newg.startpc = fn.fn\n", new: "	newg.startpc = fn.fn\n	newg.asked = 0 // it was another goroutine's\n"},
	{file: "runtime/proc.go", old: "	mp.waitlock = lock\n	mp.waitunlockf = unlockf\n", new: "	mp.waitlock = lock\n	mp.waitunlockf = unlockf\n	gp.asked = 0\n"},
	{file: "runtime/proc.go", old: "	// If there's a runnext, it's the next G to run.\n", new: `	if bubbleInterleave && gomaxprocs == 1 {
		bubblePick(pp)
	}
	// If there's a runnext, it's the next G to run.
`},
	{file: "runtime/proc.go", old: `		newg := newproc1(fn, gp, pc, false, waitReasonZero)

		pp := getg().m.p.ptr()
		runqput(pp, newg, true)

		if mainStarted {
			wakep()
		}
	})
`, new: `		if bubbleHolds(gp) {
			gp.bubble.held.pushBack(newproc1(fn, gp, pc, true, waitReasonSynctestChanReceive))
			return
		}
		newg := newproc1(fn, gp, pc, false, waitReasonZero)

		pp := getg().m.p.ptr()
		runqput(pp, newg, true)

		if mainStarted {
			wakep()
		}
	})
	bubbleYield(gp)
`},
	{file: "runtime/chan.go", old: "func chansend(c *hchan, ep unsafe.Pointer, block bool, callerpc uintptr) bool {\n", new: `func chansend(c *hchan, ep unsafe.Pointer, block bool, callerpc uintptr) bool {
	if c != nil && c.bubble != nil {
		bubbleYield(getg())
	}
`},
	{file: "runtime/chan.go", old: "func chanrecv(c *hchan, ep unsafe.Pointer, block bool) (selected, received bool) {\n", new: `func chanrecv(c *hchan, ep unsafe.Pointer, block bool) (selected, received bool) {
	if c != nil && c.bubble != nil {
		bubbleYield(getg())
	}
`},
	{file: "runtime/chan.go", old: "func closechan(c *hchan) {\n", new: `func closechan(c *hchan) {
	if c != nil && c.bubble != nil {
		bubbleYield(getg())
	}
`},
	{file: "runtime/select.go", old: "	gp := getg()\n	if debugSelect {\n", new: "	gp := getg()\n	bubbleYield(gp)\n	if debugSelect {\n"},
	{file: "sync/runtime.go", old: "// Semacquire waits until *s > 0 and then atomically decrements it.\n", new: `//go:noescape
func runtime_interleave(p unsafe.Pointer)

func runtime_calm(delta int32)

// Semacquire waits until *s > 0 and then atomically decrements it.
`},
	{file: "sync/mutex.go", old: "	m.mu.Lock()\n", new: "	runtime_interleave(unsafe.Pointer(m))\n	m.mu.Lock()\n"},
	{file: "sync/mutex.go", old: "	m.mu.Unlock()\n", new: "	m.mu.Unlock()\n	runtime_interleave(unsafe.Pointer(m))\n"},
	{file: "sync/mutex.go", old: "	isync \"internal/sync\"\n", new: "	isync \"internal/sync\"\n	\"unsafe\"\n"},
	{file: "sync/once.go", old: "	o.m.Lock()\n	defer o.m.Unlock()\n", new: `	runtime_calm(1)
	defer runtime_calm(-1)
	o.m.Lock()
	defer o.m.Unlock()
`},
	{file: "sync/cond.go", old: "	runtime_notifyListNotifyOne(&c.notify)\n", new: "	runtime_interleave(unsafe.Pointer(c))\n	runtime_notifyListNotifyOne(&c.notify)\n"},
	{file: "sync/cond.go", old: "	runtime_notifyListNotifyAll(&c.notify)\n", new: "	runtime_interleave(unsafe.Pointer(c))\n	runtime_notifyListNotifyAll(&c.notify)\n"},
	// Not in Add: sigs.k8s.io/json, a copy of encoding/json, counts with one while it learns a type, once in a process.
	{file: "sync/waitgroup.go", old: "func (wg *WaitGroup) Wait() {\n", new: "func (wg *WaitGroup) Wait() {\n	runtime_interleave(unsafe.Pointer(wg))\n"},
	{file: "sync/rwmutex.go", old: "func (rw *RWMutex) RLock() {\n", new: "func (rw *RWMutex) RLock() {\n	runtime_interleave(unsafe.Pointer(rw))\n"},
	{file: "sync/rwmutex.go", old: "		rw.rUnlockSlow(r)\n	}\n	if race.Enabled {\n		race.Enable()\n	}\n", new: "		rw.rUnlockSlow(r)\n	}\n	if race.Enabled {\n		race.Enable()\n	}\n	runtime_interleave(unsafe.Pointer(rw))\n"},
}
