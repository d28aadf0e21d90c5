package fakeapiserver

import (
	"fmt"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/fakeapiserver/store"
)

// Inject makes a fault happen: to requests and watches in flight and, if those are fewer than Count, to the next ones; later,
// if the fault has a time or a trigger. It fails if the fault is invalid (Fault.Validate), or names an unknown client,
// replica or resource.
func (c *Cluster) Inject(f fault.Fault) error {
	if err := f.Validate(); err != nil {
		return err
	}
	if fault.OfWebhook(f.Kind) {
		return fmt.Errorf("fault %s: it hits calls of webhooks, which only a Go test has (simtest.Options.Webhooks)", f.Kind)
	}
	if err := c.checkNames(&f); err != nil {
		return fmt.Errorf("fault %s: %w", f.Kind, err)
	}
	id := c.nextOrder()
	if t := f.After; t != nil {
		c.triggers = append(c.triggers, &armedTrigger{id: id, fault: f, left: max(t.Count, 1)})
		return nil
	}
	if wait := f.From - c.kernel.Elapsed(); wait > 0 {
		c.schedule(id, f, wait)
		return nil
	}
	return c.inject(id, f)
}

// injectLater injects a fault when it is due. An error then is not the caller's mistake and is dropped: the fault's revision
// has been compacted meanwhile.
func (c *Cluster) injectLater(id int, f fault.Fault) {
	f.From, f.After = 0, nil
	_ = c.inject(id, f)
}

func (c *Cluster) inject(id int, f fault.Fault) error {
	spec := fault.SpecOf(f.Kind)
	if f.Until > 0 && c.kernel.Elapsed() >= f.Until {
		return nil
	}
	switch spec.Stage {
	case fault.OnStore:
		return c.applyStoreFault(f)
	case fault.OnReplica:
		r, err := c.replicaNamed(f.Target)
		if err != nil {
			return err
		}
		r.applyFault(f)
		return nil
	}
	left := f.Count
	if left == 0 {
		left = 1
	}
	for _, victim := range c.victims(spec, &f) {
		if left == 0 {
			break
		}
		if c.drawChance(&f) {
			victim.applyFault(spec, f)
			left--
		}
	}
	if left > 0 {
		c.armed = append(c.armed, &armedFault{id: id, fault: f, spec: spec, left: left})
	}
	return nil
}

func (c *Cluster) checkNames(f *fault.Fault) error {
	switch fault.SpecOf(f.Kind).Stage {
	case fault.OnReplica:
		_, err := c.replicaNamed(f.Target)
		return err
	case fault.OnStore:
		return nil
	}
	if _, err := c.clientsNamed(f.Target); err != nil {
		return err
	}
	if f.Replica != "" {
		if _, err := c.replicaNamed(f.Replica); err != nil {
			return err
		}
	}
	plurals := []string{f.Resource}
	if f.After != nil {
		plurals = append(plurals, f.After.Resource)
	}
	for _, plural := range plurals {
		if err := c.mayAim(plural); err != nil {
			return err
		}
	}
	return nil
}

// drawChance draws whether the fault hits an eligible victim.
func (c *Cluster) drawChance(f *fault.Fault) bool {
	return f.Probability == 0 || f.Probability == 1 || c.kernel.Stream("fault/"+string(f.Kind)+"/chance").Chance(f.Probability)
}

// victims returns the requests and watches that a fault can hit now, in canonical order.
func (c *Cluster) victims(spec *fault.Spec, f *fault.Fault) []*call {
	clients, err := c.clientsNamed(f.Target)
	if err != nil {
		return nil
	}
	var hits []*call
	for _, cl := range clients {
		for _, k := range cl.calls {
			if k.maySuffer(spec, f) && k.matches(f) {
				hits = append(hits, k)
			}
		}
	}
	return hits
}

// arm hits a request, or a watch that has just opened, with the first armed fault that selects it.
func (c *Cluster) arm(k *call) {
	now := c.kernel.Elapsed()
	for n := 0; n < len(c.armed); n++ {
		a := c.armed[n]
		switch {
		case a.fault.Until > 0 && now >= a.fault.Until:
			c.disarm(n)
			n--
			continue
		case k.state != stateOpen && (a.fault.Replica != "") != (k.replica != nil):
			continue // faults with a replica hit at admission, the others at submission
		case !k.maySuffer(a.spec, &a.fault) || !k.matches(&a.fault) || !c.drawChance(&a.fault):
			continue
		}
		if a.left--; a.left == 0 {
			c.disarm(n)
		}
		k.applyFault(a.spec, a.fault)
		return
	}
}

func (c *Cluster) disarm(n int) { c.armed = append(c.armed[:n:n], c.armed[n+1:]...) }

// fireTriggers counts an event for the triggers that wait for it, and injects the faults that are due.
func (c *Cluster) fireTriggers(event string, cl *Client, res store.ResourceID, key, kind string) {
	var due []*armedTrigger
	keep := c.triggers[:0:0]
	for _, t := range c.triggers {
		if t.matches(event, cl, c.store.Resource(res), key, kind) {
			t.left--
		}
		if t.left > 0 {
			keep = append(keep, t)
		} else {
			due = append(due, t)
		}
	}
	c.triggers = keep
	for _, t := range due {
		if t.do != nil {
			t.do()
		} else if wait := t.fault.From - c.kernel.Elapsed(); wait > 0 {
			c.schedule(t.id, t.fault, wait)
		} else {
			c.injectLater(t.id, t.fault)
		}
	}
}
