package subjects

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestTransform(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"app": "x", "tier": "y"}}}
	if f := (Transform{}).Func(); f != nil || (Transform{}).Object(pod) != pod || (Transform{DropLabel: "other"}).Object(pod) != pod {
		t.Error("an object without the label is changed")
	}
	got, err := Transform{DropLabel: "tier"}.Func()(pod)
	if p, ok := got.(*corev1.Pod); err != nil || !ok || len(p.Labels) != 1 || p.Labels["app"] != "x" || p.Name != "a" {
		t.Errorf("got %v, %v", got, err)
	}
	if len(pod.Labels) != 2 {
		t.Error("the server's object is changed")
	}
}

func TestI112TransformFails(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"tier": "y"}}}
	fails := Transform{FailLabel: "tier"}
	if _, err := fails.Func()(pod); err == nil || !fails.Refuses(pod) {
		t.Errorf("an object with the label is not refused: %v", err)
	}
	if got, err := (Transform{FailLabel: "app"}).Func()(pod); err != nil || got != any(pod) {
		t.Errorf("an object without the label: got %v, %v", got, err)
	}
}
