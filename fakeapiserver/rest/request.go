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

// target is the parsed path of a request.
type target struct {
	group, version string
	resource       string // "" if the path names no resource
	namespace      string
	name           string
	subresource    string
	extra          []string // what follows a subresource
	namespaced     bool     // the path has a namespace in it
	watch          bool     // a legacy path below /watch
	proxy          bool     // a path below /proxy, which is not served
}

// parsePath parses a path below /api/VERSION or /apis/GROUP/VERSION; ok is false for other paths.
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
	// /namespaces/NS/RESOURCE… is in a namespace; /namespaces/NS[/status|/finalize] is the namespace itself.
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

// below returns "/" and the subresource, "" if the path has none.
func (t *target) below() string {
	if t.subresource == "" {
		return ""
	}
	return "/" + t.subresource
}

// verbOf returns the verb of a method on the target; ok is false if the method is not supported.
func verbOf(method string, t *target, watch bool) (v verb, ok bool) {
	named := t.name != ""
	if t.watch {
		return verbWatch, true // for any method
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
