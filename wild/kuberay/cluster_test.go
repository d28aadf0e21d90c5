package kuberay_test

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	rayapi "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
	"github.com/informersim/informersim/wild/kuberay"
)

const (
	asWanted   = "each RayCluster has its head and as many workers as it asks for, and says so, and there are no others"
	noneIsLeft = "a RayCluster that is suspended has no Pods"
)

func init() { ctrl.SetLogger(simtest.Logger()) }

// In the end each RayCluster has one head and as many workers as it asks for, and says so, whatever comes, goes and is scaled, and which Pods others delete. None is suspended, since
// Pods may then be left, which is a finding of its own.
func TestRayCluster(t *testing.T) {
	t.Setenv("ENABLE_DETERMINISTIC_HEAD_POD_NAME", "true") // without it there may be two heads, and the controller asks its user to delete one
	o := options(t)
	o.Nodes, o.GarbageCollection, o.Properties = 3, true, simtest.WellBehaved()
	simtest.Run(t, o, func(env *simtest.Env) {
		setUp(env)
		env.Create(newCluster("a"))
		for range 12 {
			env.Advance(time.Duration(env.Rand().IntN(40)) * time.Second)
			change(env)
			if env.Rand().IntN(6) == 0 {
				env.Restart("operator")
			}
		}
		env.StopFaults()
		env.Eventually(asWanted, time.Hour, func() error { return agree(env) })
	})
}

// The Pods of a RayCluster are created, and the controller's watch of Pods does not show them yet. When the RayCluster is suspended, there is nothing to delete in the cache, and so it is suspended. Then
// the Pods appear, and run on: the controller does not look at those of a RayCluster that is suspended.
func TestSuspendedClusterKeepsPods(t *testing.T) {
	o := options(t)
	o.Mix = "none"
	found := simtest.Find(t, o, func(env *simtest.Env) {
		p := setUp(env)
		env.Eventually("it has started", time.Minute, p.hasStarted)
		c := newCluster("a")
		env.Inject(fault.Fault{Kind: fault.WatchStall, Target: "operator", Resource: "pods", Duration: 20 * time.Second})
		env.Create(c)
		env.Advance(5 * time.Second)
		env.Mutate(c, func() { c.Spec.Suspend = ptr.To(true) })
		env.Advance(time.Minute)
		env.StopFaults()
		env.Eventually(noneIsLeft, 15*time.Minute, func() error {
			var pods corev1.PodList
			if err := errors.Join(env.Get(c), env.List(&pods, "default")); err != nil {
				return err
			}
			if len(pods.Items) == 0 {
				return nil
			}
			return fmt.Errorf("there are %d Pods of a RayCluster that is suspended: %t", len(pods.Items), meta.IsStatusConditionTrue(c.Status.Conditions, string(rayapi.RayClusterSuspended)))
		})
	})
	if found == nil {
		t.Fatal("not found: has the controller been mended?")
	}
	if found.Property != noneIsLeft || !strings.Contains(found.Message, "there are 3 Pods of a RayCluster that is suspended: true") {
		t.Errorf("something else was found:\n%s", found)
	}
	t.Logf("found with seed %d, %d steps, %d faults: %s", found.Seed, found.Steps, found.Faults, found.Message)
}

// options have the CustomResourceDefinition that the project releases.
func options(t *testing.T) simtest.Options {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/ray-project/kuberay/ray-operator").Output()
	if err != nil {
		t.Fatal(err)
	}
	return simtest.Options{Scheme: kuberay.Scheme, CRDs: []string{
		filepath.Join(strings.TrimSpace(string(dir)), "config", "crd", "bases", "ray.io_rayclusters.yaml"),
	}}
}

// process is that of the controller.
type process struct{ started bool }

func (p *process) hasStarted() error {
	if p.started {
		return nil
	}
	return errors.New("it has not")
}

func setUp(env *simtest.Env) *process {
	p := &process{}
	env.Go("operator", func(ctx context.Context) error {
		return kuberay.Run(ctx, env.RESTConfig("operator"), func() { p.started = true })
	})
	return p
}

// newCluster has a head and two workers.
func newCluster(name string) *rayapi.RayCluster {
	pod := corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "ray", Image: "rayproject/ray:2.46.0"}}}}
	return &rayapi.RayCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: rayapi.RayClusterSpec{
		RayVersion:    "2.46.0",
		HeadGroupSpec: rayapi.HeadGroupSpec{RayStartParams: map[string]string{}, Template: pod},
		WorkerGroupSpecs: []rayapi.WorkerGroupSpec{{
			GroupName: "workers", Replicas: ptr.To[int32](2), MinReplicas: ptr.To[int32](0), MaxReplicas: ptr.To[int32](5), NumOfHosts: 1, RayStartParams: map[string]string{}, Template: pod,
		}},
	}}
}

// change creates, scales or deletes a RayCluster, or has somebody delete a Pod.
func change(env *simtest.Env) {
	c := newCluster([]string{"a", "b"}[env.Rand().IntN(2)])
	if env.Get(c) != nil {
		env.Create(newCluster(c.Name))
		return
	}
	switch env.Rand().IntN(5) {
	case 0:
		env.Delete(c)
	case 1:
		var pods corev1.PodList
		if env.List(&pods, "default") == nil && len(pods.Items) > 0 {
			if p := &pods.Items[env.Rand().IntN(len(pods.Items))]; p.DeletionTimestamp == nil {
				env.Delete(p)
			}
		}
	default:
		env.Mutate(c, func() { c.Spec.WorkerGroupSpecs[0].Replicas = ptr.To(env.Rand().Int32N(6)) })
	}
}

func agree(env *simtest.Env) error {
	var clusters rayapi.RayClusterList
	var pods corev1.PodList
	if err := errors.Join(env.List(&clusters, ""), env.List(&pods, "")); err != nil {
		return err
	}
	wanted := 0
	for _, c := range clusters.Items {
		heads, workers := 0, 0
		for _, p := range pods.Items {
			switch {
			case p.Labels["ray.io/cluster"] != c.Name:
			case p.Labels["ray.io/node-type"] == "head":
				heads++
			default:
				workers++
			}
		}
		want := int(*c.Spec.WorkerGroupSpecs[0].Replicas)
		if heads != 1 || workers != want || int(c.Status.AvailableWorkerReplicas) != want {
			return fmt.Errorf("the RayCluster %s has %d heads and %d workers, asks for %d, and says that there are %d", c.Name, heads, workers, want, c.Status.AvailableWorkerReplicas)
		}
		wanted += 1 + want
	}
	if len(pods.Items) != wanted {
		return fmt.Errorf("there are %d Pods, %d of which belong to RayClusters", len(pods.Items), wanted)
	}
	return nil
}
