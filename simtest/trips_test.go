package simtest_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/simtest"
)

// What checks read is here: a kind is asked for once, whatever is selected of it, and each change comes with its step. Checks are called where time
// has passed, or something in the Store or in the bubble may have changed, and many steps are none of these.
func TestChecksMakeNoTrips(t *testing.T) {
	always, sometimes, eventually := 0, 0, 0
	read := func(env *simtest.Env) int {
		m, all := configMap("m0", ""), corev1.ConfigMapList{}
		if c := env.Cluster(); c.Revision() < 0 || c.Steps() == 0 || c.Faults() != 0 {
			t.Errorf("revision %d, %d steps, %d faults", c.Revision(), c.Steps(), c.Faults())
		}
		_ = env.Get(m)
		n := 0
		for _, o := range []metav1.ListOptions{{}, {LabelSelector: "app=web"}, {FieldSelector: "metadata.name!=m0"}} {
			if err := env.List(&all, "", o); err != nil {
				t.Error(err)
			}
			n += len(all.Items)
		}
		if err := env.List(&corev1.PodList{}, "", metav1.ListOptions{FieldSelector: "spec.nodeName=a"}); err != nil {
			t.Error(err)
		}
		return n
	}
	run := func(checked bool) (trips, queries, steps uint64) {
		return simtest.Counts(t, simtest.Options{Mix: "none", Replicas: 2}, func(env *simtest.Env) {
			if checked {
				env.Always("a", func() error { always++; read(env); return nil })
				env.Sometimes("s", func() bool { sometimes++; return read(env) < 0 })
			}
			var indexer cache.Indexer
			env.Go("mirror", mirror(env, "mirror", &indexer))
			for n := range 20 {
				env.Create(configMap(fmt.Sprint("m", n), ""))
			}
			env.Eventually("the last one is there", time.Minute, func() error {
				eventually++
				if read(env); len(indexer.ListKeys()) < 20 {
					return fmt.Errorf("there are %d", len(indexer.ListKeys()))
				}
				return nil
			})
			env.Advance(time.Hour)
		})
	}
	trips, queries, steps := run(true)
	if queries != 2 {
		t.Errorf("%d queries for two kinds", queries)
	}
	if calls := uint64(always); calls == 0 || calls > trips || calls >= steps || sometimes > always || sometimes < always-1 || eventually == 0 || eventually > always {
		t.Errorf("%d, %d and %d calls of checks in %d trips, %d steps", always, sometimes, eventually, trips, steps)
	}
	plain, queries, without := run(false)
	t.Logf("%d steps: %d trips without checks, %d with %d calls", steps, plain, trips, always)
	if queries != 2 { // of Eventually
		t.Errorf("%d queries for two kinds without checks", queries)
	}
	if without+2 != steps { // the two registrations
		t.Errorf("%d steps without checks, %d with", without, steps)
	}
}
