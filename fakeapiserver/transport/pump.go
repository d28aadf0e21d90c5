package transport

import (
	"sync"
	"time"

	"github.com/informersim/informersim/sim"
)

var kindArrive = sim.RegisterKind("arrive", sim.ClassScript)

// Pump is a Driver that steps a kernel in real time: virtual time follows the real clock, and after every arrival all
// happens that can. It is safe for concurrent use, and is the only one to touch the kernel from then on.
type Pump struct {
	mu      sync.Mutex // held while anything happens
	arrived arrivals
	k       *sim.Kernel
	inbox   *inbox
	started time.Time
	base    time.Duration // virtual time when the pump was started
	timer   *time.Timer
	stopped bool
	onError func(error)
}

// NewPump takes over a kernel. onError is told the error that ended the kernel's run, once; nothing happens any more after
// it. Stop ends the pump.
func NewPump(k *sim.Kernel, onError func(error)) *Pump {
	p := &Pump{k: k, inbox: &inbox{k: k}, started: time.Now(), base: k.Elapsed(), onError: onError}
	p.inbox.id = k.Register(p.inbox)
	p.timer = time.AfterFunc(time.Hour, p.tick)
	return p
}

// inbox is the actor that brings what comes from outside into a step.
type inbox struct {
	k    *sim.Kernel
	id   sim.ActorID
	work []func()
}

// Name implements sim.Actor.
func (*inbox) Name() string { return "inbox" }

// Apply implements sim.Actor.
func (b *inbox) Apply(sim.Choice) {
	work := b.work
	b.work = nil
	for _, f := range work {
		f()
	}
}

// arrivals are what waits for its step.
type arrivals struct {
	mu   sync.Mutex
	work []func()
}

func (a *arrivals) add(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.work = append(a.work, f)
}

func (a *arrivals) take() []func() {
	a.mu.Lock()
	defer a.mu.Unlock()
	work := a.work
	a.work = nil
	return work
}

// Do runs f inside a step, and then everything that follows from it without time passing. What arrives while something is
// going on shares the next step, so that whatever the end of a step costs is paid once for all. It does nothing after Stop.
func (p *Pump) Do(f func()) {
	p.arrived.add(f)
	p.mu.Lock()
	defer p.mu.Unlock()
	work := p.arrived.take()
	if len(work) == 0 || p.stopped {
		return // who had the lock before has taken f along
	}
	p.inbox.work = work
	p.k.Offer(p.inbox.id, kindArrive, 0)
	p.run()
}

// Look runs f between steps, with nothing moving.
func (p *Pump) Look(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
}

// Stop ends the pump; later calls of Do do nothing.
func (p *Pump) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	p.timer.Stop()
}

func (p *Pump) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.stopped {
		p.run()
	}
}

// run lets virtual time catch up with the real one, makes every step that can be made, and sets the timer for the next.
func (p *Pump) run() {
	clock := p.k.Clock()
	clock.LimitTo(p.base + time.Since(p.started) - p.k.Elapsed())
	for p.k.Step() {
	}
	if err := p.k.Err(); err != nil {
		p.stopped = true
		p.timer.Stop()
		if p.onError != nil {
			p.onError(err)
		}
		return
	}
	if d, ok := clock.NextTimer(); ok {
		// When that timer is due in real time, which is as far from the start as in virtual time.
		due := p.k.Elapsed() + d - p.base
		p.timer.Reset(max(due-time.Since(p.started), 0))
	}
}
