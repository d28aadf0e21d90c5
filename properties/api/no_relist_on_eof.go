package api

import (
	"slices"

	"github.com/informersim/informersim/scenarios/property"
)

// NoRelistOnEOF checks that the end of a watch that worked costs no list.
func NoRelistOnEOF(o Options) property.Property {
	return property.Property{
		Name:      "NoRelistOnEOF",
		Statement: "a clean close or EOF of a watch that delivered something costs a watch, not a list",
		Kinds:     slices.Concat(followerKinds, o.Restarts),
		New:       onRequests(o, func(b *breach) bool { return b.needless }),
	}
}
