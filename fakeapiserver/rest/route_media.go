package rest

import (
	"net/http"
	"slices"
	"strings"

	"github.com/informersim/informersim/fakeapiserver/patch"
	"github.com/informersim/informersim/fakeapiserver/types"
)

// A route says what it consumes and produces, and the router compares that with the headers before anything looks at the request. It
// knows no wildcard but */*, and no parameters. What it lets pass, the handlers negotiate once more, with other messages.

// The media types of routes.
var (
	producedOne  = []string{types.JSON, types.YAML, types.Protobuf}
	producedMany = append(slices.Clip(producedOne), types.JSON+";stream=watch", types.Protobuf+";stream=watch")
	producedLog  = append([]string{"text/plain"}, producedOne...)
)

// mediaError returns the answer to a request whose headers match no route of its path: 415 for a patch that is of no known type, 406
// for an answer that nobody can give.
func (c *call) mediaError() error {
	if c.connects() && c.target.subresource != "log" {
		return nil // such routes consume and produce anything
	}
	if c.request.Method == http.MethodPatch && !routeHas(c.request.Header.Get("Content-Type"), patch.PatchTypes(c.resource, c.target.subresource), false) {
		return refusedRoute(http.StatusUnsupportedMediaType, "415: Unsupported Media Type")
	}
	produced := producedOne
	switch {
	case c.target.subresource == "log":
		produced = producedLog
	case c.request.Method == http.MethodGet && (c.target.name == "" || c.target.watch):
		produced = producedMany
	}
	if accept := c.request.Header.Get("Accept"); accept != "" && !routeHas(accept, produced, true) {
		return refusedRoute(http.StatusNotAcceptable, "406: Not Acceptable\n\nAvailable representations: "+strings.Join(produced, ", "))
	}
	return nil
}

// routeHas reports whether one of the types in a header is among a route's.
func routeHas(header string, route []string, wildcard bool) bool {
	for part := range strings.SplitSeq(header, ",") {
		mediaType, _, _ := strings.Cut(part, ";")
		mediaType = strings.Trim(mediaType, " ")
		if wildcard && mediaType == "*/*" || slices.Contains(route, mediaType) {
			return true
		}
	}
	return false
}
