package simtest

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// check is a function that the body registered to run after every step.
type check struct {
	name string
	hold func() error
}

// checks are the checks that the body registered.
type checks struct {
	w         *world
	always    []check
	some      []check
	sometimes map[string]bool // by name: whether it has held
	under     atomic.Bool     // a check is running
}

func newChecks(w *world) *checks {
	return &checks{w: w, sometimes: map[string]bool{}}
}

// afterStep runs the checks.
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

// guarded runs checks on a goroutine of their own, because t.FailNow may end it.
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

var errFailNow = errors.New("it called t.FailNow")

// Always states an invariant: hold is called after every step from now on, and an error fails the run. Nothing else runs
// meanwhile, so hold may read any state of the processes; it must not make requests (use Get and List).
func (e *Env) Always(name string, hold func() error) {
	e.alive()
	w := e.w
	w.body.call(&call{name: "env.Always", do: func() { w.checks.always = append(w.checks.always, check{name, hold}) }})
}

// Sometimes states what some step of some seed must reach: cond is called after every step until it returns true. If it
// never does, in any seed that Run ran, the test fails, because it does not exercise what it should.
func (e *Env) Sometimes(name string, cond func() bool) {
	e.alive()
	w := e.w
	w.body.call(&call{name: "env.Sometimes", do: func() {
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

var errHolds = errors.New("it holds")

// Eventually steps until hold returns nil, and fails the run if that takes more virtual time than within. Time passes only when
// nothing else can happen, so slow code does not use it up. hold is called on the body's goroutine, between steps, and may make
// requests.
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
		w.body.call(&call{name: "env.Eventually", until: func() bool {
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
			message := fmt.Sprintf("still not true after %v: %v", within, err)
			w.body.call(&call{name: "a failure", do: func() { w.fail(name, message) }})
		}
	}
}
