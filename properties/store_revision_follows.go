package properties

import (
	"fmt"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
)

// StoreRevisionFollows says that when nothing is queued any more, the Indexer's resourceVersion is the one that the reflector has seen last.
var StoreRevisionFollows = Property{
	Name:      "StoreRevisionFollows",
	Statement: "when nothing is queued any more, the Indexer's resourceVersion is the one that the reflector has seen last",
	New:       property.AtEnd(storeRevisionFollows),
}

// storeRevisionFollows: when nothing is queued any more, the Indexer's resourceVersion is that of the last thing that the
// reflector has seen, bookmarks included (I70). Queues without bookmarks do not keep it.
func storeRevisionFollows(w World) *reports.Violation {
	for _, inf := range w.Informers() {
		if have, want := inf.StoreResourceVersion(), inf.LastSyncResourceVersion(); have != "" && have != want && !inf.Busy() {
			return &reports.Violation{
				Message: fmt.Sprintf("the Indexer of informer %s says that it is at rv=%s, its reflector has seen rv=%s, and nothing is queued", inf.Name(), have, want),
				Because: []reports.Evidence{{Step: w.Kernel().Steps(), At: w.Kernel().Elapsed(), Text: fmt.Sprintf("however the Indexer of %s is at rv=%s", inf.Name(), have)}},
			}
		}
	}
	return nil
}
