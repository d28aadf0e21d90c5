package rest

import (
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// unrouted is the answer to what a resource of a Go type has no route for, nil if it has one: those have a route for each method
// and path, where custom resources have one handler for all that says more of what is wrong.
func (c *call) unrouted() error {
	if c.resource.Custom {
		return nil
	}
	code := http.StatusMethodNotAllowed
	switch t := &c.target; {
	case t.subresource != "":
		if c.resource.Subresource(t.subresource) != nil {
			return nil
		}
		code = http.StatusNotFound
	case c.verb == verbCreate && t.name != "" || (c.verb == verbUpdate || c.verb == verbPatch) && t.name == "":
	default:
		return nil
	}
	return apierrors.NewGenericServerResponse(code, c.request.Method, schema.GroupResource{}, "", "", 0, false)
}
