package simtest_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/simtest"
)

// A whole run whose client lists 100 objects that exist before it starts.
func BenchmarkWorld(b *testing.B) {
	b.ReportAllocs()
	simtest.Run(b, simtest.Options{Seeds: b.N, Mix: "none"}, func(env *simtest.Env) {
		k := env.Cluster().Kernel()
		k.Offer(k.Register(loader{b, env.Cluster()}), kindLoad, 0)
		env.Settle()
		var indexer cache.Indexer
		env.Go("mirror", mirror(env, "mirror", &indexer))
		env.Settle()
		if n := len(indexer.ListKeys()); n != 100 {
			b.Fatalf("the cache has %d objects", n)
		}
	})
}

var kindLoad = sim.RegisterKind("load", sim.ClassAction)

// loader fills a cluster in one step.
type loader struct {
	b *testing.B
	c *fakeapiserver.Cluster
}

func (loader) Name() string { return "loader" }

func (l loader) Apply(sim.Choice) {
	id, _ := l.c.FindResource(corev1.Resource("configmaps"))
	for i := range 100 {
		if _, err := l.c.Create(id, configMap(fmt.Sprintf("m%d", i), "0")); err != nil {
			l.b.Error(err)
		}
	}
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
