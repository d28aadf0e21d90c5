package simtest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
)

// counting makes a ConfigMap every ten seconds until ctx ends.
func counting(ctx context.Context, client kubernetes.Interface, replica string) {
	for n := 0; ctx.Err() == nil; n++ {
		_, _ = client.CoreV1().ConfigMaps("default").Create(ctx, configMap(fmt.Sprint(replica, "-", n), ""), metav1.CreateOptions{})
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Second):
		}
	}
}

// electing has replicas that count while they lead, and the first one's Lease lost. One that reigns on does not end what it has begun as a leader; a free one also counts before it leads.
func electing(reignsOn, free bool) func(*simtest.Env) {
	return func(env *simtest.Env) {
		env.Replicas("counter", 2, func(ctx context.Context, replica string) error {
			client, err := kubernetes.NewForConfig(env.RESTConfig(replica))
			if err != nil {
				return err
			}
			if free {
				go counting(ctx, client, replica+"-free")
			}
			err = runElected(ctx, env.RESTConfig(replica), replica, func(leading context.Context) {
				if reignsOn {
					leading = ctx
				}
				go counting(leading, client, replica)
			})
			if reignsOn {
				<-ctx.Done()
			}
			return err
		})
		env.Advance(time.Minute)
		leader := env.Leader("default", "controller")
		env.Inject(fault.Fault{Kind: fault.Write503, Target: leader, Resource: "leases", Count: fault.Lasting})
		env.Eventually("another one leads", 5*time.Minute, func() error {
			if env.Leader("default", "controller") == leader {
				return errors.New("it still leads")
			}
			return nil
		})
		env.Advance(3 * time.Minute)
	}
}

// A replica whose Lease another one has taken has to end. QuietAfterConvergence is another matter: counting never ends.
func TestNoWriteAfterLease(t *testing.T) {
	counts := simtest.Exception{Property: simtest.QuietAfterConvergence, Why: "it counts"}
	o := simtest.Options{Seeds: 2, Mix: "none", Properties: simtest.WellBehaved(counts)}
	found := simtest.Find(t, o, electing(true, false))
	if found == nil || found.Property != simtest.NoWriteAfterLease {
		t.Fatalf("found %v", found)
	}
	wantIn(t, found.Text, "still writes configmaps default/counter-", "after its Lease was lost: counter-", " takes leases default/controller (RV ", " sends POST /api/v1/namespaces/default/configmaps")

	for name, body := range map[string]func(*simtest.Env){"ends": electing(false, false), "needs no Lease": electing(true, true)} {
		if found := simtest.Find(t, o, body); found != nil {
			t.Errorf("a replica that %s: found %v", name, found)
		}
	}
	o.Properties = simtest.WellBehaved(counts, simtest.Exception{Property: simtest.NoWriteAfterLease, Object: "configmaps", Why: "any replica may make them"})
	if found := simtest.Find(t, o, electing(true, false)); found != nil {
		t.Errorf("an exception: found %v", found)
	}
	o.Mix, o.Seeds, o.Properties = "", seeds(8), simtest.WellBehaved(counts)
	simtest.Run(t, o, electing(false, false))
}

// That a replica works on without its Lease is found although it loses none in the body: the run has its renewals fail, and then something to do.
func TestNoWriteAfterLeaseAtTheEnd(t *testing.T) {
	body := func(reignsOn bool) func(*simtest.Env) {
		return func(env *simtest.Env) {
			env.Replicas("keeper", 2, func(ctx context.Context, replica string) error {
				err := runElected(ctx, env.RESTConfig(replica), replica, func(leading context.Context) {
					if reignsOn {
						leading = ctx
					}
					_ = inOrderKeeper{}.run(leading, env.RESTConfig(replica))
				})
				if reignsOn {
					<-ctx.Done()
				}
				return err
			})
			env.Create(configMap("a", "one"))
			env.Advance(time.Minute)
		}
	}
	o := simtest.Options{Seeds: 4, Mix: "none", CrashProbability: 1e-9, Properties: just(simtest.NoWriteAfterLease)}
	if found := simtest.Find(t, o, body(true)); found == nil || found.Property != simtest.NoWriteAfterLease {
		t.Errorf("found %v", found)
	} else {
		t.Log(found)
		wantIn(t, found.Text, " still writes ", " after its Lease was lost: keeper-", " takes leases default/controller (RV ")
	}
	simtest.Run(t, o, body(false))
	o.Mix, o.CrashProbability, o.Seeds, o.Properties = "", 0, seeds(8), simtest.WellBehaved()
	simtest.Run(t, o, body(false))
}
