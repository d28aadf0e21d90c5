package wellbehaved

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestChanges(t *testing.T) {
	a := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: "1", Labels: map[string]string{"x": "1"}}, Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "c", Image: "i:1"}}, NodeName: "n",
	}}
	b := a.DeepCopy()
	b.ResourceVersion, b.Generation, b.Annotations, b.Labels = "2", 3, map[string]string{"y": "2"}, nil
	b.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "m"}}
	b.Spec.Containers[0].Image, b.Spec.NodeName = "i:2", ""
	b.Spec.Tolerations = []corev1.Toleration{{Key: "k"}}
	want := []change{
		{"metadata.annotations.y", `"2"`}, {"metadata.labels.x", "unset"}, {"spec.containers[0].image", `"i:2"`}, {"spec.nodeName", "unset"}, {"spec.tolerations", `[{"key":"k"}]`},
	}
	if got := changes(a, b); !slices.Equal(got, want) {
		t.Errorf("the changes are %v, want %v", got, want)
	}
	if got := changes(a, a.DeepCopy()); len(got) != 0 {
		t.Errorf("a copy differs: %v", got)
	}
}

// Which names are drawn, and how many children an owner asks for, decides whether two of them are one too many.
func TestDrawn(t *testing.T) {
	for _, test := range []struct {
		a, b, generate string
		want           bool
	}{
		{"pods default/web-x2k9z", "pods default/web-b7fqn", "web-", true},
		{"pods default/web-x2k9z", "pods default/web-b7fqn", "", true},
		{"pods default/api-x2k9z", "pods default/web-b7fqn", "web-", false},
		{"pods default/api-x2k9z", "pods default/web-b7fqn", "", false},
		{"pods default/web-0", "pods default/web-1", "", false},
		{"pods default/web-north", "pods default/web-south", "", false},
		{"jobs default/daily-29001240", "jobs default/daily-29002680", "", false}, // a time: it has digits that are never drawn
		{"nodes a", "nodes b", "", false},
	} {
		if got := drawn(test.a, test.b, test.generate); got != test.want {
			t.Errorf("%q and %q, generateName %q: %v", test.a, test.b, test.generate, got)
		}
	}
}

func TestAsksFor(t *testing.T) {
	owner := func(spec map[string]any) any {
		return &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"generation": int64(9)}, "status": map[string]any{"replicas": int64(8)}, "spec": spec}}
	}
	for _, test := range []struct {
		owner any
		want  int
	}{
		{owner(nil), 1},
		{owner(map[string]any{"replicas": int64(3), "paused": true}), 3},
		{owner(map[string]any{"pool": map[string]any{"size": int64(4)}}), 4},
		{owner(map[string]any{"replicas": int64(0)}), 1},
		{&corev1.ConfigMap{Data: map[string]string{"count": "2", "name": "x"}}, 2},
		{owner(map[string]any{"pools": []any{map[string]any{"count": int64(3)}, map[string]any{"count": int64(2)}}}), 3},
		{owner(map[string]any{"port": int64(8080), "progressDeadlineSeconds": int64(600), "revisionHistoryLimit": int64(10), "timeout_ms": int64(50)}), 1},
		{owner(map[string]any{"replicas": int64(2), "ports": []any{int64(80), int64(443)}, "template": map[string]any{"runAsUser": int64(1000)}}), 2},
		{owner(map[string]any{"version": "12", "template": map[string]any{"limits": map[string]any{"cpu": "4"}}}), 1},
		{&corev1.ConfigMap{Data: map[string]string{"HTTP_PORT": "8080", "poll-interval": "30", "n": "2"}}, 2},
	} {
		if got := asksFor(test.owner); got != test.want {
			t.Errorf("%v: %d, want %d", test.owner, got, test.want)
		}
	}
}

// Two children are alike whatever their names, their status and the server's entries; not if their labels or their specs differ.
func TestLikeness(t *testing.T) {
	a := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "1", ResourceVersion: "1", Labels: map[string]string{"x": "1"}}, Spec: corev1.PodSpec{NodeName: "n"}}
	b := a.DeepCopy()
	b.Name, b.UID, b.ResourceVersion, b.Status.Phase = "b", "2", "2", corev1.PodRunning
	if likeness(a) != likeness(b) {
		t.Error("a name, or a status, tells them apart")
	}
	for _, change := range []func(p *corev1.Pod){
		func(p *corev1.Pod) { p.Labels["x"] = "2" }, func(p *corev1.Pod) { p.Annotations = map[string]string{"at": "noon"} }, func(p *corev1.Pod) { p.Spec.NodeName = "m" },
	} {
		c := a.DeepCopy()
		change(c)
		if likeness(a) == likeness(c) {
			t.Errorf("%v is like %v", a, c)
		}
	}
}
