package simtest_test

import (
	"slices"

	"github.com/informersim/informersim/simtest"
)

// just returns one of the ready-made properties.
func just(name string) []simtest.Property {
	return slices.DeleteFunc(simtest.WellBehaved(), func(p simtest.Property) bool { return p.Name != name })
}
