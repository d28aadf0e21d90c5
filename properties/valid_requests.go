package properties

import (
	"fmt"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// ValidRequests checks that no list is asked for that a server must refuse: it would be asked for again and again, until a
// compaction ends it (k85221).
var ValidRequests = Property{
	Name:      "ValidRequests",
	Statement: "a request for a further page of a list names no resourceVersion",
	Kinds:     []sim.Kind{fakeapiserver.KindRequest},
	New:       property.OnRecord(validRequests),
}

func validRequests(w World, r *sim.Record) *reports.Violation {
	if _, q := askedFor(r); q == nil || q.Watch || q.Continue == "" || q.Options.ResourceVersion == "" {
		return nil
	}
	return &reports.Violation{
		Message: fmt.Sprintf("%s asks for a further page and names a resourceVersion, which servers refuse: %s", w.Kernel().ActorName(r.Actor), r.Detail),
		Because: []reports.Evidence{reports.Because(r, "the request")},
	}
}
