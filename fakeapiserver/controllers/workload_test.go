package controllers

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informersim/informersim/fakeapiserver/controllers/stages"
	"github.com/informersim/informersim/fakeapiserver/store"
)

// newNodesWorld returns a world with nodes, a scheduler, a node lifecycle controller, and those sets of stages.
func newNodesWorld(t *testing.T, nodes int, sets ...string) (w *world, told func() []string) {
	t.Helper()
	w = newWorld(t)
	w.add(store.Resource{Version: "v1", Plural: "nodes", Kind: "Node", New: func() runtime.Object { return &corev1.Node{} }})
	w.add(store.Resource{Version: "v1", Plural: "events", Kind: "Event", Namespaced: true, New: func() runtime.Object { return &corev1.Event{} }})
	w.do(func() error { return AddNodes(w.c, nodes) })
	var all []*stages.Stage
	for _, name := range sets {
		s, err := stages.Set(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s...)
	}
	if _, err := StartNodes(w.c, Options{}, all, true, nil); err != nil {
		t.Fatal(err)
	}
	var history []string
	w.c.OnCommit(func(_ store.ResourceID, done store.Committed) {
		pod, ok := done.Object.(*corev1.Pod)
		if !ok {
			return
		}
		state := string(pod.Status.Phase)
		if podReady(pod) {
			state += " ready"
		}
		if pod.DeletionTimestamp != nil {
			state += " terminating"
		}
		if done.Deleted {
			state = "gone"
		}
		if line := pod.Name + " " + state; !slices.Contains(history, line) || history[len(history)-1] != line {
			history = append(history, line)
		}
	})
	return w, func() []string { h := history; history = nil; return h }
}

func podReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue })
}

func newPod(name string, edit func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Generation: 1}, Spec: corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyAlways, Containers: []corev1.Container{{Name: "a", Image: "a:1"}, {Name: "b", Image: "b:1"}},
	}}
	if edit != nil {
		edit(p)
	}
	return p
}

func (w *world) createPod(p *corev1.Pod) {
	w.t.Helper()
	w.do(func() error { _, err := w.c.Create(w.pods, p); return err })
}

func (w *world) pod(name string) *corev1.Pod {
	obj, _ := w.c.Store().Get(w.pods, "default", name)
	p, _ := obj.(*corev1.Pod)
	return p
}

func (w *world) node(name string) *corev1.Node {
	id, _ := w.c.FindResource(schema.GroupResource{Resource: "nodes"})
	obj, _ := w.c.Store().Get(id, "", name)
	n, _ := obj.(*corev1.Node)
	return n
}

// A Pod is bound, starts, becomes ready, and after its deletion it is gone.
func TestPodsLive(t *testing.T) {
	for _, test := range []struct {
		name string
		edit func(*corev1.Pod)
		want string
	}{
		{"plain", nil, "p , p Pending, p Running ready"},
		{"init containers", func(p *corev1.Pod) {
			p.Spec.InitContainers = []corev1.Container{{Name: "i", Image: "i:1"}}
		}, "p , p Pending, p Running ready"},
		{"a readiness probe", func(p *corev1.Pod) { p.Spec.Containers[0].ReadinessProbe = &corev1.Probe{} }, "p , p Pending, p Running, p Running ready"},
		{"a readiness gate", func(p *corev1.Pod) {
			p.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/open"}}
		}, "p , p Pending, p Running"},
		{"that ends", func(p *corev1.Pod) { p.Spec.RestartPolicy = corev1.RestartPolicyNever }, "p , p Pending, p Running ready, p Succeeded"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w, told := newNodesWorld(t, 2, "pod")
			w.createPod(newPod("p", test.edit))
			w.advance(5 * time.Minute)
			h := slices.Compact(told())
			if got := strings.Join(h, ", "); got != test.want {
				t.Errorf("it was %s, want %s", got, test.want)
			}
			p := w.pod("p")
			if p.Spec.NodeName == "" || p.Status.PodIP == "" || p.Status.HostIP == "" || p.Status.StartTime == nil || len(p.Status.ContainerStatuses) != 2 {
				t.Errorf("it is %+v", p.Status)
			}
		})
	}
}

func TestPodsAreRemoved(t *testing.T) {
	w, told := newNodesWorld(t, 1, "pod")
	w.createPod(newPod("p", nil))
	w.advance(time.Minute)
	told()
	w.do(func() error { w.w.grace = PodGrace; return w.w.delete(object{w.pods, "default", "p", ""}, "") })
	w.advance(2 * time.Minute)
	if got := strings.Join(told(), ", "); got != "p Running ready terminating, p gone" {
		t.Error(got)
	}
}

// Two runs of a seed are one, and with faults each kind of them is reached in some seed's time.
func TestPodFaultsAreReached(t *testing.T) {
	seen := map[string]bool{}
	w, told := newNodesWorld(t, 3, "pod", "pod-faults", "node-faults")
	for i := range 150 {
		w.createPod(newPod(fmt.Sprintf("p%d", i), func(p *corev1.Pod) {
			p.Spec.RestartPolicy = []corev1.RestartPolicy{corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever}[i%3]
		}))
	}
	for range 120 {
		w.advance(time.Minute)
		for i := range 150 {
			p := w.pod(fmt.Sprintf("p%d", i))
			if p == nil {
				seen["gone"] = true
				continue
			}
			seen[string(p.Status.Phase)] = true
			seen[p.Status.Reason] = true
			for _, c := range p.Status.ContainerStatuses {
				if c.State.Waiting != nil {
					seen[c.State.Waiting.Reason] = true
				}
				if c.RestartCount > 0 && c.State.Running != nil {
					seen["restarted"] = true
				}
			}
		}
		for i := range 3 {
			if n := w.node(fmt.Sprintf("node-%d", i+1)); !nodeReady(n) {
				seen["node lost"] = true
			} else if seen["node lost"] && len(n.Spec.Taints) == 0 {
				seen["node back"] = true
			}
		}
	}
	told()
	for _, want := range []string{"Succeeded", "Failed", "Evicted", "ImagePullBackOff", "CrashLoopBackOff", "restarted", "node lost", "node back", "gone"} {
		if !seen[want] {
			t.Errorf("never seen: %s", want)
		}
	}
}

// The scheduler keeps to what Pods and nodes ask for, and says why a Pod waits.
func TestSchedulerChooses(t *testing.T) {
	for _, test := range []struct {
		name string
		node func(*corev1.Node)
		pod  func(*corev1.Pod)
		want string // the message; "" if it is bound
	}{
		{"plain", nil, nil, ""},
		{"selector", nil, func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "ssd"} }, "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector."},
		{"cordon", func(n *corev1.Node) { n.Spec.Unschedulable = true }, nil, "0/1 nodes are available: 1 node(s) were unschedulable."},
		{"taint", func(n *corev1.Node) {
			n.Spec.Taints = []corev1.Taint{{Key: "gpu", Value: "yes", Effect: corev1.TaintEffectNoSchedule}}
		}, nil, "0/1 nodes are available: 1 node(s) had untolerated taint(s) {gpu: yes}."},
		{"tolerated", func(n *corev1.Node) {
			n.Spec.Taints = []corev1.Taint{{Key: "gpu", Value: "yes", Effect: corev1.TaintEffectNoSchedule}}
		}, func(p *corev1.Pod) {
			p.Spec.Tolerations = []corev1.Toleration{{Key: "gpu", Operator: corev1.TolerationOpExists}}
		}, ""},
		{"room", nil, func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("33")}
		}, "0/1 nodes are available: 1 Insufficient cpu."},
	} {
		t.Run(test.name, func(t *testing.T) {
			w, _ := newNodesWorld(t, 1)
			if test.node != nil {
				id, _ := w.c.FindResource(schema.GroupResource{Resource: "nodes"})
				w.do(func() error {
					return w.w.change(object{res: id, name: "node-1"}, func(m metav1.Object) { test.node(m.(*corev1.Node)) })
				})
			}
			w.createPod(newPod("p", test.pod))
			w.advance(time.Minute)
			p := w.pod("p")
			c := p.Status.Conditions[0]
			if c.Type != corev1.PodScheduled || c.Message != test.want || (p.Spec.NodeName == "") != (test.want != "") {
				t.Errorf("on %q, %+v", p.Spec.NodeName, c)
			}
		})
	}
}

// A Pod that fits nowhere is bound as soon as there is room.
func TestSchedulerRetries(t *testing.T) {
	w, _ := newNodesWorld(t, 0)
	w.createPod(newPod("p", nil))
	w.advance(time.Minute)
	if p := w.pod("p"); p.Spec.NodeName != "" || p.Status.Conditions[0].Message != "no nodes available to schedule pods" {
		t.Fatalf("%+v", p.Status)
	}
	w.do(func() error { return AddNodes(w.c, 1) })
	if p := w.pod("p"); p.Spec.NodeName != "node-1" {
		t.Errorf("%+v", p)
	}
}

// The Pods of a node that is lost are not ready at once, terminate after five minutes, and are gone once it is back.
func TestNodeIsLost(t *testing.T) {
	w, told := newNodesWorld(t, 1, "pod")
	id, _ := w.c.FindResource(schema.GroupResource{Resource: "nodes"})
	set := func(ready corev1.ConditionStatus, taints []corev1.Taint) {
		w.do(func() error {
			return w.w.change(object{res: id, name: "node-1"}, func(m metav1.Object) {
				n := m.(*corev1.Node)
				n.Spec.Taints = taints
				for i := range n.Status.Conditions {
					if n.Status.Conditions[i].Type == corev1.NodeReady {
						n.Status.Conditions[i].Status = ready
					}
				}
			})
		})
	}
	w.createPod(newPod("p", nil))
	w.advance(time.Minute)
	told()
	now := metav1.NewTime(w.c.Now())
	set(corev1.ConditionUnknown, []corev1.Taint{{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoExecute, TimeAdded: &now}})
	w.advance(299 * time.Second)
	if got := strings.Join(told(), ", "); got != "p Running" {
		t.Errorf("within five minutes: %s", got)
	}
	w.advance(time.Hour)
	if got := strings.Join(told(), ", "); got != "p Running terminating" {
		t.Errorf("afterwards: %s", got)
	}
	set(corev1.ConditionTrue, nil)
	w.advance(time.Minute)
	if got := strings.Join(told(), ", "); got != "p gone" {
		t.Errorf("when it is back: %s", got)
	}
}
