package rabbitmq_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	rabbitmqv1beta1 "github.com/rabbitmq/cluster-operator/v2/api/v1beta1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
	"github.com/informersim/informersim/wild/rabbitmq"
)

const (
	asWanted = "each RabbitmqCluster has its StatefulSet, as it asks for, and says that it is reconciled"
	isGone   = "a RabbitmqCluster that is deleted is gone"
	isThere  = "a RabbitmqCluster whose Pods are ready is available"
	process  = "rabbitmq"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(simtest.Logger())
	os.Exit(m.Run())
}

// In the end each RabbitmqCluster has a StatefulSet of its size, with its configuration, and says that it has been reconciled, whatever is created, grown, configured, and deleted of what the controller has made
// (rabbitmq.com/kubernetes/operator/using-operator). None is deleted, which is a finding of its own (TestDeletedClusterComesBack), and what it says of its availability is another one.
func TestClusters(t *testing.T) {
	o := options(t)
	except := []simtest.Exception{{Property: simtest.NoRevival, Client: process, Object: "rabbitmqclusters", Why: "TestDeletedClusterComesBack: the run deletes one at the end"}}
	for _, p := range []string{simtest.NoForgottenChange, simtest.QuietAfterRestart} {
		except = append(except, simtest.Exception{Property: p, Client: process, Object: "rabbitmqclusters", Why: "TestUnseenEndpointsAreForgotten"})
	}
	o.Properties = simtest.WellBehaved(except...)
	simtest.Run(t, o, func(env *simtest.Env) {
		setUp(env)
		for n := range 10 {
			change(env, n)
			env.Advance(time.Duration(env.Rand().IntN(40)) * time.Second)
		}
		env.StopFaults()
		env.Eventually(asWanted, time.Hour, func() error { return agree(env) })
	})
}

// The finalizer is removed by controllerutil.CreateOrUpdate (removeFinalizer, since rabbitmq/cluster-operator#1864), up to three seconds after the RabbitmqCluster was read. If that has gone meanwhile, since the controller has removed its finalizer before and is told
// so late, or somebody else has, an empty one is created, and so another cluster of RabbitMQ, in its name.
func TestDeletedClusterComesBack(t *testing.T) {
	found := find(t, nil, func(env *simtest.Env) {
		c := deleteUnseen(env)
		env.Eventually(isGone, time.Hour, func() error {
			if env.Get(c) == nil {
				return fmt.Errorf("there is one, of %d Pods, with the image %q and the finalizers %v", *c.Spec.Replicas, c.Spec.Image, c.Finalizers)
			}
			return nil
		})
	})
	hasFound(t, found, isGone, "there is one, of 1 Pods, with the image \"rabbitmq:4.1.1-management\" and the finalizers [deletion.finalizers.rabbitmqclusters.rabbitmq.com]")
}

// Without a word of what is to hold, the same is found since the controller does not want what it has made.
func TestDeletedClusterIsRevived(t *testing.T) {
	found := find(t, simtest.WellBehaved(), func(env *simtest.Env) { deleteUnseen(env) })
	hasFound(t, found, simtest.NoRevival, "rabbitmq brings back rabbitmqclusters default/a, which somebody else has deleted: its reconcile of that creates it")
}

// deleteUnseen deletes a RabbitmqCluster of two Pods, of whose end the controller hears two seconds late.
func deleteUnseen(env *simtest.Env) *rabbitmqv1beta1.RabbitmqCluster {
	start := env.Now()
	setUp(env)
	c := newCluster("a", 2)
	env.Create(c)
	env.Eventually(asWanted, time.Hour, func() error { return agree(env) })
	now := env.Now().Sub(start)
	env.Inject(fault.Fault{
		Kind: fault.WatchDelay, Target: process, Resource: "rabbitmqclusters", Count: fault.Lasting, Duration: 2 * time.Second, From: now + 2*time.Second, Until: now + 10*time.Second,
	})
	env.Delete(c)
	env.Advance(time.Minute)
	env.StopFaults()
	return c
}

// Whether a RabbitmqCluster is available its Endpoints say, which the controller reads and whose changes it does not look at (SetupWithManager, getChildResources). Here they come to its cache after the StatefulSet that has its Pods ready.
func TestUnseenEndpointsKeepItUnavailable(t *testing.T) {
	found := find(t, nil, func(env *simtest.Env) {
		c := endpointsComeLate(env)
		env.Eventually(isThere, time.Hour, func() error {
			if err := env.Get(c); err != nil {
				return err
			}
			for _, x := range c.Status.Conditions {
				if x.Type == "ClusterAvailable" && x.Status != corev1.ConditionTrue {
					return fmt.Errorf("it says %s: %s", x.Status, x.Reason)
				}
			}
			return nil
		})
	})
	hasFound(t, found, isThere, "it says Unknown: CouldNotRetrieveEndpoints")
}

// Without a word of what is to hold, the same is found by what the controller writes once its informers have listed anew.
func TestUnseenEndpointsAreForgotten(t *testing.T) {
	found := find(t, simtest.WellBehaved(), func(env *simtest.Env) { endpointsComeLate(env) })
	hasFound(t, found, simtest.NoForgottenChange, "rabbitmqclusters default/a")
}

// endpointsComeLate creates a RabbitmqCluster, of whose Endpoints the controller's cache hears late.
func endpointsComeLate(env *simtest.Env) *rabbitmqv1beta1.RabbitmqCluster {
	setUp(env)
	env.Inject(fault.Fault{Kind: fault.WatchDelay, Target: process, Resource: "endpoints", Count: fault.Lasting, Duration: 30 * time.Second, Until: time.Minute})
	c := newCluster("a", 1)
	env.Create(c)
	env.Advance(2 * time.Minute)
	env.StopFaults()
	return c
}

func find(t *testing.T, ready []simtest.Property, body func(env *simtest.Env)) *simtest.Finding {
	t.Helper()
	o := options(t)
	o.Mix, o.Stages, o.CrashProbability, o.Properties = "none", []string{"pod"}, 1e-9, ready // a process that may crash is restarted for WellBehaved
	return simtest.Find(t, o, body)
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

func options(t *testing.T) simtest.Options {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/rabbitmq/cluster-operator/v2").Output()
	if err != nil {
		t.Fatal(err)
	}
	return simtest.Options{
		Scheme: rabbitmq.NewScheme(), CRDs: []string{filepath.Join(strings.TrimSpace(string(dir)), "config", "crd", "bases")},
		Nodes: 2, Controllers: []string{"statefulset", "endpoint"}, GarbageCollection: true,
	}
}

func setUp(env *simtest.Env) {
	env.Go(process, func(ctx context.Context) error { return rabbitmq.Run(ctx, env.RESTConfig(process)) })
}

func newCluster(name string, replicas int32) *rabbitmqv1beta1.RabbitmqCluster {
	c := &rabbitmqv1beta1.RabbitmqCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	c.Spec.Replicas = ptr.To(replicas)
	c.Spec.Persistence.Storage = ptr.To(resource.MustParse("0"))
	return c
}

// change creates a RabbitmqCluster, has one grow, changes its configuration or its plugins, or has somebody delete its StatefulSet.
func change(env *simtest.Env, n int) {
	var all rabbitmqv1beta1.RabbitmqClusterList
	if err := env.List(&all, ""); err != nil || len(all.Items) < 2 {
		env.Create(newCluster(fmt.Sprintf("r%d", n), 1+env.Rand().Int32N(2)))
		return
	}
	c := &all.Items[env.Rand().IntN(len(all.Items))]
	switch env.Rand().IntN(5) {
	case 0, 1:
		env.Mutate(c, func() { c.Spec.Replicas = ptr.To(*c.Spec.Replicas + 1) })
	case 2:
		env.Mutate(c, func() { c.Spec.Rabbitmq.AdditionalConfig = fmt.Sprintf("channel_max = %d", n) })
	case 3:
		env.Mutate(c, func() { c.Spec.Rabbitmq.AdditionalPlugins = []rabbitmqv1beta1.Plugin{"rabbitmq_mqtt"} })
	default:
		sts := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: c.Name + "-server"}}
		if env.Get(sts) == nil {
			env.Delete(sts)
		}
	}
}

func agree(env *simtest.Env) error {
	var all rabbitmqv1beta1.RabbitmqClusterList
	if err := env.List(&all, ""); err != nil {
		return err
	}
	for _, c := range all.Items {
		sts := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: c.Name + "-server"}}
		if err := env.Get(sts); err != nil {
			return err
		}
		if *sts.Spec.Replicas != *c.Spec.Replicas {
			return fmt.Errorf("%s asks for %d, and its StatefulSet for %d", c.Name, *c.Spec.Replicas, *sts.Spec.Replicas)
		}
		for _, x := range c.Status.Conditions {
			if x.Type == "ReconcileSuccess" && x.Status != corev1.ConditionTrue {
				return fmt.Errorf("%s says %s=%s %s %s", c.Name, x.Type, x.Status, x.Reason, x.Message)
			}
		}
		if c.Status.ObservedGeneration != c.Generation {
			return fmt.Errorf("%s has the generation %d, and says that it is reconciled at %d", c.Name, c.Generation, c.Status.ObservedGeneration)
		}
	}
	return nil
}
