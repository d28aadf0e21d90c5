package simtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/informersim/informersim/simtest/internal/bubble"
	"github.com/informersim/informersim/simtest/internal/exchange"
	"github.com/informersim/informersim/simtest/internal/wire"
)

// world is one run on this side: the bubble and what is in it. The engine says what happens there.
type world struct {
	r      *runner
	e      *engine
	seed   uint64
	env    *Env
	bubble *bubble.Bubble
	start  time.Time
	ctx    context.Context
	cancel context.CancelCauseFunc

	body       *body
	checks     *checks
	log        *logBook
	properties []checking
	objects    *objects
	hooks      *hooks
	cutOff     *cutOff
	exchanges  *exchange.Table
	begun      begun

	ended    atomic.Bool // the run is over, and the bubble has ended
	failed   bool        // its test had failed before it began
	races    int         // the data races that had been found by then
	asserted atomic.Bool // an assertion of Ginkgo's has failed, which its t does not tell
	skips    atomic.Bool // Ginkgo's Skip was called, which its t does not tell either
	turn     atomic.Bool // it is this side's: the engine answers queries
	pipe     sync.Mutex  // held while a report is sent
	closed   bool        // guarded by pipe: another goroutine speaks with the engine now
	wanted   bool        // the engine wants the log; set by the bubble's main goroutine, as what follows
	lost     error       // why the engine cannot be talked to
	leak     error       // goroutines that did not end

	mu        sync.Mutex // guards what follows
	events    []func(*wire.Packet)
	ids       int64       // of reconciles
	counts    *wire.State // what Do says of it, nil in the middle of a step
	processes map[string]*process
}

// process is a process that the body started.
type process struct {
	run  func(context.Context) error
	life *life // the current one, nil before the first
}

func newWorld(r *runner, e *engine, seed uint64) *world {
	w := &world{r: r, e: e, seed: seed, failed: r.t.Failed(), races: races(), processes: map[string]*process{}}
	w.env = newEnv(w)
	w.exchanges = exchange.NewTable(w.event)
	w.body = &body{w: w}
	w.checks = &checks{w: w}
	w.log = newLogBook(e.box.log)
	w.objects = &objects{w: w}
	w.cutOff = &cutOff{w: w}
	w.hooks = &hooks{w: w, handler: r.o.Webhooks.Handler, hangUps: map[int64]context.CancelFunc{}}
	return w
}

// loop is the bubble's main goroutine: the engine says what to do, and is told what came of it. Reading from the pipe is no durable wait: time
// stands still meanwhile.
func (w *world) loop() {
	w.start = time.Now()
	w.ctx, w.cancel = context.WithCancelCause(context.Background())
	w.cutOff.over = make(chan struct{})
	w.properties = newCheckings(w.r.o.Properties)
	var err error
	if w.bubble, err = bubble.Enter(0); err != nil {
		w.lost = err
		return
	}
	w.log.takeOver()
	for {
		m, err := w.e.receive()
		if err != nil {
			w.lost = err
			break
		}
		if m.Kind == wire.End {
			w.log.close()
			w.wanted = m.Flag()
			break
		}
		if m.Kind == wire.Call {
			w.count(nil)
			w.turn.Store(true)
			answer := w.hooks.convert(m, w.bubble.Quiesce)
			w.turn.Store(false)
			if err := w.send(answer); err != nil {
				w.lost = err
				break
			}
			continue
		}
		if m.Kind != wire.Do {
			w.lost = fmt.Errorf("the engine sends a message of kind %q during a run; this is a bug in informersim", m.Kind)
			break
		}
		report := w.do(m)
		if report == nil {
			w.lost = fmt.Errorf("the engine: %w; this is a bug in informersim", m.Err())
			break
		}
		if err := w.send(report); err != nil {
			w.lost = err
			break
		}
	}
	w.leak = w.end()
}

// send sends a report, unless the run was given up meanwhile.
func (w *world) send(p *wire.Packet) error {
	w.pipe.Lock()
	defer w.pipe.Unlock()
	if w.closed {
		return errOver
	}
	return w.e.send(p)
}

// close keeps the bubble's goroutines from speaking with the engine.
func (w *world) close() {
	w.pipe.Lock()
	w.closed = true
	w.pipe.Unlock()
	w.e.query.Lock() // its answer is on its way
	w.turn.Store(false)
	w.e.query.Unlock()
}

// do carries out what the engine says and returns what came of it, nil if the message is broken.
func (w *world) do(m *wire.Message) *wire.Packet {
	flags := m.Byte()
	w.log.step.Store(uint64(m.Num()))
	d := m.Duration()
	w.count(&wire.State{Steps: uint64(m.Num()), Revision: m.Num(), Faults: int(m.Num())})
	w.turn.Store(true)
	defer w.turn.Store(false)
	broken := false
	for m.More() && !broken {
		broken = w.act(m)
	}
	switch {
	case m.Err() != nil:
		return nil
	case broken: // nothing moves any more
	case flags&wire.Pass != 0:
		w.bubble.Pass(d)
	default:
		w.bubble.Quiesce()
	}
	if flags&wire.Checks != 0 && !broken {
		w.checks.call()
	}
	p := wire.New(wire.Report).Duration(time.Since(w.start))
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.events {
		f(p)
	}
	clear(w.events)
	w.events = w.events[:0]
	return p
}

// count notes what the fake apiserver is at until the engine speaks again; nil if that is not known.
func (w *world) count(s *wire.State) {
	w.mu.Lock()
	w.counts = s
	w.mu.Unlock()
}

// act carries out one action. It reports whether a property of the user's is broken, after which nothing may move any more.
func (w *world) act(m *wire.Message) (broken bool) {
	switch kind := m.Byte(); kind {
	case wire.DoAnswer, wire.DoOpen, wire.DoFrame, wire.DoClose:
		w.exchanges.Take(kind, m)
	case wire.DoStart:
		w.startProcess(m.Text(), m.Num())
	case wire.DoKill:
		name, number := m.Text(), m.Num()
		if l := w.processes[name].life; l != nil && l.number == number {
			w.cutOff.kill(name, l)
		}
	case wire.DoBody:
		go w.body.run(func() { w.env.createRoles(); w.env.configureWebhooks(); w.r.body(w.env); w.env.checkNames() })
	case wire.DoReply:
		w.body.reply(m.Field())
	case wire.DoObject:
		w.objects.set(int(m.Num()), m.Text(), readEntry(m))
	case wire.DoDelete:
		w.objects.remove(int(m.Num()), m.Text())
	case wire.DoForget:
		w.objects.forget()
	case wire.DoRecord:
		r := &Record{Step: uint64(m.Num()), At: m.Duration(), Actor: m.Text(), Kind: m.Text(), Key: m.Text(), RV: m.Num(), N: m.Num(), Detail: m.Text()}
		return w.judge(func(c *checking) *Violation {
			if c.Record == nil || !c.kinds[r.Kind] {
				return nil
			}
			return c.Record(r)
		})
	case wire.DoEndings:
		return w.judge(func(c *checking) *Violation {
			if c.End == nil {
				return nil
			}
			return c.End()
		})
	case wire.DoCall:
		w.hooks.call(m)
	case wire.DoHangUp:
		w.hooks.hangUp(m.Num())
	case wire.DoLocate:
		at := w.bodyAt()
		w.event(func(p *wire.Packet) { p.Byte(wire.EventBodyAt).Text(at) })
	case wire.DoErrors:
		w.log.tellErrors(m.Duration(), w.event)
	default:
		m.Broken(fmt.Errorf("action %q is not known", kind))
	}
	return false
}

// judge calls the user's properties, and reports whether one is broken.
func (w *world) judge(call func(*checking) *Violation) bool {
	for n := range w.properties {
		c := &w.properties[n]
		if v := call(c); v != nil {
			w.event(func(p *wire.Packet) {
				p.Byte(wire.EventViolated).Text(c.name).Text(v.Message).Text(v.Key).Num(int64(len(v.Because)))
				for _, e := range v.Because {
					p.Num(int64(e.Step)).Duration(e.At).Text(e.Text)
				}
			})
			return true
		}
	}
	return false
}

// event notes something for the next report, and ends the passing of time. Any goroutine in the bubble may call it.
func (w *world) event(f func(*wire.Packet)) {
	w.mu.Lock()
	w.events = append(w.events, f)
	w.mu.Unlock()
	w.bubble.Note()
}

// startProcess begins a life of a process.
func (w *world) startProcess(name string, number int64) {
	l := &life{number: number}
	l.ctx, l.cancel = context.WithCancelCause(w.ctx)
	w.mu.Lock()
	p := w.processes[name]
	p.life = l
	w.mu.Unlock()
	go w.protected(func() error {
		goroutine := bubble.ThisGoroutine()
		l.goroutine.Store(&goroutine)
		return p.run(l.ctx)
	}, func(err error, panicked string) {
		if !l.cut.Load() { // else that has been said
			w.exited(name, l, err, panicked)
		}
	})
}

// exited tells the engine that a process's function has returned.
func (w *world) exited(name string, l *life, err error, panicked string) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	w.event(func(p *wire.Packet) {
		p.Byte(wire.EventExit).Text(name).Num(l.number).Flag(err != nil).Text(text).Text(panicked)
	})
}

// shutdownTimeout limits the virtual time that goroutines may take to end after a run. Backoffs that ignore their context sleep
// on; client-go's longest is half a minute, a minute with jitter.
const shutdownTimeout = 10 * time.Minute

// end stops every goroutine in the bubble, and names those that do not stop.
func (w *world) end() error {
	w.cutOff.end()
	w.cancel(errOver)
	w.bubble.Quiesce()
	var left []bubble.Goroutine
	for waited := time.Duration(0); ; {
		// The process's number of goroutines does not tell: one outside of the bubble may have ended meanwhile.
		if left = w.bubble.Goroutines(); len(left) == 0 {
			return nil
		}
		if waited >= shutdownTimeout {
			break
		}
		waited += max(w.bubble.Pass(shutdownTimeout/8), time.Millisecond)
	}
	if w.r.o.AllowLeaks {
		w.ended.Store(true)
		w.bubble.Abandon(nil)
	}
	err := &bubble.LeakError{Goroutines: left}
	if slices.ContainsFunc(left, func(g bubble.Goroutine) bool { return !blockedForGood(g.State) }) {
		w.ended.Store(true)
		w.bubble.Abandon(err)
	}
	return err
}

// blockedForGood reports whether a goroutine in this state never runs again unless another one wakes it. A bubble in which all are
// can be ended.
func blockedForGood(state string) bool {
	return state != "sleep" && state != "select" && state != "running" && state != "runnable"
}

func isStuck(err error) bool {
	var stuck *bubble.StuckError
	return errors.As(err, &stuck)
}
