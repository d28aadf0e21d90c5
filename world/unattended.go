package world

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver/controllers/stages"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/world/wellbehaved"
)

// idle says of a resource which objects are as they were made, and what would take them further.
type idle struct {
	group, plural string
	waits         func(runtime.Object) bool
	by            string // the controller that would act on it, "" for none that a Go test can have
	lacks         string
}

// of is for objects of one type.
func of[T runtime.Object](waits func(T) bool) func(runtime.Object) bool {
	return func(obj runtime.Object) bool {
		o, is := obj.(T)
		return is && waits(o)
	}
}

const (
	lacksNodes    = "the cluster has no Nodes, so nobody runs Pods (Options.Nodes)"
	lacksWorkload = `nobody acts on them: Options.Stages "workload" says that they have what they ask for, Options.Controllers has Kubernetes' own controllers`
	lacksVolumes  = `nobody binds them (Options.Stages "workload")`
)

var idles = []idle{
	{"", "pods", of(func(p *corev1.Pod) bool {
		return p.Spec.NodeName == "" && (p.Status.Phase == "" || p.Status.Phase == corev1.PodPending)
	}), "", lacksNodes},
	{"apps", "deployments", of(func(d *appsv1.Deployment) bool { return d.Status.ObservedGeneration == 0 }), "deployment", lacksWorkload},
	{"apps", "replicasets", of(func(r *appsv1.ReplicaSet) bool { return r.Status.ObservedGeneration == 0 }), "replicaset", lacksWorkload},
	{"apps", "statefulsets", of(func(s *appsv1.StatefulSet) bool { return s.Status.ObservedGeneration == 0 }), "statefulset", lacksWorkload},
	{"apps", "daemonsets", of(func(d *appsv1.DaemonSet) bool { return d.Status.ObservedGeneration == 0 }), "daemonset", lacksWorkload},
	{"batch", "jobs", of(func(j *batchv1.Job) bool {
		return (j.Spec.Suspend == nil || !*j.Spec.Suspend) && j.Status.StartTime == nil && len(j.Status.Conditions) == 0
	}), "job", lacksWorkload},
	{"", "persistentvolumeclaims", of(func(c *corev1.PersistentVolumeClaim) bool {
		return c.Status.Phase == "" || c.Status.Phase == corev1.ClaimPending
	}), "", lacksVolumes},
}

// unattended says which objects nobody acts on in this cluster: who waits for one waits for ever.
func (w *world) unattended() (all []string) {
	for _, k := range idles {
		if slices.Contains(w.o.kubernetes, k.by) || k.lacks == lacksNodes && w.hasNodes() {
			continue
		}
		for id, r := range w.cluster.Store().Resources() {
			if r.Group != k.group || r.Plural != k.plural || k.lacks != lacksNodes && slices.ContainsFunc(w.o.stages, func(s *stages.Stage) bool { return s.Of == r.GroupVersionKind().GroupKind() }) {
				continue
			}
			var keys []string
			w.cluster.Store().Newest(store.ResourceID(id), "", func(key string, obj runtime.Object) bool {
				if k.waits(obj) {
					keys = append(keys, key)
				}
				return true
			})
			if text := namesOf(keys); text != "" {
				all = append(all, k.plural+" "+text+": "+k.lacks)
			}
		}
	}
	return all
}

// namesOf names the first of some objects; "" for none.
func namesOf(keys []string) string {
	switch len(keys) {
	case 0:
		return ""
	case 1:
		return keys[0]
	}
	return fmt.Sprintf("%s and %d more", keys[0], len(keys)-1)
}

// hasNodes reports whether there is a Node, the options' or the test's.
func (w *world) hasNodes() bool {
	for id, r := range w.cluster.Store().Resources() {
		if r.Group == "" && r.Plural == "nodes" && len(store.All[*corev1.Node](w.cluster.Store(), store.ResourceID(id), "")) > 0 {
			return true
		}
	}
	return false
}

// waitsInVain says which objects nobody acts on, if something of the test's own has failed: it may have waited for them.
func (o *outcome) waitsInVain() []string {
	if o.violation != nil && slices.Contains(wellbehaved.Names, o.violation.Property) {
		return nil
	}
	return o.unattended
}
