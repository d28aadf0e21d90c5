package simtest

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/informersim/informersim/simtest/internal/wire"
)

// check is a function that the body registered to run after every step that may have changed something.
type check struct {
	name string
	hold func() error
	some bool // of env.Sometimes
	held bool
}

// checks are the checks that the body registered.
type checks struct {
	w     *world
	all   []*check
	under atomic.Bool // a check is running
}

var errFailNow = errors.New("it called t.FailNow")

// call calls the checks, on a goroutine of their own, because t.FailNow may end it.
func (c *checks) call() {
	name, err := "", error(nil)
	done := make(chan bool)
	go func() {
		returned := false
		defer func() {
			if v := recover(); v != nil && !c.w.assertionFailed(v) {
				err = fmt.Errorf("it panicked: %v\n%s", v, debug.Stack())
			} else if !returned {
				err = errFailNow
			}
			close(done)
		}()
		err = c.each(&name)
		returned = true
	}()
	c.under.Store(true)
	<-done
	c.under.Store(false)
	if err != nil {
		c.w.event(func(p *wire.Packet) { p.Byte(wire.EventViolated).Text(name).Text(err.Error()).Text("").Num(0) })
	}
}

func (c *checks) each(name *string) error {
	for _, a := range c.all {
		*name = a.name
		switch {
		case !a.some:
			if err := a.hold(); err != nil {
				return err
			}
		case !a.held && a.hold() != nil:
			a.held = true
			c.w.event(func(p *wire.Packet) { p.Byte(wire.EventHeld).Text(a.name) })
		}
	}
	return nil
}

// Always states an invariant: hold is called after every step from now on that may have changed something (in the Store, in the processes or in the
// body, or the time), and an error fails the run, with name as the broken property. So does a panic, or a t.FailNow. Nothing else runs
// meanwhile, so hold may read any state of the processes; it must not make requests (use Get and List).
func (e *Env) Always(name string, hold func() error) {
	e.alive()
	e.w.checks.all = append(e.w.checks.all, &check{name: name, hold: hold})
	e.w.body.ask("env.Always", wire.AskChecks, 0)
}

// Sometimes states what some step of some seed must reach: cond is called after every step that may have changed something until it returns
// true. If it never does, in any seed that Run ran, the test fails, because it does not exercise what it should; with -simtest.seed, it need not.
func (e *Env) Sometimes(name string, cond func() bool) {
	e.alive()
	hold := func() error {
		if cond() {
			return errHolds
		}
		return nil
	}
	e.w.checks.all = append(e.w.checks.all, &check{name: name, some: true, hold: hold})
	e.w.body.ask("env.Sometimes", wire.AskChecks, 0, name)
}

var errHolds = errors.New("it holds")

// faultsGoOn says so if faults have struck and may do so again: what waits for the system to converge then may wait in vain.
func (e *Env) faultsGoOn() string {
	if s := e.Cluster().state(); e.calm || s.Faults == 0 || !s.Draws && len(s.Pending) == 0 {
		return ""
	}
	return ", with faults that go on (env.StopFaults ends them)"
}

// Eventually steps until hold returns nil, and fails the run if that takes more virtual time than within. Time passes only when
// nothing else can happen, so slow code does not use it up. hold is called on the body's goroutine, between steps, at once and then when
// something may have changed, and may make requests. Its last error is part of the report.
//
// A work queue's usual rate limiter, controller-runtime's too, puts off what has failed, in a long test for up to 16m40s: 20 minutes are enough for it. If the time was
// too short for that, the report says so.
func (e *Env) Eventually(name string, within time.Duration, hold func() error) {
	e.alive()
	deadline := time.Since(e.w.start) + within
	for {
		err := hold()
		if err == nil {
			return
		}
		if e.w.body.ask("env.Eventually", wire.AskChange, deadline).Flag() {
			if err = hold(); err == nil {
				return // by a timer of a process, which the engine does not see
			}
			e.w.tellWaiting()
			e.fail(name, fmt.Sprintf("still not true after %v%s: %v", within, e.faultsGoOn(), err))
		}
	}
}
