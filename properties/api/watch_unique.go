package api

import (
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// WatchUnique checks that no event of a watch comes twice.
func WatchUnique() property.Property {
	return property.Property{
		Name:      "WatchUnique",
		Statement: "no event of a watch comes twice, and none that it began after",
		Kinds:     watchKinds,
		New: onEvents(func(w property.World, ow *openWatch, r *sim.Record) *reports.Violation {
			if r.RV != ow.rv || r.Detail == string(watch.Bookmark) {
				return nil
			}
			return ow.violation(w, r, "the %s at rv=%d comes although the watch has been there", r.Detail, r.RV)
		}),
	}
}
