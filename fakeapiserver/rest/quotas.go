package rest

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver/patch"
	"github.com/informersim/informersim/fakeapiserver/types"
)

// Quotas limits what is stored in a namespace. It is asked last of all, within the step that stores the object.
type Quotas interface {
	// Charge returns what a write changes besides: the quotas that it takes from; or why it may not be. old is nil for a create.
	Charge(r *types.Resource, w *types.Write, obj, old runtime.Object) ([]types.Effect, error)
}

// charge takes a write from the quotas of its namespace. What it has taken stays taken if the write fails after it.
func (c *call) charge(live runtime.Object, result *patch.Result, dry bool) error {
	if c.server.quotas == nil || c.target.namespace == "" || result.Unchanged || result.Delete {
		return nil
	}
	obj := result.Object
	if dry && result.Answer != nil {
		obj = result.Answer
	}
	if obj == nil || types.WithoutMeta(obj) {
		return nil
	}
	effects, err := c.server.quotas.Charge(c.resource, &types.Write{
		Subresource: c.target.subresource, Namespace: c.target.namespace, Name: c.target.name, DryRun: dry, User: c.user(), Live: live,
		System: types.System{Now: c.server.now()}, List: c.server.list, Get: c.server.get,
	}, obj, live)
	for i := range effects {
		if err == nil {
			err = c.server.effect(&effects[i])
		}
	}
	return err
}
