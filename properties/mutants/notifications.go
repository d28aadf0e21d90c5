package mutants

import (
	"github.com/informersim/informersim/informer"
	"github.com/informersim/informersim/subjects/stack"
)

// notificationMutants are wrong in what handlers are told, not in the store.
func notificationMutants() []Mutant {
	return []Mutant{
		{
			Name: "last-update-held-back", Defect: "handlers are notified of an update only when the next change of its key comes",
			Property: "HandlersConverge", Scenario: "watch_close", Kind: stack.With(stack.Parts{Process: heldBack}),
		}, {
			Name: "all-flagged-initial", Defect: "isInInitialList is true for every add",
			Property: "InitialListFlag", Scenario: "watch_close", Kind: stack.With(stack.Parts{Process: flagAll}),
		},
	}
}

// heldBack notifies handlers of a change only when the next change of its key comes: the last one never does.
func heldBack(c *informer.Controller) func(*informer.Popped) error {
	distribute, waiting := c.Distribute, map[string]informer.Notification{}
	c.Distribute = func(n informer.Notification) {
		last, held := waiting[n.Key]
		delete(waiting, n.Key)
		if held {
			distribute(last)
		}
		if n.Type == informer.NotifyUpdate && !n.IsSync() {
			waiting[n.Key] = n
			return
		}
		distribute(n)
	}
	return c.HandleDeltas
}

// flagAll says of every object that it is in the initial list.
func flagAll(c *informer.Controller) func(*informer.Popped) error {
	return func(p *informer.Popped) error {
		p.IsInInitialList = true
		return c.HandleDeltas(p)
	}
}
