package simtest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/simtest"
)

func pod(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i:1"}}}}
}

func ready(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// Pods are bound, become ready, and are gone after their deletion, whatever a seed draws.
func TestNodes(t *testing.T) {
	simtest.Run(t, simtest.Options{Seeds: 8, Nodes: 2}, func(env *simtest.Env) {
		env.Create(pod("a"))
		env.Eventually("the Pod is ready", time.Hour, func() error {
			p := pod("a")
			if err := env.Get(p); err != nil {
				return err
			}
			if p.Status.Phase == corev1.PodFailed {
				return nil // evicted
			}
			if !ready(p) || p.Spec.NodeName != "node-1" && p.Spec.NodeName != "node-2" {
				return fmt.Errorf("on %q: %v", p.Spec.NodeName, p.Status.Conditions)
			}
			return nil
		})
		env.StopFaults()
		env.Delete(pod("a"))
		env.Eventually("the Pod is gone", 2*time.Hour, func() error {
			if p := pod("a"); env.Get(p) == nil {
				return fmt.Errorf("since %v it is to be deleted", p.DeletionTimestamp)
			}
			return nil
		})
	})
}

// Once the faults have stopped, every Pod that is left comes to run, lost nodes come back, and nothing fails any more.
func TestPodFaultsStop(t *testing.T) {
	simtest.Run(t, simtest.Options{Seeds: 4, Nodes: 2, Stages: []string{"pod", "pod-faults", "node-faults"}}, func(env *simtest.Env) {
		for _, name := range strings.Split("a b c d e f g h i j", " ") {
			env.Create(pod(name))
		}
		env.Advance(time.Hour)
		env.StopFaults()
		quiet := func() error {
			all := &corev1.PodList{}
			if err := env.List(all, "default"); err != nil {
				return err
			}
			for _, p := range all.Items {
				if p.Status.Phase != corev1.PodFailed && (p.DeletionTimestamp != nil || !ready(&p)) {
					return fmt.Errorf("%s: %s, deleted %v, %v", p.Name, p.Status.Phase, p.DeletionTimestamp, p.Status.Conditions)
				}
			}
			return nil
		}
		env.Eventually("the Pods run", time.Hour, quiet)
		env.Always("the Pods run", quiet)
		env.Advance(3 * time.Hour)
	})
}

// What the scheduler and the kubelets write is as it comes back from a client: an update that changes nothing of a Pod is no write.
func TestUpdateOfPodAsItIs(t *testing.T) {
	simtest.Run(t, simtest.Options{Seeds: 4, Mix: "none", Nodes: 2}, func(env *simtest.Env) {
		env.Advance(1500 * time.Millisecond) // the clock stands between two seconds
		env.Create(pod("a"))
		env.Eventually("the Pod is ready", time.Hour, func() error {
			p := pod("a")
			if err := env.Get(p); err != nil || !ready(p) {
				return fmt.Errorf("%v: %v", err, p.Status.Conditions)
			}
			return nil
		})
		p := pod("a")
		if err := env.Get(p); err != nil {
			t.Fatal(err)
		}
		was := p.ResourceVersion
		env.Update(p)
		if p.ResourceVersion != was {
			t.Errorf("it had the resourceVersion %s, and has %s", was, p.ResourceVersion)
		}
	})
}

// In some of the runs of few seeds Pods fail, and a test can pin that.
func TestPodsFail(t *testing.T) {
	find := func(o simtest.Options) *simtest.Finding {
		o.Seeds, o.Nodes = 4, 2
		return simtest.Find(t, o, func(env *simtest.Env) {
			env.Always("nothing goes wrong with a container", func() error {
				all := &corev1.PodList{}
				if err := env.List(all, "default"); err != nil {
					return nil
				}
				for _, p := range all.Items {
					for _, c := range p.Status.ContainerStatuses {
						if c.RestartCount > 0 || c.State.Waiting != nil && c.State.Waiting.Reason == "ImagePullBackOff" {
							return fmt.Errorf("%s: %+v", p.Name, c)
						}
					}
				}
				return nil
			})
			for _, name := range strings.Split("a b c d e f g h i j", " ") {
				env.Create(pod(name))
			}
			env.Advance(30 * time.Minute)
		})
	}
	if find(simtest.Options{}) == nil {
		t.Error("of four seeds, none lets a Pod fail")
	}
	if f := find(simtest.Options{Stages: []string{"pod"}}); f != nil {
		t.Errorf("with the set pod alone: %v", f)
	}
	if find(simtest.Options{Mix: "none", Stages: []string{"pod", "pod-faults"}}) == nil {
		t.Error("with the set pod-faults, no Pod fails")
	}
}

// Any object goes on by itself where a file says how; mistakes in it are found before anything runs.
func TestStages(t *testing.T) {
	simtest.Run(t, simtest.Options{Seeds: 2, Stages: []string{"testdata/stages.yaml"}}, func(env *simtest.Env) {
		m := configMap("a", "")
		m.Data = nil
		env.Create(m)
		env.Eventually("the ConfigMap is filled", 2*time.Minute, func() error {
			m := configMap("a", "")
			if err := env.Get(m); err != nil {
				return err
			}
			if m.Data["by"] != "stage" {
				return fmt.Errorf("its data are %v", m.Data)
			}
			return nil
		})
	})
	for name, want := range map[string]string{
		"gpu":           `Options.Stages: there is no set of stages "gpu": there are pod, pod-faults, node-faults, workload and workload-faults`,
		"./none.yaml":   "Options.Stages: open ./none.yaml: no such file",
		"nodes_test.go": "Options.Stages: nodes_test.go:1: a Stage cannot be read",
	} {
		wantIn(t, failure(t, simtest.Options{Stages: []string{name}}, func(*simtest.Env) {}), want)
	}
}
