package scenarios

import (
	"strconv"
	"time"

	"github.com/informersim/informersim/scenarios/script"
	"github.com/informersim/informersim/subjects"
)

// reconcile says how the reconciles that begin from now on go: how long they take, and how often they fail or panic. A rate is
// a number (the next so many), a probability, always or never. key= is for one object, and goes before what is said for all.
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

// handle says how the calls of a handler go that begin from now on. A panic is survived, as with ReallyCrash off: the
// notification is lost, and the handler pauses for a second (I85).
//
//	handle h1 takes=2s
//	handle h1 panics=1 key=default/a
var handleSpec = spec{
	name:  "handle",
	usage: "handle HANDLER [takes=DURATION] [panics=RATE] [key=KEY]; a RATE is a number, a probability, always or never",
	doc:   "makes the calls of a handler slow or panic from now on",
	parse: func(r *script.ArgReader) Command { return parseCallFault(r, "handle", "handler", false) },
}

// maxTakes is how long a call may take. A world must be able to heal after it.
const maxTakes = 5 * time.Minute

type callFaultCmd struct {
	what   string // the command
	target string
	fault  subjects.CallFault
}

func parseCallFault(r *script.ArgReader, what, target string, fails bool) Command {
	c := &callFaultCmd{what: what, target: r.Next(target).Value}
	takes, slow := r.Key("takes")
	c.fault.Takes = r.Duration("takes", 0)
	if c.fault.Takes > maxTakes {
		r.Fail(script.Errorf(takes.Pos, "5m is the longest", "%s: takes=%s is too long", what, takes.Value))
	}
	failing := false
	if fails {
		c.fault.Fails, failing = rate(r, "fails")
	}
	panicking := false
	c.fault.Panics, panicking = rate(r, "panics")
	c.fault.Key = r.String("key", "")
	if !slow && !failing && !panicking && !r.Failed() {
		r.Fail(script.Errorf(takes.Pos, "write it like takes=2s or panics=1", "%s: it does not say what goes wrong", what))
	}
	return c
}

// rate reads how often something happens.
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
		r.Fail(script.Errorf(a.Pos, "use a number of times, a probability like 0.1, always or never", "%s=%s is no rate", key, a.Value))
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
			kinds = append(kinds, c.what+"-"+k.name)
		}
	}
	return kinds
}

func (c *callFaultCmd) declare(d *declarations, s *script.Command) error {
	if c.what == "reconcile" {
		return d.need(s, c.target, "worker")
	}
	return d.need(s, c.target, "handler", "worker")
}

func (c *callFaultCmd) run(w *World) error {
	if c.what == "reconcile" {
		w.workers[c.target].InjectFault(c.fault)
		return nil
	}
	return w.handlers[c.target].InjectFault(c.target, c.fault)
}
