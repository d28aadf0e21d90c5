package simtest

import "sync"

// calls counts the Runs and Finds of the tests in progress, by their names. A trace is of one of them, and the others must not take it for theirs: it fits none of them, which would
// look as if the program had changed.
var calls struct {
	sync.Mutex
	tests map[string]*callsOf
}

// callsOf are those of one test.
type callsOf struct {
	made   int
	traces map[string]int // by file that nobody has replayed yet, the number of the call that it is of
	met    map[string]bool
}

// numberOf counts a call of Run or Find, and returns its number among those of its test, from 1. It is 0 where a test's name stands for several of them.
func numberOf(tb TB) int {
	t, is := tb.(subtester)
	if !is {
		return 0
	}
	calls.Lock()
	defer calls.Unlock()
	if calls.tests == nil {
		calls.tests = map[string]*callsOf{}
	}
	name := t.Name()
	c := calls.tests[name]
	if c == nil {
		c = &callsOf{traces: map[string]int{}, met: map[string]bool{}}
		calls.tests[name] = c
		t.Cleanup(func() { c.end(t, name) })
	}
	c.made++
	return c.made
}

// met notes that a trace has been replayed, or that it is of another call.
func (r *runner) met(file string, other int) {
	calls.Lock()
	defer calls.Unlock()
	c := calls.tests[r.t.Name()]
	switch {
	case c == nil:
	case other == 0:
		c.met[file] = true
	default:
		c.traces[file] = other
	}
}

// end forgets the calls of a test that is over, and says which traces none of them has replayed. One that a flag names fails the test, which would say nothing
// of it otherwise; an older failure's is left where it is.
func (c *callsOf) end(t TB, name string) {
	calls.Lock()
	defer calls.Unlock()
	delete(calls.tests, name)
	for file, number := range c.traces { // order: there is mostly one
		if c.met[file] || t.Failed() || workerFor != "" {
			continue
		}
		const text = "simtest: %s is a trace of call %d of simtest.Run or Find in this test, which has made %d: it has not been replayed"
		if file == flags.replay {
			t.Errorf(text, file, number, c.made)
		} else {
			t.Logf(text, file, number, c.made)
		}
	}
}
