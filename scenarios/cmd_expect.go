package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/scenarios/script"
	"github.com/informersim/informersim/subjects"
)

// expect checks a state. It is part of the transcript: when a scenario is explored under other schedules, where the state may
// legitimately differ at this point, only the properties are checked.
//
//	expect i1 converged
//	expect i1 synced count=2 has=default/a missing=default/b
//	expect i1 converged within=30s
//	expect c1 idle within=10s
//	expect c1 busy queued=2
//	expect violation PerKeyOrder
//	expect violation PerKeyOrder,StoreBeforeNotify
var expectSpec = spec{
	name: "expect",
	usage: "expect INFORMER [converged|diverged] [synced|unsynced] [count=N] [has=KEY,...] [missing=KEY,...] [rv=N] [within=DURATION], or " +
		"expect WORKER [idle|busy] [queued=N] [within=DURATION], or expect violation PROPERTY,...",
	doc: "checks the state of an informer or of workers, now or within a duration; or names the properties one of which this scenario must break",
	parse: func(r *script.ArgReader) Command {
		first := r.Next("informer")
		if first.Value == "violation" {
			return parseViolation(r)
		}
		c := &expectCmd{target: first.Value, count: -1, queued: -1}
		for r.More() > 0 {
			c.states = append(c.states, r.NextOneOf("state", "converged", "diverged", "synced", "unsynced", "idle", "busy"))
		}
		c.count = r.Int("count", -1, 0, 1<<40)
		c.queued = r.Int("queued", -1, 0, 1<<40)
		c.rv = r.String("rv", "")
		c.has = r.List("has")
		c.missing = r.List("missing")
		c.within = upTo(r, "within", maxDuration)
		if len(c.states) == 0 && c.count < 0 && c.queued < 0 && c.rv == "" && c.has == nil && c.missing == nil && !r.Failed() {
			r.Fail(script.Errorf(first.Pos, "write it like expect i1 converged", "expect: nothing is expected"))
		}
		return c
	},
}

type expectCmd struct {
	target       string
	states       []string
	count        int
	queued       int
	rv           string
	has, missing []string
	within       time.Duration
	syntax       *script.Command
}

func (c *expectCmd) declare(d *declarations, s *script.Command) error {
	c.syntax = s
	if err := d.need(s, c.target, "informer", "worker"); err != nil {
		return err
	}
	for _, pair := range [][2]string{{"converged", "diverged"}, {"synced", "unsynced"}, {"idle", "busy"}} {
		if slices.Contains(c.states, pair[0]) && slices.Contains(c.states, pair[1]) {
			return script.Errorf(s.Pos, "leave one of them out", "expect: nothing is %s and %s", pair[0], pair[1])
		}
	}
	ofWorkers := c.queued >= 0
	ofInformers := c.count >= 0 || c.rv != "" || c.has != nil || c.missing != nil
	for _, state := range c.states {
		if state == "idle" || state == "busy" {
			ofWorkers = true
		} else {
			ofInformers = true
		}
	}
	switch isWorker := d.names[c.target] == "worker"; {
	case isWorker && ofInformers:
		return script.Errorf(s.Pos, "workers are idle or busy, and have queued=N", "expect: %s are workers, but this is for informers", c.target)
	case !isWorker && ofWorkers:
		return script.Errorf(s.Pos, "idle, busy and queued= are for workers", "expect: %s is an informer, but this is for workers", c.target)
	}
	return nil
}

func (c *expectCmd) run(w *World) error {
	if !w.transcript {
		return nil
	}
	unmet := func() string { return c.unmetBy(w, w.informers[c.target]) }
	if ws := w.workers[c.target]; ws != nil {
		unmet = func() string { return c.unmetByWorkers(ws) }
	}
	if c.within == 0 {
		if msg := unmet(); msg != "" {
			w.expectFailed(c.syntax, msg)
		}
		return nil
	}
	clock := w.kernel.Clock()
	w.wait("expect", func() { clock.LimitTo(c.within) }, func() bool {
		if unmet() == "" {
			return true
		}
		if clock.AtLimit() && w.kernel.Quiet() {
			w.expectFailed(c.syntax, fmt.Sprintf("%s after %v", unmet(), c.within))
			return true
		}
		return false
	})
	return nil
}

// unmetByWorkers describes the first unmet expectation of workers, "" if all are met.
func (c *expectCmd) unmetByWorkers(ws subjects.Workers) string {
	for _, s := range c.states {
		if ws.Busy() != (s == "busy") {
			return fmt.Sprintf("the workers %s are not %s", c.target, s)
		}
	}
	if c.queued >= 0 && ws.Queued() != c.queued {
		return fmt.Sprintf("%d keys are queued for the workers %s, want %d", ws.Queued(), c.target, c.queued)
	}
	return ""
}

// unmetBy describes the first unmet expectation of an informer, "" if all are met.
func (c *expectCmd) unmetBy(w *World, inf subjects.Informer) string {
	for _, s := range c.states {
		switch s {
		case "converged":
			if d := w.divergence(inf); d != "" {
				return d
			}
		case "diverged":
			if w.divergence(inf) == "" {
				return fmt.Sprintf("informer %s has converged with the store, want diverged", inf.Name())
			}
		case "synced", "unsynced":
			if inf.HasSynced() != (s == "synced") {
				return fmt.Sprintf("informer %s: HasSynced is %v, want %s", inf.Name(), inf.HasSynced(), s)
			}
		}
	}
	if c.count >= 0 && inf.Len() != c.count {
		return fmt.Sprintf("informer %s holds %d objects, want %d", inf.Name(), inf.Len(), c.count)
	}
	if c.rv != "" && inf.LastSyncResourceVersion() != c.rv {
		return fmt.Sprintf("informer %s has synced to resourceVersion %q, want %q", inf.Name(), inf.LastSyncResourceVersion(), c.rv)
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

// Expectations counts the states and outputs that the script expects, which only a transcript compares.
func (s *Scenario) Expectations() (n int) {
	for _, c := range s.cmds {
		if _, ok := c.Command.(*expectCmd); ok {
			n++
		}
		if c.syntax.Output != nil {
			n++
		}
	}
	return n
}

// violationCmd inverts the verdict: the scenario shows a known bug, and passes if the property breaks, at any step.
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

// checkExpected refuses a scenario that expects a property to break that a run with these properties does not have: it could not break.
func (s *Scenario) checkExpected(checked []property.Property) error {
	if len(checked) == 0 {
		return nil // a run that is not judged
	}
	for _, c := range s.cmds {
		v, ok := c.Command.(*violationCmd)
		if !ok {
			continue
		}
		names := []string{property.NoLivelock, property.NoPanic, property.NoDeadlock, property.NoLeak, property.NoDataRace}
		for i := range checked {
			names = append(names, checked[i].Name)
		}
		for _, name := range strings.Split(v.properties, ",") {
			if slices.Contains(names, name) {
				continue
			}
			hint := "docs/spec/properties.md has their names"
			if near := script.Suggest(name, names); near != "" {
				hint = fmt.Sprintf("did you mean %q?", near)
			}
			return script.Errorf(c.syntax.Pos, hint, "expect violation: there is no property %q", name)
		}
	}
	return nil
}

// expectedViolation returns the properties one of which the scenario must break, "" for none.
func (s *Scenario) expectedViolation() string {
	for _, c := range s.cmds {
		if v, ok := c.Command.(*violationCmd); ok {
			return v.properties
		}
	}
	return ""
}
