package scenarios

import (
	"fmt"
	"time"

	"github.com/informersim/informersim/scenarios/script"
	"github.com/informersim/informersim/subjects"
)

// expect checks a state. It is part of the transcript: when a scenario is explored under other schedules, where the state
// at this point differs legitimately, only the properties are checked.
//
//	expect i1 converged
//	expect i1 synced count=2 has=default/a missing=default/b
//	expect i1 converged within=30s
//	expect violation PerKeyOrder
//	expect violation PerKeyOrder,StoreBeforeNotify
var expectSpec = spec{
	name:  "expect",
	usage: "expect INFORMER [converged|diverged] [synced|unsynced] [count=N] [has=KEY,...] [missing=KEY,...] [rv=N] [within=DURATION], or expect violation PROPERTY,...",
	doc:   "checks an informer's state now, or within a duration; or says which property this scenario breaks, or one of which",
	parse: func(r *script.ArgReader) Command {
		first := r.Next("informer")
		if first.Value == "violation" {
			return parseViolation(r)
		}
		c := &expectCmd{informer: first.Value, count: -1}
		for r.More() > 0 {
			c.states = append(c.states, r.NextOneOf("state", "converged", "diverged", "synced", "unsynced"))
		}
		c.count = r.Int("count", -1, 0, 1<<40)
		c.rv = r.String("rv", "")
		c.has = r.List("has")
		c.missing = r.List("missing")
		c.within = r.Duration("within", 0)
		if len(c.states) == 0 && c.count < 0 && c.rv == "" && c.has == nil && c.missing == nil && !r.Failed() {
			r.Fail(script.Errorf(first.Pos, "write it like expect i1 converged", "expect: it does not say what"))
		}
		return c
	},
}

type expectCmd struct {
	informer     string
	states       []string
	count        int
	rv           string
	has, missing []string
	within       time.Duration
	syntax       *script.Command
}

func (c *expectCmd) declare(d *declarations, s *script.Command) error {
	c.syntax = s
	return d.need(s, c.informer, "informer")
}

func (c *expectCmd) run(w *World) error {
	if !w.transcript {
		return nil
	}
	inf := w.informers[c.informer]
	if c.within == 0 {
		if msg := c.unmet(w, inf); msg != "" {
			w.expectFailed(c.syntax, msg)
		}
		return nil
	}
	clock := w.kernel.Clock()
	w.wait("expect", func() { clock.LimitTo(c.within) }, func() bool {
		if c.unmet(w, inf) == "" {
			return true
		}
		if clock.AtLimit() && w.kernel.Quiet() {
			w.expectFailed(c.syntax, fmt.Sprintf("%s after %v", c.unmet(w, inf), c.within))
			return true
		}
		return false
	})
	return nil
}

// unmet says what is not as expected, "" if all is.
func (c *expectCmd) unmet(w *World, inf subjects.Informer) string {
	for _, s := range c.states {
		switch s {
		case "converged":
			if d := w.divergence(inf); d != "" {
				return d
			}
		case "diverged":
			if w.divergence(inf) == "" {
				return fmt.Sprintf("informer %s equals the store", inf.Name())
			}
		case "synced", "unsynced":
			if inf.HasSynced() != (s == "synced") {
				return fmt.Sprintf("informer %s: HasSynced is %v", inf.Name(), inf.HasSynced())
			}
		}
	}
	if c.count >= 0 && inf.Len() != c.count {
		return fmt.Sprintf("informer %s holds %d objects, not %d", inf.Name(), inf.Len(), c.count)
	}
	if c.rv != "" && inf.LastSyncResourceVersion() != c.rv {
		return fmt.Sprintf("informer %s has synced to resourceVersion %q, not %q", inf.Name(), inf.LastSyncResourceVersion(), c.rv)
	}
	for _, k := range c.has {
		if _, ok := inf.Get(k); !ok {
			return fmt.Sprintf("informer %s does not hold %s", inf.Name(), k)
		}
	}
	for _, k := range c.missing {
		if _, ok := inf.Get(k); ok {
			return fmt.Sprintf("informer %s holds %s", inf.Name(), k)
		}
	}
	return ""
}

// violationCmd turns a run around: the scenario shows a known bug, and passes if that property is broken, whenever that is.
type violationCmd struct{ properties string } // comma-separated

func parseViolation(r *script.ArgReader) Command {
	a := r.Next("property")
	if a.Value != "" {
		if _, err := a.List(); err != nil {
			r.Fail(err)
		}
	}
	return &violationCmd{properties: a.Value}
}

func (*violationCmd) run(*World) error { return nil }

// expectedViolation are the properties of which the scenario says that it breaks one, "" for none.
func (s *Scenario) expectedViolation() string {
	for _, c := range s.cmds {
		if v, ok := c.Command.(*violationCmd); ok {
			return v.properties
		}
	}
	return ""
}
