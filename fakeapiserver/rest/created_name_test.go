package rest_test

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

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
