package overlay

// locks are the edits for a bubble in which a goroutine that waits for a lock is at rest: whoever has the lock waits for what the bubble is at rest for, a
// message or time to pass, or is not at rest itself. That holds as long as the lock is had inside the bubble. A lock on the heap is taken to be the bubble's
// own. One in a package variable is often somebody else's for a moment, such as that of a sync.Once, so the bubble notes which of these its goroutines have.
var locks = []edit{
	{file: "runtime/synctest.go", old: "	spins       bool // a goroutine has not come to rest within a second in this epoch\n}\n", new: `	spins       bool // a goroutine has not come to rest within a second in this epoch

	locksRest   bool         // a goroutine that waits for a lock is at rest
	packageLocks []bubbleLock // those in package variables that goroutines of the bubble have
	lockWaiters guintptr     // those that wait for one
}

// bubbleLock is a Mutex, or the readers of an RWMutex at its readerSem, and how often it is had.
type bubbleLock struct {
	at    uintptr
	times int32
}

// bubbleLocksRest has goroutines of seeded bubbles made from now on be at rest while they wait for a lock.
//
//go:linkname bubbleLocksRest
var bubbleLocksRest bool

// rests reports whether a goroutine that waits is at rest.
func (b *synctestBubble) rests(gp *g) bool {
	w := gp.waitreason
	if b.locksRest && gp.lockRests && (w == waitReasonSyncMutexLock || w == waitReasonSyncRWMutexRLock || w == waitReasonSyncRWMutexLock) {
		return true
	}
	return w.isIdleInSynctest()
}

// bubbleWaits is called before a goroutine waits for the semaphore at addr. A reader waits for whoever has an RWMutex's mutex, which is its first field, and a
// writer that has it for the readers.
func bubbleWaits(gp *g, addr *uint32, reason waitReason) {
	b := gp.bubble
	if b == nil || !b.locksRest {
		return
	}
	at := uintptr(unsafe.Pointer(addr))
	if gp.lockRests = spanOfHeap(at) != nil; gp.lockRests || gomaxprocs != 1 {
		return
	}
	switch reason {
	case waitReasonSyncMutexLock:
		at -= 4 // what precedes sema
	case waitReasonSyncRWMutexRLock:
		at -= 12 // what precedes readerSem
	case waitReasonSyncRWMutexLock:
		at += 4 // from writerSem to readerSem
	default:
		return
	}
	gp.lockAt, gp.lockRests, gp.lockNext = at, b.hasLock(at), b.lockWaiters
	b.lockWaiters.set(gp)
}

// bubbleWaited is called when it has stopped waiting.
func bubbleWaited(gp *g) {
	if gp.lockAt == 0 {
		return
	}
	for next := &gp.bubble.lockWaiters; ; next = &next.ptr().lockNext {
		if next.ptr() == gp {
			*next, gp.lockAt = gp.lockNext, 0
			return
		}
	}
}

func (b *synctestBubble) hasLock(at uintptr) bool {
	for i := range b.packageLocks {
		if b.packageLocks[i].at == at {
			return true
		}
	}
	return false
}

// sync_locked is called when what is at p has been locked, and with -1 before it is unlocked.
//
//go:linkname sync_locked sync.runtime_locked
func sync_locked(p unsafe.Pointer, times int32) {
	b, at := getg().bubble, uintptr(p)
	if b == nil || !b.locksRest || spanOfHeap(at) != nil {
		return
	}
	for i := range b.packageLocks {
		l := &b.packageLocks[i]
		if l.at != at {
			continue
		}
		if l.times += times; l.times == 0 {
			*l = b.packageLocks[len(b.packageLocks)-1]
			b.packageLocks = b.packageLocks[:len(b.packageLocks)-1]
			b.wait(at, false)
		}
		return
	}
	if times > 0 { // if not, somebody else has locked it
		b.packageLocks = append(b.packageLocks, bubbleLock{at, times})
		b.wait(at, true)
	}
}

// wait has those that wait for a lock be at rest or not. The calling goroutine is not, so the bubble is quiescent neither before nor after. Nothing else
// runs in the meantime, since there is no other processor.
func (b *synctestBubble) wait(at uintptr, rest bool) {
	for gp := b.lockWaiters.ptr(); gp != nil; gp = gp.lockNext.ptr() {
		if gp.lockAt != at || gp.lockRests == rest || readgstatus(gp)&^_Gscan != _Gwaiting {
			continue
		}
		gp.lockRests = rest
		lock(&b.mu)
		if rest {
			b.running--
			if raceenabled {
				racereleasemergeg(gp, b.raceaddr())
			}
		} else {
			b.running++
		}
		unlock(&b.mu)
	}
}
`},
	{file: "runtime/synctest.go", old: "	bubble.drawRate()\n", new: "	bubble.drawRate()\n	bubble.locksRest = bubble.seeded && bubbleLocksRest\n"},
	{file: "runtime/synctest.go", old: "		if gp.waitreason.isIdleInSynctest() {\n", new: "		if bubble.rests(gp) {\n", times: 2},
	{file: "runtime/traceback.go", old: "		gp.waitreason.isIdleInSynctest() &&\n", new: "		bubble.rests(gp) &&\n"},
	{file: "runtime/runtime2.go", old: "	resumes bool // it is the next of its bubble\n", new: `	resumes bool // it is the next of its bubble
	lockRests bool     // what it waits for, if that is a lock, is had in its bubble
	lockAt    uintptr  // the lock in a package variable that it waits for
	lockNext  guintptr // who else waits for one
`},
	{file: "runtime/sema.go", old: "		root.queue(addr, s, lifo)\n", new: "		root.queue(addr, s, lifo)\n		bubbleWaits(gp, addr, reason)\n"},
	{file: "runtime/sema.go", old: "		goparkunlock(&root.lock, reason, traceBlockSync, 4+skipframes)\n", new: "		goparkunlock(&root.lock, reason, traceBlockSync, 4+skipframes)\n		bubbleWaited(gp)\n"},
	{file: "sync/runtime.go", old: "func runtime_calm(delta int32)\n", new: "func runtime_calm(delta int32)\n\n//go:noescape\nfunc runtime_locked(p unsafe.Pointer, times int32)\n"},
	{file: "sync/mutex.go", old: "	m.mu.Lock()\n", new: "	m.mu.Lock()\n	runtime_locked(unsafe.Pointer(m), 1)\n"},
	{file: "sync/mutex.go", old: "	return m.mu.TryLock()\n", new: "	locked := m.mu.TryLock()\n	if locked {\n		runtime_locked(unsafe.Pointer(m), 1)\n	}\n	return locked\n"},
	{file: "sync/mutex.go", old: "	m.mu.Unlock()\n", new: "	runtime_locked(unsafe.Pointer(m), -1)\n	m.mu.Unlock()\n"},
	{file: "sync/rwmutex.go", old: "		runtime_SemacquireRWMutexR(&rw.readerSem, false, 0)\n	}\n", new: "		runtime_SemacquireRWMutexR(&rw.readerSem, false, 0)\n	}\n	runtime_locked(unsafe.Pointer(&rw.readerSem), 1)\n"},
	{file: "sync/rwmutex.go", old: "		if rw.readerCount.CompareAndSwap(c, c+1) {\n", new: "		if rw.readerCount.CompareAndSwap(c, c+1) {\n			runtime_locked(unsafe.Pointer(&rw.readerSem), 1)\n"},
	{file: "sync/rwmutex.go", old: "	if r := rw.readerCount.Add(-1); r < 0 {\n", new: "	runtime_locked(unsafe.Pointer(&rw.readerSem), -1)\n	if r := rw.readerCount.Add(-1); r < 0 {\n"},
}
