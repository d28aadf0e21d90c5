package properties

import (
	"fmt"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
)

// StoreRevisionFollows checks that the Indexer's resourceVersion keeps up with the reflector's.
var StoreRevisionFollows = Property{
	Name:      "StoreRevisionFollows",
	Statement: "when nothing is queued, the Indexer's resourceVersion is the last one that the reflector saw",
	New:       property.AtEnd(storeRevisionFollows),
}

// storeRevisionFollows counts bookmarks, too (I70). With a queue that has no bookmarks, the Indexer has no resourceVersion.
func storeRevisionFollows(w World) *reports.Violation {
	for _, inf := range w.Informers() {
		if have, want := inf.StoreResourceVersion(), inf.LastSyncResourceVersion(); have != "" && have != want && !inf.Busy() {
			return &reports.Violation{
				Message: fmt.Sprintf("the Indexer of informer %s is at rv=%s, but its reflector saw rv=%s and nothing is queued", inf.Name(), have, want),
				Because: []reports.Evidence{{Step: w.Kernel().Steps(), At: w.Kernel().Elapsed(), Text: fmt.Sprintf("the Indexer of %s is at rv=%s", inf.Name(), have)}},
			}
		}
	}
	return nil
}
