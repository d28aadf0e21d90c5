package world

import (
	"slices"
	"strings"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/fault"
)

// Faults of webhooks that a test injects. The cluster knows nothing of webhooks, so its own list has none of them.

// armedWebhookFault waits for calls to hit.
type armedWebhookFault struct {
	id    int
	fault fault.Fault
	left  int
	over  bool // taken back, perhaps before it was armed
}

// firstWebhookOrder keeps the ids of these faults apart from those of the cluster's.
const firstWebhookOrder = 1 << 30

// inject orders a fault of a webhook's calls, and returns its id.
func (h *webhooks) inject(f fault.Fault) (id int, err error) {
	a := &armedWebhookFault{id: firstWebhookOrder + len(h.ordered), fault: f, left: max(f.Count, 1), over: f.Count < 0} // no call in flight can be hit
	h.ordered = append(h.ordered, a)
	arm := func() {
		if !a.over {
			h.armed = append(h.armed, a)
		}
	}
	switch wait := f.From - h.w.kernel.Elapsed(); {
	case f.After != nil:
		return a.id, h.w.cluster.OnTrigger(*f.After, f.Kind, f.Target, arm)
	case wait > 0:
		h.w.kernel.Clock().AfterFunc(wait, arm)
	default:
		arm()
	}
	return a.id, nil
}

func (h *webhooks) withdraw(id int) {
	for _, a := range h.ordered {
		a.over = a.over || a.id == id
	}
	h.armed = slices.DeleteFunc(h.armed, func(a *armedWebhookFault) bool { return a.id == id })
}

// pendingFaults are the faults that are yet to happen: the cluster's, and those of webhooks.
func (w *world) pendingFaults() []fakeapiserver.OrderedFault {
	all := w.cluster.Faults()
	if w.webhooks != nil {
		for _, a := range w.webhooks.armed {
			all = append(all, fakeapiserver.OrderedFault{ID: a.id, State: fakeapiserver.FaultArmed, Left: a.left, Fault: a.fault})
		}
	}
	return all
}

// stopFaults ends what is injected, and what calls might still meet.
func (h *webhooks) stopFaults() {
	for _, a := range h.ordered {
		a.over = true
	}
	h.armed = nil
	for _, c := range h.calls { // order: what is withdrawn does not depend on it
		keep := c.offers[:0:0]
		for _, o := range c.offers {
			if o.Kind == kindCallWebhook {
				keep = append(keep, o)
			} else {
				h.w.kernel.Withdraw(o)
			}
		}
		c.offers = keep
	}
}

// armedFault returns the first injected fault that hits a call which some faults are about.
func (h *webhooks) armedFault(about func(*fault.Fault) bool) (fault.Kind, bool) {
	now := h.w.kernel.Elapsed()
	for _, a := range h.armed {
		f := &a.fault
		if f.Until > 0 && now >= f.Until || !about(f) || f.Probability > 0 && f.Probability < 1 && !h.w.kernel.Stream("fault/"+string(f.Kind)+"/chance").Chance(f.Probability) {
			continue
		}
		if a.left--; a.left == 0 {
			h.withdraw(a.id)
		}
		return f.Kind, true
	}
	return "", false
}

// matches reports whether a fault is about the write that the call is about.
func (c *hookCall) matches(f *fault.Fault) bool {
	w := c.write
	return (f.Target == "" || strings.TrimPrefix(f.Target, "conn/") == w.Client) && (f.Resource == "" || f.Resource == w.Resource.Plural) &&
		(f.Namespace == "" || f.Namespace == w.Namespace) && (f.Name == "" || f.Name == w.Name) && (f.Verb == "" || verbFits(f.Verb, w.Operation))
}

// verbFits reports whether requests of a verb are admitted as an operation.
func verbFits(verb, operation string) bool {
	switch operation {
	case "CREATE":
		return verb == "create"
	case "DELETE":
		return verb == "delete" || verb == "deletecollection"
	}
	return verb == "update" || verb == "patch"
}
