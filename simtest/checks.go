package simtest

import (
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// check is a function of the body's that is called after every step.
type check struct {
	name string
	hold func() error
}

// checks are what the body asks for.
type checks struct {
	w         *world
	always    []check
	some      []check
	sometimes map[string]bool // by name, whether it ever held
	under     atomic.Bool     // a function of the body's is called
}

func newChecks(w *world) *checks {
	return &checks{w: w, sometimes: map[string]bool{}}
}

// afterStep calls the body's functions.
func (c *checks) afterStep() {
	w := c.w
	if w.monitor.Violation() != nil || len(c.always)+len(c.some) == 0 {
		return
	}
	c.guarded(func(name *string) error {
		for _, a := range c.always {
			*name = a.name
			if err := a.hold(); err != nil {
				return err
			}
		}
		for _, s := range c.some {
			*name = s.name
			if !c.sometimes[s.name] && s.hold() != nil {
				c.sometimes[s.name] = true
			}
		}
		return nil
	})
}

// guarded calls functions of the body's on a goroutine of their own, since what they report to t may end it.
func (c *checks) guarded(f func(name *string) error) {
	var name string
	var err error
	done := make(chan bool)
	go func() {
		returned := false
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("it panicked: %v\n%s", v, debug.Stack())
			} else if !returned {
				err = errFailNow
			}
			close(done)
		}()
		err = f(&name)
		returned = true
	}()
	c.under.Store(true)
	<-done
	c.under.Store(false)
	if err != nil {
		c.w.fail(name, err.Error())
	}
}

var errFailNow = fmt.Errorf("it has failed the test")

// Always has hold called after every step, from now on. An error fails the run. Nothing moves meanwhile, so hold may look at
// whatever the processes have; it may not make requests (use Get and List).
func (e *Env) Always(name string, hold func() error) {
	e.alive()
	w := e.w
	w.body.ask(&ask{what: "env.Always", do: func() { w.checks.always = append(w.checks.always, check{name, hold}) }})
}

// Sometimes says what holds in some step of some seed: cond is called after every step until it is true. If it never was, in
// all seeds that Run has run, the test fails: it does not exercise what it should.
func (e *Env) Sometimes(name string, cond func() bool) {
	e.alive()
	w := e.w
	w.body.ask(&ask{what: "env.Sometimes", do: func() {
		if _, known := w.checks.sometimes[name]; !known {
			w.checks.sometimes[name] = false
		}
		w.checks.some = append(w.checks.some, check{name, func() error {
			if cond() {
				return errHolds
			}
			return nil
		}})
	}})
}

var errHolds = fmt.Errorf("it holds")

// Eventually steps until hold returns nil, and fails the run if that takes more virtual time than within. Time passes only when
// nothing else can happen, so nobody is late for having been slow. Hold is called on the body's goroutine, between steps; it may
// make requests.
func (e *Env) Eventually(name string, within time.Duration, hold func() error) {
	e.alive()
	w := e.w
	deadline := w.kernel.Elapsed() + within
	for {
		err := hold()
		if err == nil {
			return
		}
		over := false
		steps := w.kernel.Steps()
		w.body.ask(&ask{what: "env.Eventually", until: func() bool {
			left := deadline - w.kernel.Elapsed()
			switch quiet := w.quiet(); {
			case !quiet:
				w.kernel.Clock().Freeze()
			case left <= 0:
				over = true
			default:
				w.kernel.Clock().LimitTo(left)
			}
			return over || w.kernel.Steps() > steps
		}})
		if over {
			message := fmt.Sprintf("not so after %v: %v", within, err)
			w.body.ask(&ask{what: "a failure", do: func() { w.fail(name, message) }})
		}
	}
}
