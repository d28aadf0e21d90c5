package controllers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	resources "k8s.io/component-helpers/resource"
	scheduling "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/sim"
)

// KindSchedule is the choice in which the scheduler decides about one Pod.
var KindSchedule = sim.RegisterKind("schedule", sim.ClassAction)

// Scheduler binds Pods to Nodes. It is the actor "scheduler". Node selectors, affinity to nodes, taints, cordons and requests are honoured;
// affinity between Pods, topology spread, priorities and volumes are not. Which of several suitable Nodes it is, is drawn.
type Scheduler struct {
	*worker[object]
	podsAndNodes
	waiting map[object]bool // Pods that fit nowhere
}

// NewScheduler starts a scheduler. The cluster must serve pods and nodes.
func NewScheduler(c *fakeapiserver.Cluster, o Options) (*Scheduler, error) {
	p, err := newPodsAndNodes(c)
	if err != nil {
		return nil, fmt.Errorf("no scheduler can run: %w", err)
	}
	s := &Scheduler{podsAndNodes: p, waiting: map[object]bool{}}
	s.worker = newWorker(c.Kernel(), "scheduler", KindSchedule, o, s.schedule)
	s.rebuild()
	c.OnRestore(s.rebuild)
	c.OnCommit(func(id store.ResourceID, done store.Committed) {
		if id == s.pods || id == s.nodes {
			s.learn(func() { s.committed(id, &done) })
		}
	})
	return s, nil
}

func (s *Scheduler) rebuild() {
	clear(s.waiting)
	s.eachPod(s.saw)
}

func (s *Scheduler) committed(id store.ResourceID, done *store.Committed) {
	pod, isPod := done.Object.(*corev1.Pod)
	if isPod && !done.Deleted {
		s.saw(pod)
	}
	if id == s.nodes || done.Deleted || isPod && ended(pod) { // there may be room now
		for _, o := range sortedObjects(s.waiting) {
			delete(s.waiting, o)
			s.add(o)
		}
	}
}

func sortedObjects(set map[object]bool) []object {
	all := make([]object, 0, len(set))
	for o := range set { // order: sorted below
		all = append(all, o)
	}
	slices.SortFunc(all, func(a, b object) int {
		return strings.Compare(a.namespace+"/"+a.name+"/"+string(a.uid), b.namespace+"/"+b.name+"/"+string(b.uid))
	})
	return all
}

// saw queues a Pod that has no node, unless it waits for one already.
func (s *Scheduler) saw(pod *corev1.Pod) {
	o := s.objectOf(pod)
	switch {
	case !schedulable(pod):
		delete(s.waiting, o)
	case !s.waiting[o]:
		s.add(o)
	}
}

func schedulable(pod *corev1.Pod) bool {
	by := pod.Spec.SchedulerName
	return pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil && len(pod.Spec.SchedulingGates) == 0 && !ended(pod) &&
		(by == "" || by == corev1.DefaultSchedulerName)
}

// schedule binds a Pod, or says why it cannot be.
func (s *Scheduler) schedule(o object) {
	obj, _ := s.get(o)
	pod, ok := obj.(*corev1.Pod)
	if !ok || !schedulable(pod) {
		return
	}
	used := s.used()
	var suitable []string
	refused := map[string]int{}
	total := 0
	s.eachNode(func(n *corev1.Node) {
		total++
		if why := unsuitable(pod, n, used[n.Name]); why != "" {
			refused[why]++
			return
		}
		suitable = append(suitable, n.Name)
	})
	now := metav1.NewTime(s.cluster.Now())
	var err error
	if len(suitable) > 0 {
		node := suitable[0]
		if len(suitable) > 1 {
			node = suitable[s.cluster.Kernel().Stream("scheduler").IntN(len(suitable))]
		}
		err = s.change(o, func(m metav1.Object) {
			pod := m.(*corev1.Pod)
			pod.Spec.NodeName = node
			setPodCondition(pod, corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}, now)
		})
	} else {
		s.waiting[o] = true
		next := pod.DeepCopy()
		message := fmt.Sprintf("0/%d nodes are available: %s.", total, counted(refused))
		if total == 0 {
			message = "no nodes available to schedule pods"
		}
		if setPodCondition(next, corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: message}, now) {
			err = s.put(o, pod, next)
		}
	}
	switch {
	case fakeapiserver.Refused(err):
		s.again(o, retryRefused)
	case err != nil:
		s.cluster.Kernel().Fail(fmt.Errorf("scheduler: pod %s/%s: %w", o.namespace, o.name, err))
	}
}

// counted lists reasons, as the real scheduler does.
func counted(reasons map[string]int) string {
	var all []string
	for why, n := range reasons { // order: sorted below
		all = append(all, fmt.Sprintf("%d %s", n, why))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// used returns what the Pods of each node ask for.
func (s *Scheduler) used() map[string]corev1.ResourceList {
	all := map[string]corev1.ResourceList{}
	s.eachPod(func(pod *corev1.Pod) {
		if pod.Spec.NodeName == "" || ended(pod) {
			return
		}
		sum := all[pod.Spec.NodeName]
		if sum == nil {
			sum = corev1.ResourceList{}
			all[pod.Spec.NodeName] = sum
		}
		addTo(sum, requests(pod))
	})
	return all
}

// requests returns what a Pod asks for, itself included.
func requests(pod *corev1.Pod) corev1.ResourceList {
	asked := resources.PodRequests(pod, resources.PodResourcesOptions{})
	asked[corev1.ResourcePods] = *resource.NewQuantity(1, resource.DecimalSI)
	return asked
}

func addTo(sum, more corev1.ResourceList) {
	for name, q := range more { // order: a sum
		have := sum[name]
		have.Add(q)
		sum[name] = have
	}
}

// unsuitable says why a Pod cannot run on a node; "" if it can.
func unsuitable(pod *corev1.Pod, node *corev1.Node, used corev1.ResourceList) string {
	if fits, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node); err != nil || !fits {
		return "node(s) didn't match Pod's node affinity/selector"
	}
	taints := node.Spec.Taints
	if node.Spec.Unschedulable {
		taints = append(slices.Clone(taints), corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
	}
	taint, untolerated := scheduling.FindMatchingUntoleratedTaint(logr.Discard(), taints, pod.Spec.Tolerations, func(t *corev1.Taint) bool {
		return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
	}, false)
	switch {
	case untolerated && taint.Key == corev1.TaintNodeUnschedulable:
		return "node(s) were unschedulable"
	case untolerated:
		return fmt.Sprintf("node(s) had untolerated taint(s) {%s: %s}", taint.Key, taint.Value)
	case !nodeReady(node):
		return "node(s) were not ready"
	}
	sum := corev1.ResourceList{}
	addTo(sum, used)
	asked := requests(pod)
	addTo(sum, asked)
	var short []string
	for name := range asked { // order: sorted below
		room, limited := node.Status.Allocatable[name]
		if need := sum[name]; (limited || name != corev1.ResourcePods) && need.Cmp(room) > 0 {
			short = append(short, string(name))
		}
	}
	slices.Sort(short)
	switch {
	case len(short) == 0:
		return ""
	case short[0] == string(corev1.ResourcePods):
		return "Too many pods"
	}
	return "Insufficient " + short[0]
}
