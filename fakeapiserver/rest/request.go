package rest

import (
	"net/http"
	"strings"
)

// verb is what a request does to a resource.
type verb string

const (
	verbGet              verb = "get"
	verbList             verb = "list"
	verbWatch            verb = "watch"
	verbCreate           verb = "create"
	verbUpdate           verb = "update"
	verbPatch            verb = "patch"
	verbDelete           verb = "delete"
	verbDeleteCollection verb = "deletecollection"
)

// target is what a path names.
type target struct {
	group, version string
	resource       string // "" if the path names no resource
	namespace      string
	name           string
	subresource    string
	extra          []string // what follows a subresource
	namespaced     bool     // the path has a namespace in it
	watch          bool     // the path is a legacy one below /watch
	proxy          bool     // or below /proxy, which nothing answers to
}

// parsePath takes a path below /api/VERSION or /apis/GROUP/VERSION apart; ok is false for other paths.
func parsePath(path string) (t target, ok bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case parts[0] == "api" && len(parts) >= 3:
		t.version, parts = parts[1], parts[2:]
	case parts[0] == "apis" && len(parts) >= 4:
		t.group, t.version, parts = parts[1], parts[2], parts[3:]
	default:
		return t, false
	}
	if len(parts) > 1 && (parts[0] == "watch" || parts[0] == "proxy") {
		t.watch, t.proxy, parts = parts[0] == "watch", parts[0] == "proxy", parts[1:]
	}
	// /namespaces/NS/RESOURCE… is a namespace's; /namespaces/NS[/status|/finalize] is the namespace itself.
	if parts[0] == "namespaces" && len(parts) >= 3 && !(t.group == "" && len(parts) == 3 && (parts[2] == "status" || parts[2] == "finalize")) {
		t.namespace, t.namespaced, parts = parts[1], true, parts[2:]
	}
	t.resource = parts[0]
	if len(parts) > 1 {
		t.name = parts[1]
	}
	if len(parts) > 2 {
		t.subresource, t.extra = parts[2], parts[3:]
	}
	return t, true
}

// verbOf is what the method does to the target; ok is false for a method that nothing answers to.
func verbOf(method string, t *target, watch bool) (v verb, ok bool) {
	named := t.name != ""
	if t.watch {
		return verbWatch, true // whatever the method is
	}
	switch method {
	case http.MethodGet, http.MethodHead:
		switch {
		case named:
			return verbGet, true // also with ?watch=true (S20)
		case watch:
			return verbWatch, true
		}
		return verbList, true
	case http.MethodPost:
		return verbCreate, true
	case http.MethodPut:
		return verbUpdate, true
	case http.MethodPatch:
		return verbPatch, true
	case http.MethodDelete:
		if named {
			return verbDelete, true
		}
		return verbDeleteCollection, true
	}
	return "", false
}
