package wellbehaved

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// What a status says of generations is read from built-in kinds and from custom resources alike, whatever a status is.
func TestObserved(t *testing.T) {
	pod := &corev1.Pod{Status: corev1.PodStatus{ObservedGeneration: 3, Conditions: []corev1.PodCondition{
		{Type: corev1.PodReady, ObservedGeneration: 2}, {Type: corev1.PodScheduled, ObservedGeneration: 1}, {Type: "Healthy"},
	}}}
	same := &unstructured.Unstructured{Object: content(pod)}
	odd := func(status any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"status": status}}
	}
	ready := observation{"status.conditions[Ready].observedGeneration", 2}
	for name, c := range map[string]struct {
		obj  any
		want []observation
	}{
		"a Pod":                           {pod, []observation{{inStatus, 3}, ready}},
		"as a custom resource":            {same, []observation{{inStatus, 3}, ready}},
		"a Deployment without conditions": {&appsv1.Deployment{Status: appsv1.DeploymentStatus{ObservedGeneration: 7}}, []observation{{inStatus, 7}}},
		"no status":                       {&corev1.ConfigMap{}, []observation{{inStatus, 0}}},
		"nothing":                         {nil, []observation{{inStatus, 0}}},
		"a status that is a text":         {odd("x"), []observation{{inStatus, 0}}},
		"conditions that are none":        {odd(map[string]any{"observedGeneration": "1", "conditions": []any{"x", map[string]any{"type": int64(1)}}}), []observation{{inStatus, 0}}},
		"conditions that are a map":       {odd(map[string]any{"conditions": map[string]any{}}), []observation{{inStatus, 0}}},
	} {
		if got := observed(c.obj); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Objects are alike whatever they are called, and whatever the times, numbers and messages of their status; not if a condition says something else. Numbers of the spec
// matter where the status has no words.
func TestAsIs(t *testing.T) {
	object := func(name string, size int64, status map[string]any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"name": name, "resourceVersion": name}, "spec": map[string]any{"sizes": []any{size}}, "status": status,
		}}
	}
	ready := func(status, reason, message, at string) map[string]any {
		return map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": status, "reason": reason, "message": message, "lastTransitionTime": at}}}
	}
	first := object("one", 1, ready("True", "AsExpected", "fine", "2030-05-05T12:00:00Z"))
	for name, c := range map[string]struct {
		was, obj *unstructured.Unstructured
		alike    bool
	}{
		"another name, message and time": {first, object("two", 1, ready("True", "AsExpected", "1 of 1", "2030-05-05T12:00:01Z")), true},
		"another number":                 {first, object("one", 2, ready("True", "AsExpected", "fine", "2030-05-05T12:00:00Z")), true},
		"none":                           {first, object("one", 0, ready("True", "AsExpected", "fine", "2030-05-05T12:00:00Z")), false},
		"another condition":              {first, object("one", 1, ready("False", "AsExpected", "fine", "2030-05-05T12:00:00Z")), false},
		"another reason":                 {first, object("one", 1, ready("True", "Skipped", "fine", "2030-05-05T12:00:00Z")), false},
		"numbers of a status":            {object("one", 1, map[string]any{"size": int64(1)}), object("one", 1, map[string]any{"size": int64(2)}), true},
		"no words, and another number":   {object("one", 1, map[string]any{"size": int64(1)}), object("one", 2, map[string]any{"size": int64(1)}), false},
	} {
		if got := asIs(c.was, metav1.Object(c.was)) == asIs(c.obj, c.obj); got != c.alike {
			t.Errorf("%s: alike: %v, want %v", name, got, c.alike)
		}
	}
}
