package fakeapiserver

import (
	"strings"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/fakeapiserver/store"
)

// armedTrigger is a fault that waits for its trigger.
type armedTrigger struct {
	id    int
	fault fault.Fault
	left  int
	do    func() // instead of injecting the fault
}

// OnTrigger calls f once, in the step in which an event has happened as often as the trigger says: a frame reaches its client's side, a
// request is sent, or an object is committed, whose answer is then still to come. Like a fault, it is listed in Faults, under the kind and target
// that are given, and StopFaults drops it. It fails if the trigger is invalid (Trigger.Validate), or names an unknown resource.
func (c *Cluster) OnTrigger(t fault.Trigger, kind fault.Kind, target string, f func()) error {
	if err := t.Validate(); err != nil {
		return err
	}
	if err := c.mayAim(t.Resource); err != nil {
		return err
	}
	c.triggers = append(c.triggers, &armedTrigger{id: c.nextOrder(), fault: fault.Fault{Kind: kind, Target: target, After: &t}, left: max(t.Count, 1), do: f})
	return nil
}

func (t *armedTrigger) matches(event string, cl *Client, r *store.Resource, key, kind string) bool {
	w := t.fault.After
	want := w.Event
	if want == "" {
		want = fault.TriggerFrame
	}
	return want == event &&
		(w.Client == "" || cl != nil && strings.TrimPrefix(w.Client, "conn/") == strings.TrimPrefix(cl.name, "conn/")) &&
		(w.Resource == "" || r != nil && w.Resource == r.Plural) &&
		(w.Key == "" || w.Key == key) &&
		(w.Type == "" || strings.EqualFold(w.Type, kind))
}
