package simtest_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/informersim/informersim/simtest"
)

// runElected runs lead as long as the replica is the leader, as the main function of a controller does.
func runElected(ctx context.Context, config *rest.Config, replica string, lead func(ctx context.Context)) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: "default", Name: "controller"},
			Client:     client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: replica},
		},
		LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: lead, OnStoppedLeading: func() {}},
	})
	return errors.New("it leads no more")
}

// Three replicas elect a leader. Under all faults there is never a second one; and when the leader dies, another one takes over.
func ExampleEnv_Leader() {
	simtest.Run(t, simtest.Options{Seeds: 10}, func(env *simtest.Env) {
		leading := map[string]bool{}
		env.Replicas("controller", 3, func(ctx context.Context, replica string) error {
			return runElected(ctx, env.RESTConfig(replica), replica, func(ctx context.Context) {
				leading[replica] = true
				<-ctx.Done()
				delete(leading, replica)
			})
		})
		env.Always("at most one leads", func() error {
			if len(leading) > 1 {
				return fmt.Errorf("%d lead: %v", len(leading), leading)
			}
			return nil
		})
		leads := func() error {
			if !leading[env.Leader("default", "controller")] {
				return fmt.Errorf("the Lease is held by %q", env.Leader("default", "controller"))
			}
			return nil
		}
		env.Advance(5 * time.Minute)
		env.StopFaults()
		env.Eventually("one leads", time.Minute, leads)

		dead := env.Leader("default", "controller")
		env.Crash(dead)
		env.Eventually("another one leads", time.Minute, func() error {
			if env.Leader("default", "controller") == dead {
				return errors.New("the Lease is held by the dead")
			}
			return leads()
		})
	})
	fmt.Println("another one takes over")
	// Output: another one takes over
}
