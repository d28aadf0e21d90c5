package rest

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// scaleOf returns the scale subresource of an object.
func (c *call) scaleOf(obj runtime.Object) (runtime.Object, error) {
	if s, ok := c.resource.Strategy.(types.Storage); ok {
		return s.Show(types.Scale, obj)
	}
	scale, found, err := c.resource.ReadScale(obj)
	if err != nil {
		return nil, err
	}
	if !found && c.verb == verbGet {
		return nil, c.resource.ErrNoReplicas()
	}
	return scale, nil
}
