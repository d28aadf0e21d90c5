package controllers

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/controllers/stages"
	"github.com/informersim/informersim/fakeapiserver/store"
)

// StartNodes starts what makes Pods and other objects go on by themselves: the stages, if there are any, and, with nodes, a scheduler and a
// node lifecycle controller. The StageController is nil without stages; failed is NewStageController's.
func StartNodes(c *fakeapiserver.Cluster, o Options, all []*stages.Stage, nodes bool, failed func(error)) (s *StageController, err error) {
	if len(all) > 0 {
		s = NewStageController(c, o, all, failed)
	}
	if !nodes {
		return s, nil
	}
	if _, err := NewScheduler(c, o); err != nil {
		return s, err
	}
	_, err = NewNodeLifecycle(c, o)
	return s, err
}

// AddNodes adds that many Nodes, "node-1" and so on, that are ready and have room for 110 Pods each. Those that exist stay as they are.
func AddNodes(c *fakeapiserver.Cluster, n int) error {
	id, ok := c.FindResource(schema.GroupResource{Resource: "nodes"})
	if !ok {
		return fmt.Errorf("no nodes can be added: the cluster does not serve nodes")
	}
	now := metav1.NewTime(c.Now())
	for i := range n {
		node := newNode(fmt.Sprintf("node-%d", i+1), now.Rfc3339Copy())
		if have, _ := c.Store().Get(id, "", node.Name); have != nil {
			continue
		}
		if c.Store().Resource(id).Empty().GetObjectKind().GroupVersionKind().Kind != "" {
			node.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Node"))
		}
		if _, err := c.Create(id, node); err != nil {
			return err
		}
	}
	return nil
}

func newNode(name string, now metav1.Time) *corev1.Node {
	room := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("32"), corev1.ResourceMemory: resource.MustParse("256Gi"),
		corev1.ResourceEphemeralStorage: resource.MustParse("1Ti"), corev1.ResourcePods: resource.MustParse("110"),
	}
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			corev1.LabelHostname: name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64",
		}},
		Status: corev1.NodeStatus{
			Capacity: room, Allocatable: room,
			NodeInfo: corev1.NodeSystemInfo{OperatingSystem: "linux", Architecture: "amd64", KubeletVersion: "v1.37.0"},
		},
	}
	well := stages.NodeConditions()
	for _, c := range append(well[1:], well[0]) { // a kubelet writes Ready last
		node.Status.Conditions = append(node.Status.Conditions, corev1.NodeCondition{
			Type: corev1.NodeConditionType(c["type"]), Status: corev1.ConditionStatus(c["status"]), Reason: c["reason"], Message: c["message"],
			LastHeartbeatTime: now, LastTransitionTime: now,
		})
	}
	return node
}

// nodeReady reports whether a node's kubelet is heard of. Of a node without a status nothing is known, and it is taken to be well.
func nodeReady(obj runtime.Object) bool {
	node, ok := obj.(*corev1.Node)
	if !ok {
		return true
	}
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return true
}

// podsAndNodes are what the controllers of Pods look at.
type podsAndNodes struct {
	writer
	pods, nodes store.ResourceID
}

// newPodsAndNodes fails if the cluster does not serve them as Go types.
func newPodsAndNodes(c *fakeapiserver.Cluster) (p podsAndNodes, err error) {
	p.cluster, p.grace = c, PodGrace
	for _, r := range []struct {
		plural string
		id     *store.ResourceID
	}{{"pods", &p.pods}, {"nodes", &p.nodes}} {
		id, ok := c.FindResource(schema.GroupResource{Resource: r.plural})
		if !ok {
			return p, fmt.Errorf("the cluster does not serve %s", r.plural)
		}
		*r.id = id
	}
	return p, nil
}

// PodGrace is the GracePeriod of Pods: how long one lives on after it is deleted, in seconds, which is what its kubelet gives it. Nothing
// runs of one that has no node or has ended.
func PodGrace(_ store.ResourceID, obj runtime.Object) int64 {
	pod, ok := obj.(*corev1.Pod)
	switch {
	case !ok || pod.Spec.NodeName == "" || ended(pod):
		return 0
	case pod.Spec.TerminationGracePeriodSeconds != nil:
		return *pod.Spec.TerminationGracePeriodSeconds
	}
	return corev1.DefaultTerminationGracePeriodSeconds
}

func ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// eachPod calls visit with every Pod, in the order of keys.
func (p *podsAndNodes) eachPod(visit func(*corev1.Pod)) {
	s := p.cluster.Store()
	s.Newest(p.pods, "", func(_ string, obj runtime.Object) bool {
		if pod, ok := obj.(*corev1.Pod); ok {
			visit(pod)
		}
		return true
	})
}

// eachNode calls visit with every Node, in the order of names.
func (p *podsAndNodes) eachNode(visit func(*corev1.Node)) {
	s := p.cluster.Store()
	s.Newest(p.nodes, "", func(_ string, obj runtime.Object) bool {
		if node, ok := obj.(*corev1.Node); ok {
			visit(node)
		}
		return true
	})
}

func (p *podsAndNodes) objectOf(pod *corev1.Pod) object {
	return object{p.pods, pod.Namespace, pod.Name, pod.UID}
}

// setPodCondition sets a condition, and the time of its transition where that is one.
func setPodCondition(pod *corev1.Pod, next corev1.PodCondition, now metav1.Time) (changed bool) {
	now = now.Rfc3339Copy() // as a client would write it: else an update that changes nothing of the Pod would be a write
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		if c.Type != next.Type {
			continue
		}
		if c.Status == next.Status && c.Reason == next.Reason && c.Message == next.Message {
			return false
		}
		next.LastTransitionTime = c.LastTransitionTime
		if c.Status != next.Status {
			next.LastTransitionTime = now
		}
		*c = next
		return true
	}
	next.LastTransitionTime = now
	pod.Status.Conditions = append(pod.Status.Conditions, next)
	return true
}
