package properties

import (
	"fmt"

	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/sim"
)

// indexerConverges is checked when the faults have stopped and the bound has passed or everything is equal before.
type indexerConverges struct{}

func (*indexerConverges) Name() string { return "IndexerConverges" }

func (*indexerConverges) Kinds() []sim.Kind { return nil }

func (*indexerConverges) Record(*scenarios.World, *sim.Record) *scenarios.Violation { return nil }

func (*indexerConverges) End(w *scenarios.World) *scenarios.Violation {
	for _, inf := range w.Informers() {
		if key, msg := w.Divergence(inf); msg != "" {
			return &scenarios.Violation{Key: key, Message: fmt.Sprintf("%s; the faults stopped and %v passed since", msg, scenarios.HealBound)}
		}
		if !inf.HasSynced() {
			return &scenarios.Violation{Message: fmt.Sprintf("informer %s has not synced; the faults stopped and %v passed since", inf.Name(), scenarios.HealBound)}
		}
	}
	return nil
}
