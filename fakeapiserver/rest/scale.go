package rest

import (
	"fmt"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
)

// scaleOf is the scale subresource of an object.
func (c *call) scaleOf(obj runtime.Object) (runtime.Object, error) {
	scale, found, err := c.resource.ReadScale(obj)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, c.resource.ErrNoReplicas()
	}
	return scale, nil
}

// fromScale is the object with the replicas of a scale that was written.
func (c *call) fromScale(live, obj runtime.Object) (runtime.Object, error) {
	scale, ok := obj.(*autoscalingv1.Scale)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("wrong object passed to Scale update: %T", obj))
	}
	return c.resource.WriteScale(live, scale)
}
