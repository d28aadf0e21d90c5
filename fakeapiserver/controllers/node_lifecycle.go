package controllers

import (
	"fmt"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/sim"
)

// KindNode is the choice in which the node lifecycle controller looks at one node.
var KindNode = sim.RegisterKind("node", sim.ClassAction)

// NodeLifecycle does what follows from the state of nodes: Pods of one that is not ready are not ready; those that do not tolerate a
// NoExecute taint are deleted when their time is over; and those of a node that is gone are removed. It is the actor "node-lifecycle".
type NodeLifecycle struct {
	*worker[string]
	podsAndNodes
	wakes map[string]time.Time // when a node is looked at again
}

// defaultTolerationSeconds is how long Pods tolerate a node that is not ready or cannot be reached, unless they say otherwise: what the
// admission plugin DefaultTolerationSeconds adds to them.
const defaultTolerationSeconds = 300

// NewNodeLifecycle starts a node lifecycle controller. The cluster must serve pods and nodes.
func NewNodeLifecycle(c *fakeapiserver.Cluster, o Options) (*NodeLifecycle, error) {
	p, err := newPodsAndNodes(c)
	if err != nil {
		return nil, fmt.Errorf("no node lifecycle controller can run: %w", err)
	}
	l := &NodeLifecycle{podsAndNodes: p, wakes: map[string]time.Time{}}
	l.worker = newWorker(c.Kernel(), "node-lifecycle", KindNode, o, l.sync)
	l.rebuild()
	c.OnRestore(l.rebuild)
	c.OnCommit(func(id store.ResourceID, done store.Committed) {
		switch obj := done.Object.(type) {
		case *corev1.Node:
			if done.Deleted || !well(obj) {
				l.learn(func() { l.add(obj.Name) })
			}
		case *corev1.Pod:
			if node := obj.Spec.NodeName; node != "" && !done.Deleted && obj.DeletionTimestamp == nil {
				l.learn(func() {
					if n := l.node(node); n == nil || !well(n) {
						l.add(node)
					}
				})
			}
		}
	})
	return l, nil
}

func (l *NodeLifecycle) rebuild() {
	l.eachNode(func(n *corev1.Node) {
		if !well(n) {
			l.add(n.Name)
		}
	})
}

func (l *NodeLifecycle) node(name string) *corev1.Node {
	obj, _ := l.cluster.Store().Get(l.nodes, "", name)
	n, _ := obj.(*corev1.Node)
	return n
}

// well reports whether nothing follows from a node's state.
func well(n *corev1.Node) bool {
	for _, t := range n.Spec.Taints {
		if t.Effect == corev1.TaintEffectNoExecute {
			return false
		}
	}
	return nodeReady(n)
}

func (l *NodeLifecycle) sync(name string) {
	n := l.node(name)
	if n != nil && well(n) {
		return
	}
	now := l.cluster.Now()
	var pods []*corev1.Pod
	l.eachPod(func(p *corev1.Pod) {
		if p.Spec.NodeName == name {
			pods = append(pods, p)
		}
	})
	var err error
	for _, pod := range pods {
		if err == nil {
			err = l.follow(n, pod, now)
		}
	}
	switch {
	case fakeapiserver.Refused(err):
		l.again(name, retryRefused)
	case err != nil:
		l.cluster.Kernel().Fail(fmt.Errorf("node lifecycle controller: node %s: %w", name, err))
	}
}

// follow does with a Pod what follows from its node; n is nil if that is gone.
func (l *NodeLifecycle) follow(n *corev1.Node, pod *corev1.Pod, now time.Time) error {
	o := l.objectOf(pod)
	if n == nil {
		w := writer{cluster: l.cluster} // nothing runs any more, so there is no grace
		return w.delete(o, metav1.DeletePropagationBackground)
	}
	if !nodeReady(n) && !ended(pod) {
		for _, c := range pod.Status.Conditions {
			if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
				next := pod.DeepCopy()
				setPodCondition(next, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: "NodeNotReady"}, metav1.NewTime(now))
				if err := l.put(o, pod, next); err != nil {
					return err
				}
			}
		}
	}
	due, leaves := evictionTime(n, pod, now)
	switch {
	case !leaves || pod.DeletionTimestamp != nil:
		return nil
	case due.After(now):
		if at, set := l.wakes[n.Name]; !set || at.Before(now) || due.Before(at) {
			l.wakes[n.Name] = due
			l.again(n.Name, due.Sub(now))
		}
		return nil
	}
	return l.delete(o, metav1.DeletePropagationBackground)
}

// evictionTime returns when a Pod has to leave its node.
func evictionTime(n *corev1.Node, pod *corev1.Pod, now time.Time) (due time.Time, leaves bool) {
	for i := range n.Spec.Taints {
		t := &n.Spec.Taints[i]
		if t.Effect != corev1.TaintEffectNoExecute {
			continue
		}
		seconds, forEver := tolerated(pod, t)
		if forEver {
			continue
		}
		since := now
		if t.TimeAdded != nil {
			since = t.TimeAdded.Time
		}
		if at := since.Add(time.Duration(seconds) * time.Second); !leaves || at.Before(due) {
			due, leaves = at, true
		}
	}
	return due, leaves
}

// tolerated returns how long a Pod tolerates a taint.
func tolerated(pod *corev1.Pod, t *corev1.Taint) (seconds int64, forEver bool) {
	for i := range pod.Spec.Tolerations {
		tol := &pod.Spec.Tolerations[i]
		if !tol.ToleratesTaint(logr.Discard(), t, false) {
			continue
		}
		if tol.TolerationSeconds == nil {
			return 0, true
		}
		return max(*tol.TolerationSeconds, 0), false
	}
	if t.Key == corev1.TaintNodeUnreachable || t.Key == corev1.TaintNodeNotReady {
		return defaultTolerationSeconds, false
	}
	return 0, false
}
