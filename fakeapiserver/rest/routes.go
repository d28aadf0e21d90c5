package rest

import (
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// routeError returns the error for a request that a built-in resource has no route for, nil if there is one. A real server registers
// built-in routes per method and path; custom resources share one handler with more specific errors.
func (c *call) routeError() error {
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
