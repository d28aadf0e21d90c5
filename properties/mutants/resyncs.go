package mutants

import (
	"github.com/informersim/informersim/informer"
	"github.com/informersim/informersim/subjects/stack"
)

// resyncMutants resync the wrong handlers, or none.
func resyncMutants() []Mutant {
	return []Mutant{
		{
			Name: "resync-never", Defect: "no handler is ever resynced",
			Property: "ResyncOnTime", Scenario: "resync_late_handler",
			Kind: stack.With(stack.Parts{Informer: func(i *informer.Informer) { i.Processor.ResyncCheckPeriod = 0 }}),
		}, {
			Name: "resync-of-all", Defect: "every handler is resynced at its informer's period",
			Property: "ResyncOnTime", Scenario: "resync_per_handler",
			Kind: stack.With(stack.Parts{ListenerOptions: func(o *informer.ListenerOptions) { o.ResyncPeriod = nil }}),
		},
	}
}
