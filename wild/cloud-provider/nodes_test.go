package cloudprovider_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cloud-provider/api"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
	cloudprovider "github.com/informersim/informersim/wild/cloud-provider"
)

const (
	nodesAreInstances = "each instance has its Node, initialized, and there is no other"
	nodesStay         = "a Node stays as long as its instance"
	nodesHaveTheirIDs = "a Node has the ID of its own instance"
)

// In the end each instance has its Node, with its ID, its type and its zone, and no Node is left of one that is gone, whatever starts and ends meanwhile
// (kubernetes.io/docs/concepts/architecture/cloud-controller). No Node goes whose instance is there. Names are not used again: what then becomes of Nodes are
// findings of their own.
func TestNodes(t *testing.T) {
	again := simtest.Exception{Property: simtest.NoHotReconcile, Object: "nodes", Why: "TestConflictIsTriedAgainFromTheCache"}
	simtest.Run(t, simtest.Options{Properties: simtest.WellBehaved(again)}, func(env *simtest.Env) {
		c := setUp(env, func() bool { return env.Rand().IntN(5) == 0 })
		next := 0
		for range 15 {
			if env.Rand().IntN(3) > 0 {
				next++
				c.start(name(next))
				env.Create(newNode(name(next)))
			} else {
				end(env, c)
			}
			env.Advance(time.Duration(env.Rand().IntN(60)) * time.Second)
		}
		env.StopFaults()
		env.Eventually(nodesAreInstances, time.Hour, func() error { return agree(env, c) })
		c.fails = func() bool { return false } // an error that comes for ever is a finding
	})
}

// The controller deletes a Node whose instance is gone, by its name. Until its cache has seen that, it does so again every five seconds. Another instance of the
// same name that registers meanwhile loses its Node to that, and its kubelet registers only when it starts: the instance stays without a Node.
func TestNodeOfNextInstanceIsDeleted(t *testing.T) {
	found := simtest.Find(t, simtest.Options{Seeds: 20, Mix: "none"}, func(env *simtest.Env) {
		c := setUp(env, func() bool { return false })
		c.start("worker")
		former, next := newNode("worker"), newNode("worker")
		env.Create(former)
		env.Advance(time.Minute)
		setReady(env, former, corev1.ConditionUnknown)
		env.Advance(10 * time.Second)
		env.Inject(fault.Fault{Kind: fault.WatchStall, Target: "ccm", Resource: "nodes", Duration: 20 * time.Second})
		c.start("worker")
		env.Eventually("the former Node goes", 10*time.Second, func() error {
			if env.Get(former) == nil {
				return errors.New("it is there")
			}
			return nil
		})
		env.Create(next)
		env.Always(nodesStay, func() error { return env.Get(next) })
		env.Advance(time.Hour)
	})
	hasFound(t, found, nodesStay, `"worker" not found`)
}

// The controller asks the cloud for the instance of a Node, and writes what it has learned into whatever Node of that name its cache has when the answer
// comes. If the instance was replaced by another of the same name meanwhile, the new Node gets the ID of the former one, for good: an ID cannot be changed.
func TestNodeGetsIDOfFormerInstance(t *testing.T) {
	found := simtest.Find(t, simtest.Options{Seeds: 20, Mix: "none"}, func(env *simtest.Env) {
		c := setUp(env, func() bool { return false })
		env.Settle()
		c.start("worker")
		c.slow = 10 * time.Second
		former := newNode("worker")
		env.Create(former)
		env.Advance(time.Second)
		c.start("worker")
		env.Delete(former)
		env.Create(newNode("worker"))
		env.Eventually(nodesHaveTheirIDs, time.Hour, func() error { return agree(env, c) })
	})
	hasFound(t, found, nodesHaveTheirIDs, "has the ID example://worker-1")
}

// The controller writes what it has learned to the Node of its cache. If somebody has changed that meanwhile, it takes the Node from the cache again, up to twenty times, 50 to 100 ms
// apart, and then anew after a few more: as long as its watch stands still, each attempt conflicts like the one before.
func TestConflictIsTriedAgainFromTheCache(t *testing.T) {
	found := simtest.Find(t, simtest.Options{Seeds: 20, Mix: "none", Properties: simtest.WellBehaved()}, func(env *simtest.Env) {
		c := setUp(env, func() bool { return false })
		env.Settle()
		c.start("worker")
		c.slow = 10 * time.Second
		n := newNode("worker")
		env.Create(n)
		env.Advance(time.Second)
		env.Inject(fault.Fault{Kind: fault.WatchStall, Target: "ccm", Resource: "nodes", Duration: 30 * time.Second})
		env.Mutate(n, func() { n.Annotations = map[string]string{"example.com/note": "by its kubelet"} })
		env.Eventually(nodesAreInstances, time.Hour, func() error { return agree(env, c) })
	})
	hasFound(t, found, simtest.NoHotReconcile, "sends PUT /api/v1/nodes/worker 91 times")
}

func hasFound(t *testing.T, found *simtest.Finding, property, message string) {
	t.Helper()
	if found == nil {
		t.Fatal("not found: has the controller been mended?")
	}
	if found.Property != property || !strings.Contains(found.Message, message) {
		t.Errorf("something else was found:\n%s", found)
	}
	t.Logf("found with seed %d, %d steps, %d faults: %s", found.Seed, found.Steps, found.Faults, found.Message)
}

// setUp starts the controllers.
func setUp(env *simtest.Env, fails func() bool) *cloud {
	c := newCloud(fails)
	env.Go("ccm", func(ctx context.Context) error { return cloudprovider.RunNodes(ctx, env.RESTConfig("ccm"), c) })
	return c
}

func name(n int) string { return fmt.Sprintf("node-%d", n) }

// newNode is a Node as a kubelet registers it that was told of an external cloud provider.
func newNode(name string) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.NodeSpec{Taints: []corev1.Taint{{Key: api.TaintExternalCloudProvider, Value: "true", Effect: corev1.TaintEffectNoSchedule}}},
		Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
	}
}

// setReady says of a Node what its kubelet, or the lack of one, would make Kubernetes say.
func setReady(env *simtest.Env, n *corev1.Node, ready corev1.ConditionStatus) {
	patch := fmt.Sprintf(`{"status":{"conditions":[{"type":"Ready","status":%q}]}}`, ready)
	env.Patch(n, types.StrategicMergePatchType, patch, "status")
}

// end ends an instance that has a Node, which is not heard of any more.
func end(env *simtest.Env, c *cloud) {
	var nodes corev1.NodeList
	if env.List(&nodes, "") != nil {
		return
	}
	for i := range nodes.Items {
		if n := &nodes.Items[i]; c.instances[n.Name] != "" {
			delete(c.instances, n.Name)
			setReady(env, n, corev1.ConditionUnknown)
			return
		}
	}
}

func agree(env *simtest.Env, c *cloud) error {
	var nodes corev1.NodeList
	if err := env.List(&nodes, ""); err != nil {
		return err
	}
	var wrong error
	for _, n := range nodes.Items {
		id := c.instances[n.Name]
		switch {
		case id == "":
			wrong = errors.Join(wrong, fmt.Errorf("the Node %s is there, its instance is not", n.Name))
		case n.Spec.ProviderID != id:
			wrong = errors.Join(wrong, fmt.Errorf("the Node %s has the ID %s, its instance %s", n.Name, n.Spec.ProviderID, id))
		case len(n.Status.Addresses) != 1 || n.Labels[corev1.LabelTopologyZone] != "north" || n.Labels[corev1.LabelInstanceTypeStable] != "small":
			wrong = errors.Join(wrong, fmt.Errorf("the Node %s has the addresses %v and the labels %v", n.Name, n.Status.Addresses, n.Labels))
		}
		for _, taint := range n.Spec.Taints {
			if taint.Key == api.TaintExternalCloudProvider {
				wrong = errors.Join(wrong, fmt.Errorf("the Node %s is not initialized", n.Name))
			}
		}
	}
	if len(nodes.Items) != len(c.instances) {
		wrong = errors.Join(wrong, fmt.Errorf("there are %d Nodes and %d instances", len(nodes.Items), len(c.instances)))
	}
	return wrong
}
