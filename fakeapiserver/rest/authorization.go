package rest

import (
	"context"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/filters"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// With Options.Authorizer, a request is authorised when it reaches the server, before anything else is looked at: whoever may not see a path is not
// told whether there is something (S44).

// requests reads from a path what a request is about, as a kube-apiserver does.
var requests = &request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}

// attributes describe a request for the authorizer. It fails for a path that names nothing, which is answered elsewhere.
func (c *call) attributes() (*authorizer.AttributesRecord, error) {
	info, err := requests.NewRequestInfo(&http.Request{Method: c.request.Method, URL: c.request.URL})
	if err != nil {
		return nil, err
	}
	ctx := request.WithRequestInfo(request.WithUser(context.Background(), c.request.User), info)
	a, err := filters.GetAuthorizerAttributes(ctx)
	if err != nil {
		return nil, err
	}
	return a.(*authorizer.AttributesRecord), nil
}

// refusal returns why a request may not be made, nil if it may. The server's own requests may be made.
func (c *call) refusal() error {
	if c.server.authorizer == nil || c.request.User == nil {
		return nil
	}
	a, err := c.attributes()
	if err != nil {
		return nil
	}
	return c.server.refusal(a)
}

func (s *Server) refusal(a *authorizer.AttributesRecord) error {
	decision, reason, err := s.authorizer.Authorize(context.Background(), a)
	switch {
	case decision == authorizer.DecisionAllow: // RBAC may allow what it has understood, and fail at the rest
		return nil
	case err != nil:
		return apierrors.NewInternalError(err)
	}
	return responsewriters.ForbiddenStatusError(a, reason)
}

// createRefusal returns why a PUT or PATCH may not create the object that it names, nil if it may, or if there is one.
func (c *call) createRefusal(live runtime.Object) error {
	if c.server.authorizer == nil || c.request.User == nil || live != nil || c.verb != verbUpdate && c.verb != verbPatch {
		return nil
	}
	a, err := c.attributes()
	if err != nil {
		return nil
	}
	a.Verb = string(verbCreate)
	return c.server.refusal(a)
}
