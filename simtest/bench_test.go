package simtest_test

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/simtest"
)

// A world with a client that has listed 100 objects, from nothing to its end.
func BenchmarkWorld(b *testing.B) {
	simtest.Run(b, simtest.Options{Seeds: b.N, Mix: "none"}, func(env *simtest.Env) {
		for i := range 100 {
			env.Create(configMap(fmt.Sprintf("m%d", i), "0"))
		}
		var indexer cache.Indexer
		env.Go("mirror", mirror(env, "mirror", &indexer))
		env.Eventually("synced", time.Minute, func() error { return converged(env, indexer) })
	})
}

// A step over HTTP: a request, a frame, an answer.
func BenchmarkStep(b *testing.B) {
	b.ReportAllocs()
	steps := uint64(0)
	simtest.Run(b, simtest.Options{Seeds: 1, Mix: "none", MaxSteps: 1 << 40}, func(env *simtest.Env) {
		var indexer cache.Indexer
		env.Go("mirror", mirror(env, "mirror", &indexer))
		m := configMap("m", "0")
		env.Create(m)
		env.Advance(time.Second)
		before := env.Cluster().Kernel().Steps()
		for i := 0; env.Cluster().Kernel().Steps()-before < uint64(b.N); i++ {
			m.Data["v"] = fmt.Sprint(i)
			env.Update(m)
			env.Settle()
		}
		steps = env.Cluster().Kernel().Steps() - before
	})
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(steps), "ns/step")
}
