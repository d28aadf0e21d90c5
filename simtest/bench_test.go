package simtest_test

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/simtest"
)

// A whole run whose client lists 100 objects that exist before it starts.
func BenchmarkWorld(b *testing.B) {
	b.ReportAllocs()
	all := make([]simtest.Object, 100)
	for i := range all {
		all[i] = configMap(fmt.Sprintf("m%d", i), "0")
	}
	simtest.Run(b, simtest.Options{Seeds: b.N, Mix: "none"}, func(env *simtest.Env) {
		fresh := make([]simtest.Object, len(all))
		for i := range all {
			fresh[i] = all[i].DeepCopyObject().(simtest.Object)
		}
		env.Create(fresh...)
		var indexer cache.Indexer
		env.Go("mirror", mirror(env, "mirror", &indexer))
		env.Settle()
		if n := len(indexer.ListKeys()); n != 100 {
			b.Fatalf("the cache has %d objects", n)
		}
	})
}

// A step over HTTP: a request, a frame, an answer.
func BenchmarkStep(b *testing.B) {
	b.ReportAllocs()
	made := uint64(0)
	simtest.Run(b, simtest.Options{Seeds: 1, Mix: "none", MaxSteps: 1 << 40}, func(env *simtest.Env) {
		var indexer cache.Indexer
		env.Go("mirror", mirror(env, "mirror", &indexer))
		m := configMap("m", "0")
		env.Create(m)
		env.Advance(time.Second)
		before := env.Cluster().Steps()
		for i := 0; env.Cluster().Steps()-before < uint64(b.N); i++ {
			m.Data["v"] = fmt.Sprint(i)
			env.Update(m)
			env.Settle()
		}
		made = env.Cluster().Steps() - before
	})
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(made), "ns/step")
}
