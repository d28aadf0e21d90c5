package world

import (
	"github.com/informersim/informersim/properties/api"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// apiProperties are those of every client of a run, but for the workload's. WatchDeadlines is not among them: a controller's own
// requests may have any timeout, which is no mistake.
func apiProperties(w *world) []property.Property {
	o := api.Options{Restarts: []sim.Kind{KindProcess}, Ignores: func(id sim.ActorID) bool { return id == w.helpers }}
	return []property.Property{
		api.ListIsAtOneRevision(), api.WatchOrdered(), api.WatchUnique(), api.WatchReliable(), api.NoRelistOnEOF(o), api.WatchResumes(o),
		noHotLoop(func(client string) bool { return w.byName[client] != nil }),
	}
}
