package rest_test

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/sim"
)

// requests notes what records of requests say, with their notes.
type requests []string

func (n *requests) Record(r *sim.Record) {
	if r.Kind == fakeapiserver.KindRequest {
		*n = append(*n, r.Key+" "+r.Detail+r.Note)
	}
}

func (*requests) StepEnd(*sim.StepInfo) {}

// A reader of a trace can tell a write of a status, an eviction or a binding from a write of the object, and knows the name of what is created.
func TestRequestsAreNotedWithSubresourceAndName(t *testing.T) {
	f, ctx := newFaulty(t), t.Context()
	var noted requests
	f.pump.Do(func() { f.cluster.Kernel().Observe(&noted) })
	pods, sets := f.CoreV1().Pods("default"), f.AppsV1().StatefulSets("default")
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: onePod}
	sets.GetScale(ctx, "s", metav1.GetOptions{}) // none of them need succeed
	pods.Create(ctx, pod, metav1.CreateOptions{})
	pods.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: "g-"}, Spec: onePod}, metav1.CreateOptions{})
	pods.Update(ctx, pod, metav1.UpdateOptions{})
	pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	pods.Bind(ctx, &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Target: corev1.ObjectReference{Name: "n"}}, metav1.CreateOptions{})
	sets.Patch(ctx, "s", types.MergePatchType, []byte(`{}`), metav1.PatchOptions{}, "scale")
	sets.Create(ctx, &appsv1.StatefulSet{}, metav1.CreateOptions{})
	f.Discovery().RESTClient().Put().AbsPath("/apis/none.dev/v1/namespaces/default/things/a/status").Do(ctx)

	want := requests{
		"statefulsets get default/s/scale", "pods create default/p", "pods create default/g-*", "pods update default/p", "pods update default/p/status",
		"pods create default/p/binding", "statefulsets patch default/s/scale", "statefulsets create default/", " put /apis/none.dev/v1/namespaces/default/things/a/status",
	}
	if !slices.Equal(noted, want) {
		t.Errorf("the records say\n%q, want\n%q", noted, want)
	}
}
