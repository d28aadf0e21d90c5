package transport

import (
	"sync"
	"time"

	"github.com/informersim/informersim/sim"
)

var kindArrive = sim.RegisterKind("arrive", sim.ClassScript)

// Pump is a Driver that steps a kernel in real time: virtual time follows the real clock, and after every arrival it runs all steps
// that are due. It is safe for concurrent use, and must be the only user of the kernel.
type Pump struct {
	mu      sync.Mutex // held during steps
	arrived arrivals
	k       *sim.Kernel
	inbox   *inbox
	started time.Time
	base    time.Duration // virtual time when the pump was started
	timer   *time.Timer
	stopped bool
	onError func(error)
}

// NewPump takes over a kernel. onError is called once with the error that ended the kernel's run, after which the pump does
// nothing. Stop ends the pump.
func NewPump(k *sim.Kernel, onError func(error)) *Pump {
	p := &Pump{k: k, inbox: &inbox{k: k}, started: time.Now(), base: k.Elapsed(), onError: onError}
	p.inbox.id = k.Register(p.inbox)
	p.timer = time.AfterFunc(time.Hour, p.tick)
	return p
}

// inbox is the actor that brings arrivals from outside into a step.
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

// arrivals are functions that wait for their step.
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

// Do runs f inside a step, and then everything that follows without time passing. Arrivals during a step share the next one, which
// amortizes the cost at a step's end. After Stop, Do does nothing.
func (p *Pump) Do(f func()) {
	p.arrived.add(f)
	p.mu.Lock()
	defer p.mu.Unlock()
	work := p.arrived.take()
	if len(work) == 0 || p.stopped {
		return // the previous holder of the lock has run f
	}
	if p.late() > maxLate {
		if p.run(); p.stopped {
			return
		}
	}
	p.inbox.work = work
	p.k.Offer(p.inbox.id, kindArrive, 0)
	p.run()
}

// maxLate is the most that virtual time may be behind when something arrives. It stands still while nothing happens, so an arrival
// after a long idle period would otherwise see a stale time.
const maxLate = time.Millisecond

// late returns how far virtual time is behind.
func (p *Pump) late() time.Duration { return p.base + time.Since(p.started) - p.k.Elapsed() }

// Look runs f between steps.
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

// run advances virtual time to real time, makes every possible step, and sets the timer for the next.
func (p *Pump) run() {
	clock := p.k.Clock()
	clock.LimitTo(p.late())
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
		// When that timer is due in real time, which elapses like virtual time since the start.
		due := p.k.Elapsed() + d - p.base
		p.timer.Reset(max(due-time.Since(p.started), 0))
	}
}
