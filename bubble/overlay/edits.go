package overlay

// edit replaces a piece of text in a file of the standard library.
type edit struct {
	file  string // below GOROOT/src
	old   string
	new   string
	times int   // the expected number of matches of old; 0 means 1
	or    *edit // what takes its place in releases whose file has no match
}

// edits are the overlay's changes. Each states its reason beside the code that it inserts.
var edits = []edit{
	// A bubble has its own streams of random numbers. They restart with each synctest.Wait, so that a draw that happens once in a
	// process, in a sync.Once for example, does not shift later ones.
	{file: "runtime/synctest.go", old: "	active  int // other sources of activity\n}", new: `	active  int // other sources of activity

	seeded bool // the seed decides what is left open
	seed   uint64
	epoch  uint64 // counts Wait
	drawn  [bubbleStreams]uint64

	interleaved bool   // the seed decides which goroutine runs, see interleave.go
	decided     uint64 // the numbers drawn for that in this epoch
	rate        uint32 // of yields at synchronization points in this epoch, in 1/2^32
	holding     bool   // goroutines that are started now may be held
	holder      *g     // whoever asked for that
	held        gQueue
	spins       bool // a goroutine has not come to rest within a second in this epoch
}

// The streams of a bubble.
const (
	bubbleRuntime = iota // everything else
	bubbleUser           // math/rand/v2
	bubbleSelect         // the order of ready cases
	bubbleTimer          // the order of timers of one instant
	bubbleStreams
)

// bubbleSeed is the seed of the bubbles made from now on; 0 for unseeded ones.
//
//go:linkname bubbleSeed
var bubbleSeed uint64 = 1

// mix64 is the finalizer of SplitMix64.
//
//go:nosplit
func mix64(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// at returns a number that depends on the epoch and x.
//
//go:nosplit
func (b *synctestBubble) at(x uint64) uint64 {
	return mix64(mix64(b.seed+b.epoch*0x9e3779b97f4a7c15) + x*0xd1342543de82ef95)
}

// draw returns the next number of a stream.
//
//go:nosplit
func (b *synctestBubble) draw(stream int) uint64 {
	return b.at(atomic.Xadd64(&b.drawn[stream], bubbleStreams) + uint64(stream))
}

// nextEpoch restarts the streams.
func (b *synctestBubble) nextEpoch() {
	b.epoch++
	b.drawn = [bubbleStreams]uint64{}
	b.holding, b.spins = false, false
	b.drawRate()
}

// inSeededBubble reports whether a goroutine is in a bubble that has a seed.
//
//go:nosplit
func inSeededBubble(gp *g) bool {
	return gp != nil && gp.bubble != nil && gp.bubble.seeded
}

// bubbleRand is the source of math/rand/v2.
//
//go:linkname bubbleRand
//go:nosplit
func bubbleRand() uint64 {
	if gp := getg(); inSeededBubble(gp) {
		return gp.bubble.draw(bubbleUser)
	}
	return rand()
}

// bubbleNext returns how long it is until the next timer of the caller's bubble is due, in nanoseconds, or less, if one has been stopped; -1 if there is none.
//
//go:linkname bubbleNext
var bubbleNext = nextTimer

func nextTimer() int64 {
	b := getg().bubble
	if b == nil {
		return -1
	}
	if when := b.timers.wakeTime(); when != 0 {
		return max(when-b.now, 0)
	}
	return -1
}

// maps_iterRand decides where an iteration begins. It does not draw from a stream, so that an extra iteration does not shift others.
//
//go:linkname maps_iterRand internal/runtime/maps.iterRand
func maps_iterRand(used uint64) uint64 {
	if gp := getg(); inSeededBubble(gp) {
		return gp.bubble.at(used<<8 | 0xff)
	}
	return rand()
}
`},
	{file: "runtime/synctest.go", old: "	bubble.now = synctestBaseTime\n", new: `	bubble.now = synctestBaseTime
	bubble.seed, bubble.seeded = bubbleSeed, bubbleSeed != 0
	bubble.interleaved = bubble.seeded && bubbleInterleave
	bubble.drawRate()
`},
	{file: "runtime/synctest.go", old: "	gp.bubble.waiter = nil\n	gp.bubble.waiting = false\n", new: `	gp.bubble.waiter = nil
	gp.bubble.waiting = false
	gp.bubble.nextEpoch()
`},
	{file: "runtime/rand.go", old: "	mp := getg().m\n	c := &mp.chacha8\n", new: `	if gp := getg(); inSeededBubble(gp) {
		return gp.bubble.draw(bubbleRuntime)
	}
	mp := getg().m
	c := &mp.chacha8
`},
	{file: "math/rand/v2/rand.go", old: "//go:linkname runtime_rand runtime.rand\n", new: "//go:linkname runtime_rand runtime.bubbleRand\n"},
	{file: "runtime/select.go", old: "		j := cheaprandn(uint32(norder + 1))\n", new: `		var j uint32
		if inSeededBubble(gp) {
			j = uint32(gp.bubble.draw(bubbleSelect) % uint64(norder+1))
		} else {
			j = cheaprandn(uint32(norder + 1))
		}
`},
	{file: "runtime/time.go", old: "			t.rand = cheaprand()\n", new: `			if b := getg().bubble; b.seeded {
				t.rand = uint32(b.draw(bubbleTimer))
			} else {
				t.rand = cheaprand()
			}
`},

	// A key's position in a map depends only on the key and on earlier insertions, so maps that outlive a bubble are the same for each.
	// The generic hash is the same on every 64-bit machine.
	{file: "internal/runtime/maps/runtime.go", old: "//go:linkname rand\nfunc rand() uint64\n", new: `//go:linkname iterRand
func iterRand(used uint64) uint64

// seedRand is the seed of every map's hash.
func seedRand() uint64 { return 0x696e666f726d6572 }
`},
	{file: "internal/runtime/maps/map.go", old: "	m.seed = uintptr(rand())\n", new: "	m.seed = uintptr(seedRand())\n", times: 4},
	{file: "internal/runtime/maps/table.go", old: "	it.entryOffset = rand()\n	it.dirOffset = rand()\n", new: `	it.entryOffset = iterRand(m.used)
	it.dirOffset = it.entryOffset >> 32
`},
	{file: "runtime/rand.go", old: "//go:linkname maps_rand internal/runtime/maps.rand\nfunc maps_rand() uint64 {\n	return rand()\n}\n", new: ""},
	{file: "internal/sync/hashtriemap.go", old: "//go:linkname runtime_rand runtime.rand\nfunc runtime_rand() uint64\n", new: "func runtime_rand() uint64 { return 0x696e666f726d6572 }\n"},
	{file: "runtime/alg.go", old: "func alginit() {\n", new: `func alginit() {
	for i := range hashkey {
		hashkey[i] = uintptr(mix64(uint64(i) + 1))
	}
	if hashkey[0] != 0 {
		return
	}
`, or: &edit{file: "internal/runtime/maps/runtime_alg.go", old: "func AlgInit() {\n", new: `func AlgInit() {
	for i := range hashkey {
		x := uint64(i) + 1 // and what is mix64 in the runtime
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		hashkey[i] = uintptr(x ^ x>>31)
	}
	if hashkey[0] != 0 {
		return
	}
`}}, // since go1.27

	// Goroutines run in the order in which they were woken, also under the race detector.
	{file: "runtime/proc.go", old: "const randomizeScheduler = raceenabled\n", new: "const randomizeScheduler = false\n"},
	{file: "runtime/proc.go", old: "	if randomizeScheduler && next && randn(2) == 0 {\n		next = false\n	}\n", new: `	if next && !inSeededBubble(gp) && inSeededBubble(pp.runnext.ptr()) {
		next = false // it would move a bubble's goroutine to the end of the queue
	}
`},
	{file: "runtime/proc.go", old: "	if preempted && sched.gcwaiting.Load() {\n", new: `	if inSeededBubble(gp) && !preempted {
		gp.late = gp.bubble.interleaved // whoever spins waits for others
		runqput(pp, gp, false)
	} else if preempted && inSeededBubble(gp) && !sched.gcwaiting.Load() && gomaxprocs == 1 {
		bubbleLast(pp, gp)
	} else if preempted && (sched.gcwaiting.Load() || inSeededBubble(gp)) {
`},
	// A processor's own queue holds more goroutines than a run has. Half of a full one goes to the global queue, from which every 61st goroutine that
	// is scheduled comes, those from outside of the bubble counted: real time would decide when.
	{file: "runtime/runtime2.go", old: "	runq     [256]guintptr\n", new: "	runq     [16384]guintptr\n"},
	{file: "runtime/proc.go", old: "func runqgrab(pp *p, batch *[256]guintptr, ", new: "func runqgrab(pp *p, batch *[16384]guintptr, "},
	{file: "runtime/proc.go", old: "	var batch [len(pp.runq)/2 + 1]*g\n", new: "	var batch [256/2 + 1]*g // it is on the stack\n"},
	{file: "runtime/proc.go", old: "	n := t - h\n	n = n / 2\n	if n != uint32(len(pp.runq)/2) {\n", new: "	n := uint32(len(batch) - 1)\n	if t-h != uint32(len(pp.runq)) {\n"},
	// A goroutine that spins in a bubble does not keep out whoever would notice that it does.
	{file: "runtime/proc.go", old: "// Gosched continuation on g0.\nfunc gosched_m(gp *g) {\n", new: `// bubbleLast puts a goroutine of a bubble whose time is over behind those from outside of the bubble, and before the bubble's own, as if nothing
// had been. The queue is only this processor's, since there is no other.
func bubbleLast(pp *p, gp *g) {
	var outside, inside gQueue
	divide := func(next *g) {
		if next.bubble == gp.bubble {
			inside.pushBack(next)
		} else {
			outside.pushBack(next)
		}
	}
	if next := pp.runnext.ptr(); next != nil {
		pp.runnext = 0
		divide(next)
	}
	for ; pp.runqhead != pp.runqtail; pp.runqhead++ {
		divide(pp.runq[pp.runqhead%uint32(len(pp.runq))].ptr())
	}
	for !outside.empty() {
		runqput(pp, outside.pop(), false)
	}
	gp.resumes, gp.bubble.spins = true, true
	runqput(pp, gp, false)
	for !inside.empty() {
		runqput(pp, inside.pop(), false)
	}
	pp.schedtick += 61 - pp.schedtick%61 // whoever is in the global queue comes first
}

// Gosched continuation on g0.
func gosched_m(gp *g) {
`},
	// Real time decides nothing: neither how long a goroutine has run, up to a second, nor how long one has waited for a mutex. After that second
	// others get their turns as usual, or those from outside of the bubble would take seconds to notice.
	{file: "runtime/proc.go", old: "		} else if pd.schedwhen+forcePreemptNS <= now {\n", new: `		} else if slice := int64(forcePreemptNS); pd.schedwhen+slice <= now && (pd.schedwhen+100*slice <= now || !runsSeededBubble(pp)) {
`},
	{file: "runtime/proc.go", old: "		// Retake the P if it's there for more than 1 sysmon tick (at least 20us).\n", new: `		if !sysretake && inSeededBubble(thread.gp) && pd.syscallwhen+100*forcePreemptNS > now && int64(pd.syscalltick) == int64(pp.syscalltick) {
			thread.resume()
			goto done
		}

		// Retake the P if it's there for more than 1 sysmon tick (at least 20us).
`},
	{file: "runtime/proc.go", old: "func preemptone(pp *p) bool {\n", new: `func runsSeededBubble(pp *p) bool {
	mp := pp.m.ptr()
	if mp == nil {
		return false
	}
	gp := mp.curg
	if gp == nil {
		return false
	}
	b := gp.bubble // once: the goroutine may end meanwhile
	return b != nil && b.seeded && !b.spins
}

func preemptone(pp *p) bool {
`},
	{file: "runtime/sema.go", old: "func internal_sync_nanotime() int64 {\n", new: `func internal_sync_nanotime() int64 {
	if gp := getg(); inSeededBubble(gp) {
		return gp.bubble.now
	}
`},
	// Goroutines do not assist the garbage collector.
	{file: "runtime/mgcmark.go", old: "func gcAssistAlloc(gp *g) {\n", new: `func gcAssistAlloc(gp *g) {
	if inSeededBubble(gp) {
		return
	}
`},

	// Contexts are canceled with their parent in the order in which they were created, not in the order of their addresses.
	{file: "context/context.go", old: "	children map[canceler]struct{} // set to nil by the first cancel call\n", new: `	children map[canceler]uint64 // set to nil by the first cancel call
	born     uint64              // how many there were
`},
	{file: "context/context.go", old: "				p.children = make(map[canceler]struct{})\n", new: "				p.children = make(map[canceler]uint64)\n"},
	{file: "context/context.go", old: "			p.children[child] = struct{}{}\n", new: "			p.born++\n			p.children[child] = p.born\n"},
	{file: "context/context.go", old: "	for child := range c.children {\n", new: `	ordered := make([]canceler, 0, len(c.children))
	for child := range c.children {
		ordered = append(ordered, child)
		for i := len(ordered) - 1; i > 0 && c.children[ordered[i-1]] > c.children[child]; i-- {
			ordered[i-1], ordered[i] = child, ordered[i-1]
		}
	}
	for _, child := range ordered {
`},
}
