package properties

import (
	"fmt"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/scenarios/property"
)

// IndexerConverges checks that the Indexer eventually equals the Store.
var IndexerConverges = Property{
	Name:      "IndexerConverges",
	Statement: "once the faults stop, the Indexer equals the Store, object for object, within a bounded time",
	New:       property.AtEnd(indexerConverges),
}

// indexerConverges is called once the world has converged or its time is up.
func indexerConverges(w World) *reports.Violation {
	for _, inf := range w.Informers() {
		if key, msg := w.Divergence(inf); msg != "" {
			return &reports.Violation{Key: key, Message: fmt.Sprintf("%s, %v after the faults stopped", msg, scenarios.ConvergenceTimeout)}
		}
		if !inf.HasSynced() && !refusesList(w, inf) {
			return &reports.Violation{Message: fmt.Sprintf("informer %s has not synced, %v after the faults stopped", inf.Name(), scenarios.ConvergenceTimeout)}
		}
	}
	return nil
}
