package clusterapi_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
)

// The controller deletes the infrastructure that belongs to a MachineSet and to none of the Machines in its cache. In a process that has just started, the
// cache may be from before a Machine was created: its infrastructure goes, and the Machine stays. Each kind is listed by itself, so that an apiserver that lags has
// the Machines, and another one the infrastructure.
func TestRestartTakesInfrastructure(t *testing.T) {
	o := options(t)
	o.Mix, o.Seeds, o.Replicas, o.WatchList = "none", 100, 2, simtest.Off
	found := simtest.Find(t, o, func(env *simtest.Env) {
		s, p := setUp(env)
		env.Eventually(asWanted, time.Hour, func() error { return agree(env, s) })
		p.mustStart(env)
		env.Inject(fault.Fault{Kind: fault.ReplicaLag, Target: "replica/1", Duration: time.Minute})
		four := int32(4)
		env.Mutate(s, func() { s.Spec.Replicas = &four })
		env.Eventually("there is a fourth Machine", 10*time.Minute, func() error {
			if n := len(env.Cluster().Keys("machines.cluster.x-k8s.io")); n != int(four) {
				return fmt.Errorf("there are %d", n)
			}
			return nil
		})
		p.started = false
		env.Restart("capi")
		p.mustStart(env)
		env.Eventually(asWanted, 5*time.Minute, func() error { return agree(env, s) })
	})
	if found == nil {
		t.Fatal("not found: has the controller been mended?")
	}
	if found.Property != asWanted || !strings.Contains(found.Message, "has no infrastructure") {
		t.Errorf("something else was found:\n%s", found)
	}
	t.Logf("found with seed %d, %d steps, %d faults: %s", found.Seed, found.Steps, found.Faults, found.Message)
}
