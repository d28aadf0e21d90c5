package simtest_test

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/simtest"
)

// A whole run as users have them: an informer, writes, faults, crashes, and a body that waits until the cache is what the server has; also with an
// invariant that reads all objects.
func BenchmarkRun(b *testing.B) {
	for _, invariant := range []bool{false, true} {
		b.Run(fmt.Sprintf("invariant=%v", invariant), func(b *testing.B) {
			simtest.Run(b, simtest.Options{Seeds: b.N, Replicas: 2, CrashProbability: 1.0 / 1024}, func(env *simtest.Env) {
				var indexer cache.Indexer
				env.Go("mirror", mirror(env, "mirror", &indexer))
				if invariant {
					env.Always("it can be read", func() error { _ = converged(env, indexer); return nil })
				}
				workload(env)
				for i := range 20 {
					env.Create(configMap(fmt.Sprintf("n%d", i), "0"))
					env.Advance(time.Second)
				}
				env.StopFaults()
				env.Eventually("the cache is what the server has", 25*time.Minute, func() error { return converged(env, indexer) })
			})
		})
	}
}
