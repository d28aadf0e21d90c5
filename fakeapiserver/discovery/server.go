package discovery

import (
	"crypto/sha512"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informersim/informersim/fakeapiserver/render"
	"github.com/informersim/informersim/fakeapiserver/types"
)

// Options configure a Server.
type Options struct {
	// Address is host:port, published to clients in /api.
	Address string
	// Pages are what else there is to read.
	Pages []Page
}

// Server generates the documents of one registry.
type Server struct {
	registry *types.Registry
	address  string
	pages    []Page
	openapi  openAPI
	changes  int // of the registry
}

// New returns a Server of a registry, which may change later (Changed).
func New(registry *types.Registry, o Options) *Server {
	return &Server{registry: registry, address: o.Address, pages: o.Pages, openapi: newOpenAPI()}
}

// Changed drops the cached documents after the registry has changed.
func (s *Server) Changed() {
	s.openapi = newOpenAPI()
	s.changes++
}

// Request is a request outside any resource's path.
type Request struct {
	// Method is GET, POST, …; HEAD is answered like GET, and the transport drops the body.
	Method string
	Path   string
	Ask    render.Ask
	// IfNoneMatch is the header: if it has the answer's ETag, the answer is a 304.
	IfNoneMatch string
	// ContentType is the header of that name. Nothing reads a body, but some paths say which they would take.
	ContentType string
	// Failed has the failing health checks with their reasons. A real server withholds its reasons, as is done with empty ones.
	Failed map[string]string
	// Registered are the APIServices, in the order of discovery; nil if there is no aggregation layer.
	Registered []types.Registration
}

// Answer is a whole answer.
type Answer struct {
	render.Answer
	ETag string
	// Headers has the real server's other headers, by name.
	Headers [][2]string
}

// Serve answers a request about the server itself. ok is false if the path may be a resource's: below /api/v1/ or
// /apis/GROUP/VERSION/.
func (s *Server) Serve(q Request) (answer Answer, ok bool) {
	if answer, ok := s.page(q); ok {
		return answer, true
	}
	path := strings.TrimSuffix(q.Path, "/")
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	switch parts[0] {
	case "", "index.html":
		if q.Path == "/" || q.Path == "/index.html" {
			return s.paths(q, http.StatusOK), true
		}
	case "api", "apis":
		if parts[0] == "apis" || s.group("") != nil {
			return s.groups(q, parts)
		}
	case "openapi":
		answer, ok = s.serveOpenAPI(q, parts)
	case "version":
		answer, ok = s.version(q, parts), true
	case "healthz", "readyz", "livez":
		answer, ok = s.health(q, strings.Split(strings.TrimPrefix(q.Path, "/"), "/"))
	}
	switch {
	case ok:
		return answer, true
	case s.kube():
		return NotFound(), true
	}
	return s.paths(q, http.StatusNotFound), true
}

// kube reports whether the server has built-in kinds, and so answers like a kube-apiserver: an aggregator is in front of it. One without
// them is an apiextensions server, alone.
func (s *Server) kube() bool { return s.group("") != nil }

// routed reports whether the documents of a group are served by a router, which knows methods and media types; those of definitions are not.
func routed(g *types.Group) bool {
	return !slices.ContainsFunc(g.Versions, func(v types.Version) bool {
		return slices.ContainsFunc(v.Resources, func(r *types.Resource) bool { return r.Custom })
	})
}

// missing answers a path below /api or /apis that nothing is at.
func (s *Server) missing(q Request, parts []string) Answer {
	var g *types.Group
	switch {
	case parts[0] == "api" && len(parts) > 2 && parts[1] != "":
		g = s.group("")
	case parts[0] == "apis" && len(parts) > 3 && parts[2] != "":
		g = s.group(parts[1])
	}
	if g == nil || !routed(g) {
		return NotFound()
	}
	return Answer{Answer: q.Ask.Error(apierrors.NewGenericServerResponse(http.StatusNotFound, q.Method, schema.GroupResource{}, "", "", 0, false))}
}

// groups answers paths below /api and /apis.
func (s *Server) groups(q Request, parts []string) (Answer, bool) {
	// Paths with an empty segment are not found.
	if slices.Contains(parts[1:], "") {
		return s.missing(q, parts), true
	}
	legacy := parts[0] == "api"
	group, version := "", ""
	switch {
	case legacy && len(parts) <= 2:
		if len(parts) == 1 {
			return s.root(q, true), true
		}
		version = parts[1]
	case !legacy && len(parts) == 1:
		return s.root(q, false), true
	case !legacy && len(parts) == 2:
		if g := registeredGroup(q.Registered, parts[1]); g != nil {
			return s.document(q, g), true
		}
		if g := s.group(parts[1]); g != nil {
			return s.document(q, apiGroup(*g)), true
		}
		return NotFound(), true
	case !legacy && len(parts) == 3:
		group, version = parts[1], parts[2]
	default:
		return Answer{}, false
	}
	if g := s.group(group); g != nil && (legacy || group != "") {
		for _, v := range g.Versions {
			if v.Name != version {
				continue
			}
			if routed(g) {
				if refusal, refused := refuse(q); refused {
					return refusal, true
				}
			}
			return s.document(q, resourceList(group, v)), true
		}
	}
	return NotFound(), true
}

func (s *Server) group(name string) *types.Group {
	for _, g := range s.registry.Groups() {
		if g.Name == name {
			return &g
		}
	}
	return nil
}

// document returns an answer without views, in the negotiated encoding.
func (s *Server) document(q Request, obj runtime.Object) Answer {
	f, err := q.Ask.NegotiatePlain()
	if err != nil {
		return Answer{Answer: q.Ask.Error(err)}
	}
	return encoded(q, f, f.ContentType(), obj)
}

func encoded(q Request, f render.Format, contentType string, obj runtime.Object) Answer {
	body, err := f.Encode(obj)
	if err != nil {
		return Answer{Answer: q.Ask.Error(err)}
	}
	return Answer{Answer: render.Answer{Code: http.StatusOK, ContentType: contentType, Body: body}}
}

// withETag adds an ETag of the content, and turns the answer into a 304 if the client has it.
func withETag(q Request, a Answer) Answer {
	return tagged(q, a, fmt.Sprintf("%X", sha512.Sum512(a.Body)))
}

func tagged(q Request, a Answer, tag string) Answer {
	a.ETag = strconv.Quote(tag)
	for _, tag := range strings.Split(q.IfNoneMatch, ",") {
		if tag = strings.TrimSpace(tag); tag == a.ETag || "\""+tag+"\"" == a.ETag {
			a.Code, a.Body, a.ContentType = http.StatusNotModified, nil, ""
		}
	}
	return a
}

const plainText = "text/plain; charset=utf-8"

// NotFound returns the answer for a group, version or resource that is not served (S37).
func NotFound() Answer { return text(http.StatusNotFound, "404 page not found\n") }

// text returns a page that no browser may take for anything else.
func text(code int, body string) Answer {
	return Answer{
		Answer:  render.Answer{Code: code, ContentType: plainText, Body: []byte(body)},
		Headers: [][2]string{{"X-Content-Type-Options", "nosniff"}},
	}
}

// methodNotAllowed answers a write to a read-only path.
func methodNotAllowed(q Request) Answer {
	return Answer{Answer: q.Ask.Error(apierrors.NewGenericServerResponse(http.StatusMethodNotAllowed, q.Method, schema.GroupResource{}, "", "", 0, false))}
}

// refuse returns the answer of the router to a request for a document that it does not match, whatever the document is.
func refuse(q Request, have ...string) (Answer, bool) {
	if len(have) == 0 {
		have = []string{types.JSON, types.YAML, types.Protobuf}
	}
	switch {
	case q.Method != http.MethodGet: // not even HEAD
		return methodNotAllowed(q), true
	case q.ContentType != "" && !takes(q.ContentType, have...):
		return Answer{Answer: q.Ask.Error(apierrors.NewGenericServerResponse(
			http.StatusUnsupportedMediaType, "", schema.GroupResource{}, "", "415: Unsupported Media Type", 0, false))}, true
	case !takes(q.Ask.Accept, have...):
		return notAcceptable(q, have...), true
	}
	return Answer{}, false
}

// paths lists every path: with 404, the answer for an unknown path (S37).
func (s *Server) paths(q Request, code int) Answer {
	all := []string{"/healthz", "/livez", "/readyz", "/openapi/v2", "/openapi/v3", "/openapi/v3/", "/version"}
	for i := range s.pages {
		all = append(all, s.pages[i].Path)
	}
	for i := range q.Registered { // those that are served, too, come again below
		if r := &q.Registered[i]; r.Group != "" {
			all = append(all, "/apis/", "/apis/"+r.Group, r.Path())
		}
	}
	for _, endpoint := range []string{"healthz", "livez", "readyz"} {
		for _, check := range s.checksOf(endpoint) {
			all = append(all, "/"+endpoint+"/"+check)
		}
	}
	for _, g := range s.registry.Groups() {
		root := groupPath(g.Name)
		if all = append(all, root); g.Name != "" {
			all = append(all, "/apis")
		}
		for _, v := range g.Versions {
			all = append(all, root+"/"+v.Name)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return Answer{Answer: render.Answer{Code: code, ContentType: types.JSON, Body: rawJSON(metav1.RootPaths{Paths: all})}}
}

func groupPath(group string) string {
	if group == "" {
		return "/api"
	}
	return "/apis/" + group
}
