package simtest_test

import (
	"slices"

	"github.com/informersim/informersim/simtest"
)

// just returns some ready-made properties: a run that is judged by others, too, goes on differently.
func just(names ...string) []simtest.Property {
	return slices.DeleteFunc(simtest.WellBehaved(), func(p simtest.Property) bool { return !slices.Contains(names, p.Name) })
}
