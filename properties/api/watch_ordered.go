package api

import (
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// WatchOrdered checks the order of a watch's events.
func WatchOrdered() property.Property {
	return property.Property{
		Name:      "WatchOrdered",
		Statement: "the events of a watch, bookmarks included, come in the order of their resourceVersions",
		Kinds:     watchKinds,
		New: onEvents(func(w property.World, ow *openWatch, r *sim.Record) *reports.Violation {
			if r.RV >= ow.rv {
				return nil
			}
			return ow.violation(w, r, "a %s at rv=%d follows rv=%d", r.Detail, r.RV, ow.rv)
		}),
	}
}
