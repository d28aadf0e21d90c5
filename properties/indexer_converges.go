package properties

import (
	"fmt"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/scenarios/property"
)

// IndexerConverges says that when the faults have stopped, the Indexer equals the Store, object for object, within a bounded time.
var IndexerConverges = Property{
	Name:      "IndexerConverges",
	Statement: "when the faults have stopped, the Indexer equals the Store, object for object, within a bounded time",
	New:       property.AtEnd(indexerConverges),
}

// indexerConverges is called when the world has converged, or the time that it had is over.
func indexerConverges(w World) *reports.Violation {
	for _, inf := range w.Informers() {
		if key, msg := w.Divergence(inf); msg != "" {
			return &reports.Violation{Key: key, Message: fmt.Sprintf("%s; the faults stopped and %v passed since", msg, scenarios.ConvergenceTimeout)}
		}
		if !inf.HasSynced() {
			return &reports.Violation{Message: fmt.Sprintf("informer %s has not synced; the faults stopped and %v passed since", inf.Name(), scenarios.ConvergenceTimeout)}
		}
	}
	return nil
}
