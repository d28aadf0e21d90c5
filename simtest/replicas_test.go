package simtest_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/informersim/informersim/simtest"
)

// Replicas are processes of their own: each has its name, its client and its crashes.
func TestReplicas(t *testing.T) {
	simtest.Run(t, simtest.Options{Seeds: 3, Mix: "none"}, func(env *simtest.Env) {
		starts := map[string]int{}
		env.Replicas("c", 3, func(ctx context.Context, replica string) error {
			starts[replica]++
			maps := kubernetes.NewForConfigOrDie(env.RESTConfig(replica)).CoreV1().ConfigMaps("default")
			if _, err := maps.Create(ctx, configMap(replica, ""), metav1.CreateOptions{}); err != nil {
				return nil
			}
			<-ctx.Done()
			return nil
		})
		env.Settle()
		if keys := env.Cluster().Keys("configmaps"); !slices.Equal(keys, []string{"default/c-0", "default/c-1", "default/c-2"}) {
			t.Errorf("they have created %q", keys)
		}
		env.Restart("c-1")
		env.Settle()
		if starts["c-0"] != 1 || starts["c-1"] != 2 || starts["c-2"] != 1 {
			t.Errorf("they were started %v times", starts)
		}
	})
	wantIn(t, failure(t, simtest.Options{}, func(env *simtest.Env) { env.Replicas("c", 0, func(context.Context, string) error { return nil }) }), "at least one replica")
}

// The leader is found by its identity, by what is before the underscore, and if that is the name of a host, by who wrote the Lease.
func TestLeader(t *testing.T) {
	for identity, found := range map[string]bool{"NAME": true, "NAME_0b1c": true, "a-host_0b1c": true, "": false} {
		t.Run(identity, func(t *testing.T) {
			simtest.Run(t, simtest.Options{Seeds: 2, Mix: "none"}, func(env *simtest.Env) {
				if who := env.Leader("default", "lock"); who != "" {
					t.Errorf("without a Lease the leader is %q", who)
				}
				env.Replicas("c", 2, func(ctx context.Context, replica string) error {
					if replica == "c-0" {
						<-ctx.Done()
						return nil
					}
					return hold(ctx, env, replica, strings.ReplaceAll(identity, "NAME", replica))
				})
				env.Advance(time.Second)
				want := ""
				if found {
					want = "c-1"
				}
				if who := env.Leader("default", "lock"); who != want {
					t.Errorf("the leader is %q, want %q", who, want)
				}
			})
		})
	}
}

// hold holds the Lease default/lock.
func hold(ctx context.Context, env *simtest.Env, client, identity string) error {
	leases := kubernetes.NewForConfigOrDie(env.RESTConfig(client)).CoordinationV1().Leases("default")
	_, err := leases.Create(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "lock"}, Spec: coordinationv1.LeaseSpec{HolderIdentity: &identity}}, metav1.CreateOptions{})
	<-ctx.Done()
	return errors.Join(err, ctx.Err())
}

// What a test logs is among the last events of a failure, at its step.
func TestLogfIsInTheReport(t *testing.T) {
	wantIn(t, failure(t, simtest.Options{Mix: "none"}, func(env *simtest.Env) {
		env.Advance(time.Minute)
		env.Logf("attempt %d", 7)
		env.Create(configMap("a", ""))
		env.Eventually("never", time.Second, func() error { return errors.New("no") })
	}), "attempt 7", "commits ADDED of configmaps default/a")
}
