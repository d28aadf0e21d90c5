package rest_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/fakeapiserver/fault"
)

// The path of a create does not name its object, but a fault and a trigger that are aimed at that object find it.
func TestFaultsFindTheNameOfACreatedObject(t *testing.T) {
	f, ctx := newFaulty(t), context.Background()
	f.inject(fault.Fault{Kind: fault.Write500, Verb: "create", Resource: "configmaps", Namespace: "default", Name: "b"})
	f.inject(fault.Fault{Kind: fault.Write503, After: &fault.Trigger{Event: fault.TriggerRequest, Key: "default/c"}})
	for _, step := range []struct {
		name string
		hit  func(error) bool
	}{
		{"a", nil}, {"b", apierrors.IsInternalError}, {"b", nil}, {"c", apierrors.IsServiceUnavailable}, {"c", nil},
	} {
		if err := f.create(ctx, step.name); step.hit == nil && err != nil || step.hit != nil && !step.hit(err) {
			t.Errorf("creating %s: %v", step.name, err)
		}
	}
}

// S36: a generated name that another object has is generated anew. With five letters two of ten thousand names are equal.
func TestS36GeneratedNameIsTaken(t *testing.T) {
	if testing.Short() {
		t.Skip("one client asks it one thing after the other; -short, for the race detector, leaves it out")
	}
	maps := newClient(t).CoreV1().ConfigMaps("default")
	for n := range 10_000 {
		if _, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "a-"}}, metav1.CreateOptions{}); err != nil {
			t.Fatalf("object %d: %v", n, err)
		}
	}
	named := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "a-", Name: "b"}}
	for _, exists := range []bool{false, true} {
		if _, err := maps.Create(t.Context(), named, metav1.CreateOptions{}); apierrors.IsAlreadyExists(err) != exists || !exists && err != nil {
			t.Errorf("with a name of its own: %v", err)
		}
	}
}
