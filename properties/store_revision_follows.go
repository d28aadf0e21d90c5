package properties

import (
	"fmt"

	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/sim"
)

// storeRevisionFollows: when nothing is queued any more, the Indexer's resourceVersion is that of the last thing that the
// reflector has seen, bookmarks included (I70). Queues without bookmarks do not keep it.
type storeRevisionFollows struct{}

func (storeRevisionFollows) Name() string { return "StoreRevisionFollows" }

func (storeRevisionFollows) Kinds() []sim.Kind { return nil }

func (storeRevisionFollows) Record(*scenarios.World, *sim.Record) *scenarios.Violation { return nil }

func (storeRevisionFollows) End(w *scenarios.World) *scenarios.Violation {
	for _, inf := range w.Informers() {
		if have, want := inf.StoreResourceVersion(), inf.LastSyncResourceVersion(); have != "" && have != want && !inf.Busy() {
			return &scenarios.Violation{
				Message: fmt.Sprintf("the Indexer of informer %s says that it is at rv=%s, its reflector has seen rv=%s, and nothing is queued", inf.Name(), have, want),
				Because: []scenarios.Evidence{{Step: w.Kernel().Steps(), At: w.Kernel().Elapsed(), Text: fmt.Sprintf("however the Indexer of %s is at rv=%s", inf.Name(), have)}},
			}
		}
	}
	return nil
}
