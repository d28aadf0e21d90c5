package rest

import (
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// A real server registers the routes of built-in resources one by one, by path and method. A path without a route is a 404, a method
// that a path lacks is a 405, and both are said before anything else is looked at. Custom resources share one handler, whose answers
// are more specific, and of which the path of an unknown resource is text (S37, S41).

// routeCode returns 404 or 405 for a request that a built-in resource has no route for, 0 if there is one.
func routeCode(r *types.Resource, t *target, method string) int {
	switch {
	case t.proxy: // a prefix that went away
		return http.StatusNotFound
	case t.namespaced && !r.Namespaced:
		return http.StatusNotFound
	case t.watch:
		return watchCode(r, t, method)
	}
	offered := offeredVerbs(r, t)
	if len(offered) == 0 {
		return http.StatusNotFound
	}
	for _, v := range offered {
		if methodOf[v] == method {
			return 0
		}
	}
	return http.StatusMethodNotAllowed
}

// watchCode is routeCode for the old paths below /watch.
func watchCode(r *types.Resource, t *target, method string) int {
	switch {
	case !r.Allows(string(verbWatch), "") || t.subresource != "" || t.name != "" && r.Namespaced && !t.namespaced:
		return http.StatusNotFound
	case method != http.MethodGet:
		return http.StatusMethodNotAllowed
	}
	return 0
}

// methodOf is the method of each verb. A watch is a GET, too.
var methodOf = map[verb]string{
	verbGet: http.MethodGet, verbList: http.MethodGet, verbCreate: http.MethodPost, verbUpdate: http.MethodPut, verbPatch: http.MethodPatch,
	verbDelete: http.MethodDelete, verbDeleteCollection: http.MethodDelete,
}

// offeredVerbs returns the verbs that have a route at a path: none if there is no such path.
func offeredVerbs(r *types.Resource, t *target) (all []verb) {
	candidates := []verb{verbList, verbCreate, verbDeleteCollection}
	switch {
	case t.name != "" && r.Namespaced && !t.namespaced:
		return nil
	case len(t.extra) > 0 && t.subresource != "proxy":
		return nil
	case t.subresource != "":
		candidates = []verb{verbGet, verbCreate, verbUpdate, verbPatch, verbDelete}
	case t.name != "":
		candidates = []verb{verbGet, verbUpdate, verbPatch, verbDelete}
	case r.Namespaced && !t.namespaced:
		candidates = []verb{verbList} // across all namespaces there are only lists and watches (S25)
	}
	for _, v := range candidates {
		if r.Allows(string(v), t.subresource) {
			all = append(all, v)
		}
	}
	return all
}

// noRoute returns the answer to a request without a route.
func noRoute(code int) error { return refusedRoute(code, "") }

// refusedRoute is noRoute with what the router says of it, which a client reads for some codes only.
func refusedRoute(code int, message string) error {
	return apierrors.NewGenericServerResponse(code, "", schema.GroupResource{}, "", message, 0, false)
}

// routeError returns the answer to a request without a route, nil if it has one or goes to the handler of custom resources.
func (c *call) routeError() error {
	switch {
	case c.resource == nil && c.server.routed(c.target.group):
		return noRoute(http.StatusNotFound)
	case c.resource == nil || c.resource.Custom:
		return nil
	}
	if code := routeCode(c.resource, &c.target, c.request.Method); code != 0 {
		return noRoute(code)
	}
	return c.mediaError()
}

// lacksVersion reports whether a path is that of an unknown version of a built-in group: it has no route, as below it.
func (s *Server) lacksVersion(path string) bool {
	group, version, ok := "", "", false
	switch parts := strings.Split(strings.Trim(path, "/"), "/"); {
	case len(parts) == 3 && parts[0] == "apis":
		group, version, ok = parts[1], parts[2], true
	case len(parts) == 2 && parts[0] == "api":
		version, ok = parts[1], true
	}
	return ok && s.routed(group) && !slices.ContainsFunc(s.types.All(), func(r *types.Resource) bool { return r.Group == group && r.Version == version })
}

// routed reports whether the paths of a group belong to built-in resources: what is unknown there has no route.
func (s *Server) routed(group string) bool {
	for _, r := range s.types.All() {
		if r.Group == group {
			return !r.Custom
		}
	}
	return false
}
