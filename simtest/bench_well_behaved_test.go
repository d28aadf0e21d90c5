package simtest_test

import (
	"testing"

	"github.com/informersim/informersim/simtest"
)

// A run that the ready-made properties judge, of a controller with a finalizer: most of its steps are the probes after the body.
func BenchmarkWellBehaved(b *testing.B) {
	simtest.Run(b, simtest.Options{Seeds: b.N, Properties: simtest.WellBehaved()}, inOrderKeeper{}.test)
}
