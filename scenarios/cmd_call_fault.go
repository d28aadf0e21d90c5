package scenarios

import (
	"strconv"
	"time"

	"github.com/informersim/informersim/scenarios/script"
	"github.com/informersim/informersim/subjects"
)

// reconcile sets how long reconciles take from now on, and how often they fail or panic. A rate is a number (of the next ones), a
// probability, always or never. key= sets that for one object, and overrides what is set for all.
//
//	reconcile c1 fails=3
//	reconcile c1 fails=always key=default/a
//	reconcile c1 takes=2s panics=0.1
var reconcileSpec = spec{
	name:  "reconcile",
	usage: "reconcile WORKER [takes=DURATION] [fails=RATE] [panics=RATE] [key=KEY]; a RATE is a number, a probability, always or never",
	doc:   "makes the reconciles of workers slow, fail or panic from now on",
	parse: func(r *script.ArgReader) Command { return parseCallFault(r, "reconcile", "worker", true) },
}

// handle sets how long the calls of a handler take from now on, and how often they panic. The process survives a panic, as with
// ReallyCrash off: the notification is lost, and the handler pauses for a second (I85).
//
//	handle h1 takes=2s
//	handle h1 panics=1 key=default/a
var handleSpec = spec{
	name:  "handle",
	usage: "handle HANDLER [takes=DURATION] [panics=RATE] [key=KEY]; a RATE is a number, a probability, always or never",
	doc:   "makes the calls of a handler slow or panic from now on",
	parse: func(r *script.ArgReader) Command { return parseCallFault(r, "handle", "handler", false) },
}

// maxTakes is the longest that a call may take: the world must still be able to heal.
const maxTakes = 5 * time.Minute

type callFaultCmd struct {
	name   string // of the command
	target string
	fault  subjects.CallFault
}

func parseCallFault(r *script.ArgReader, name, target string, fails bool) Command {
	c := &callFaultCmd{name: name, target: r.Next(target).Value}
	takes, slow := r.Key("takes")
	c.fault.Takes = upTo(r, "takes", maxTakes)
	failing := false
	if fails {
		c.fault.Fails, failing = rate(r, "fails")
	}
	panicking := false
	c.fault.Panics, panicking = rate(r, "panics")
	c.fault.Key = r.String("key", "")
	if !slow && !failing && !panicking && !r.Failed() {
		r.Fail(script.Errorf(takes.Pos, "write it like takes=2s or panics=1", "%s: no fault is given", name))
	}
	return c
}

// rate reads a RATE.
func rate(r *script.ArgReader, key string) (rate subjects.Rate, given bool) {
	a, given := r.Key(key)
	switch n, err := strconv.Atoi(a.Value); {
	case !given || a.Value == "never":
		return subjects.Rate{}, given
	case a.Value == "always":
		return subjects.Always, true
	case err == nil && n >= 0 && n <= 1_000_000:
		return subjects.Rate{Times: n}, true
	}
	p, err := strconv.ParseFloat(a.Value, 64)
	if err != nil || !(p >= 0 && p <= 1) {
		r.Fail(script.Errorf(a.Pos, "use a number, a probability like 0.1, always or never", "%s=%s is not a rate", key, a.Value))
		return subjects.Rate{}, true
	}
	return subjects.Rate{Odds: uint32(p * (1 << 16))}, true
}

func (c *callFaultCmd) faultKinds() []string {
	var kinds []string
	for _, k := range []struct {
		name string
		is   bool
	}{
		{"slow", c.fault.Takes > 0},
		{"fails", c.fault.Fails != subjects.Rate{}},
		{"panics", c.fault.Panics != subjects.Rate{}},
	} {
		if k.is {
			kinds = append(kinds, c.name+"-"+k.name)
		}
	}
	return kinds
}

func (c *callFaultCmd) declare(d *declarations, s *script.Command) error {
	if c.name == "reconcile" {
		return d.need(s, c.target, "worker")
	}
	return d.need(s, c.target, "handler", "worker")
}

func (c *callFaultCmd) run(w *World) error {
	if c.name == "reconcile" {
		w.workers[c.target].InjectFault(c.fault)
		return nil
	}
	return w.handlers[c.target].InjectFault(c.target, c.fault)
}
