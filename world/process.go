package world

import (
	"fmt"
	"time"

	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/world/wire"
)

var (
	kindCrash   = sim.RegisterKind("crash", sim.ClassFault)    // a process crashes
	kindRestart = sim.RegisterKind("restart", sim.ClassAction) // and is started again
	// KindProcess records a change of a process's state: Detail is "started", "crashed", "ended", or "exited: " and the error.
	KindProcess = sim.RegisterKind("process", sim.ClassRecord)
)

// exitBackoff is the kubelet's backoff before it restarts a container that exited; it doubles up to maxExitBackoff.
const (
	exitBackoff    = 10 * time.Second
	maxExitBackoff = 5 * time.Minute
)

// process is a user's process: the actor "process/NAME".
type process struct {
	w    *world
	id   sim.ActorID
	name string

	life    *life
	backoff time.Duration
	want    bool // it should be running
	running bool // its function has not returned
	byFault bool // a fault ended it

	crash   sim.Choice // the offered crash
	crashes bool
	restart bool

	// What the test's process says of the function's return.
	returned bool
	err      error
	panicked string
}

// Name implements sim.Actor.
func (p *process) Name() string { return "process/" + p.name }

// Apply implements sim.Actor.
func (p *process) Apply(c sim.Choice) {
	switch c.Kind {
	case kindCrash:
		p.crashes = false
		p.w.crashed++
		p.crashNow()
	case kindRestart:
		p.restart = false
		if p.want && !p.running {
			p.start()
		}
	}
	p.w.offerCrashes()
}

// start begins a life.
func (p *process) start() {
	p.w.lives++
	p.life = &life{number: p.w.lives}
	p.running, p.want = true, true
	p.record("started")
	p.w.remote.do(wire.DoStart).Text(p.name).Num(p.life.number)
}

// crashNow kills a process that runs, and has it come back after its downtime.
func (p *process) crashNow() {
	if p.restartNow() {
		p.byFault = true
	}
}

// restartNow kills a process that runs, and has it come back as soon as its function has returned. It reports whether it runs.
func (p *process) restartNow() bool {
	if !p.running || p.life.dead() {
		return false
	}
	p.kill()
	p.want = true
	return true
}

// processCrashed is the detail of the record of a crash.
const processCrashed = "crashed"

// kill ends a life at once: nothing that it does afterwards reaches a server.
func (p *process) kill() {
	if !p.running || p.life.dead() {
		return
	}
	p.record(processCrashed)
	p.want = false
	p.life.end()
	p.w.remote.do(wire.DoKill).Text(p.name).Num(p.life.number)
}

// collect handles the return of the process's function.
func (p *process) collect() {
	if !p.returned {
		return
	}
	err, panicked := p.err, p.panicked
	p.returned, p.running = false, false
	dead := p.life.dead()
	p.life.end() // for goroutines that it left behind
	if !dead {
		p.w.remote.do(wire.DoKill).Text(p.name).Num(p.life.number)
	}
	switch {
	case panicked != "":
		p.w.fail("NoPanic", fmt.Sprintf("the process %s panicked: %s", p.name, panicked))
	case dead && p.want && p.byFault: // it crashed, and comes back after its downtime
		p.byFault = false
		p.w.kernel.Clock().AfterFunc(p.downtime(), p.offerRestart)
	case dead && p.want:
		p.offerRestart()
	case dead:
	case err != nil:
		p.record("exited: " + err.Error())
		p.backoff = min(max(2*p.backoff, exitBackoff), maxExitBackoff)
		p.w.kernel.Clock().AfterFunc(p.backoff, p.offerRestart)
	default:
		p.want = false
		p.record("ended")
	}
	p.w.offerCrashes()
}

// maxDowntime limits how long a process stays down after a fault crashed it, missing what happens meanwhile.
const maxDowntime = 30 * time.Second

func (p *process) downtime() time.Duration {
	return time.Duration(p.w.kernel.Stream(p.Name()).IntN(int(maxDowntime/time.Millisecond))) * time.Millisecond
}

func (p *process) offerRestart() {
	if !p.restart && !p.running && p.want {
		p.restart = true
		p.w.kernel.Offer(p.id, kindRestart, 0)
	}
}

// offerCrash offers a crash, or withdraws it.
func (p *process) offerCrash(enabled bool) {
	enabled = enabled && p.running && !p.life.dead()
	switch {
	case enabled && !p.crashes:
		p.crash, p.crashes = p.w.kernel.Offer(p.id, kindCrash, 0), true
	case !enabled && p.crashes:
		p.w.kernel.Withdraw(p.crash)
		p.crashes = false
	}
}

func (p *process) record(what string) {
	r := p.w.kernel.Record(p.id, KindProcess)
	r.Detail = what
	p.w.kernel.Emit(r)
}
