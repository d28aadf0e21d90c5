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

// serverAgrees asks a small server of its own, at the end of a run: that has nothing to do with it, except that its seed says what is asked. Where many
// runs are made, it would take longer than all the rest of short ones, and only those of one seed in 32 ask.
func serverAgrees(w World) *reports.Violation {
	seed := w.Kernel().Seed()
	if w.Explores() && w.Kernel().Steps() < 256 && seed%32 != 0 {
		return nil
	}
	if wrong := fakeserver.Check(seed); wrong != "" {
		return &reports.Violation{Message: wrong}
	}
	return nil
}
