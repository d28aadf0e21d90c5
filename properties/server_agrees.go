package properties

import (
	"github.com/informersim/informersim/properties/fakeserver"
	"github.com/informersim/informersim/reports"
)

// ServerAgrees checks what the fake server makes of requests that informers do not send.
var ServerAgrees = Property{
	Name:      "ServerAgrees",
	Statement: "the fake server answers lists, watches and writes of all kinds, also those that informers never ask for, as its model says",
	New:       func() Checker { return Checker{End: serverAgrees} },
}

// serverAgrees asks a small server of its own, at the end of a run: that has nothing to do with it, except that its seed says what is asked, as in
// [LibraryAgrees].
func serverAgrees(w World) *reports.Violation {
	if rounds(w, 1) == 0 {
		return nil
	}
	if wrong := fakeserver.Check(w.Kernel().Seed()); wrong != "" {
		return &reports.Violation{Message: wrong}
	}
	return nil
}
