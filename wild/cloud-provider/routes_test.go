package cloudprovider_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/controller-manager/pkg/features"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
	cloudprovider "github.com/informersim/informersim/wild/cloud-provider"
)

const (
	routesLeadToNodes = "the network of each Node has its route, which the Node says, and there is no other"
	routesStay        = "a Node keeps its route"
)

// In the end the network of each Node's Pods is led to that Node, whose condition says so, and no other is led anywhere, whatever Nodes come and go, with the
// networks of former ones (kubernetes.io/docs/concepts/architecture/cloud-controller).
func TestRoutes(t *testing.T) {
	simtest.Run(t, simtest.Options{Properties: simtest.WellBehaved()}, testRoutes)
}

// With CloudControllerManagerWatchBasedRoutesReconciliation, an alpha feature, the controller looks when a Node comes, goes or changes its networks, and in
// place of every ten seconds every twelve hours or more. It queues itself again when it fails, says the code. But that it could not make a route is only
// logged (reconcile returns nil), so there is none until some other Node comes or goes.
func TestFailedRouteIsNotTriedAgain(t *testing.T) {
	watchBased(t)
	found := simtest.Find(t, simtest.Options{Seeds: 20, Mix: "none"}, func(env *simtest.Env) {
		calls := 0
		c := startRoutes(env, func() bool { calls++; return calls == 2 })
		env.Settle()
		env.Create(nodeOfNetwork(1, 1))
		env.Eventually(routesLeadToNodes, time.Hour, func() error { return routesAgree(env, c) })
	})
	hasFound(t, found, routesLeadToNodes, "there are 0 routes to 1 Nodes")
}

// A controller that starts believes the first list, which an apiserver that lags may have answered if there are no streaming lists. It removes the route of a
// Node that the list lacks.
func TestRestartRemovesRoute(t *testing.T) {
	found := simtest.Find(t, simtest.Options{Seeds: 20, Mix: "none", Replicas: 2, WatchList: simtest.Off}, func(env *simtest.Env) {
		c := startRoutes(env, func() bool { return false })
		env.Settle()
		env.Inject(fault.Fault{Kind: fault.ReplicaLag, Target: "replica/1", Duration: time.Minute})
		env.Create(nodeOfNetwork(1, 1))
		env.Eventually("the Node has a route", 5*time.Minute, func() error { return routesAgree(env, c) })
		env.Always(routesStay, func() error {
			if len(c.routes) == 0 {
				return errors.New("the Node lives, and its route is gone")
			}
			return nil
		})
		env.Inject(fault.Fault{Kind: fault.ListStale, Target: "ccm", Resource: "nodes"})
		env.Restart("ccm")
		env.Advance(10 * time.Minute)
	})
	hasFound(t, found, routesStay, "its route is gone")
}

// watchBased sets the feature's gate for a test.
func watchBased(t *testing.T) {
	t.Helper()
	set := func(on bool) {
		if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(map[string]bool{string(features.CloudControllerManagerWatchBasedRoutesReconciliation): on}); err != nil {
			t.Fatal(err)
		}
	}
	set(true)
	t.Cleanup(func() { set(false) })
}

func testRoutes(env *simtest.Env) {
	c := startRoutes(env, func() bool { return env.Rand().IntN(6) == 0 })
	used := map[int]int{} // the networks of Nodes
	for next := range 15 {
		network := env.Rand().IntN(4)
		if n, there := used[network]; there {
			env.Delete(nodeOfNetwork(n, network))
			delete(used, network)
		} else {
			env.Create(nodeOfNetwork(next, network))
			used[network] = next
		}
		env.Advance(time.Duration(env.Rand().IntN(30)) * time.Second)
	}
	env.StopFaults()
	c.fails = func() bool { return false }
	env.Eventually(routesLeadToNodes, time.Hour, func() error { return routesAgree(env, c) })
}

func startRoutes(env *simtest.Env, fails func() bool) *cloud {
	c := newCloud(fails)
	_, pods, err := net.ParseCIDR("10.0.0.0/8")
	if err != nil {
		panic(err)
	}
	env.Go("ccm", func(ctx context.Context) error { return cloudprovider.RunRoutes(ctx, env.RESTConfig("ccm"), c, pods) })
	return c
}

// nodeOfNetwork is a Node to which a network for its Pods was given.
func nodeOfNetwork(n, network int) *corev1.Node {
	cidr := fmt.Sprintf("10.%d.0.0/16", network)
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name(n)}, Spec: corev1.NodeSpec{PodCIDR: cidr, PodCIDRs: []string{cidr}}}
}

func routesAgree(env *simtest.Env, c *cloud) error {
	var nodes corev1.NodeList
	if err := env.List(&nodes, ""); err != nil {
		return err
	}
	want := map[string]string{}
	for _, n := range nodes.Items {
		want[n.Spec.PodCIDR] = n.Name
	}
	if !maps.Equal(want, c.routes) {
		return fmt.Errorf("there are %d routes to %d Nodes: %v, in place of %v", len(c.routes), len(nodes.Items), c.routes, want)
	}
	for _, n := range nodes.Items {
		if !networkAvailable(&n) {
			return fmt.Errorf("the Node %s has its route, and the conditions %v", n.Name, n.Status.Conditions)
		}
	}
	return nil
}

func networkAvailable(n *corev1.Node) bool {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeNetworkUnavailable {
			return c.Status == corev1.ConditionFalse
		}
	}
	return false
}
