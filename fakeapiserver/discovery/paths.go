package discovery

import (
	"net/http"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/informersim/informersim/fakeapiserver/patch"
	"github.com/informersim/informersim/fakeapiserver/types"
)

// action is one operation on a path.
type action struct {
	method, verb, name string // name is the verb in operation IDs and descriptions
	options            any    // its fields are the query parameters
}

var (
	collectionActions = []action{
		{http.MethodGet, "list", "list", metav1.ListOptions{}},
		{http.MethodPost, "create", "create", metav1.CreateOptions{}},
		{http.MethodDelete, "deletecollection", "deletecollection", metav1.ListOptions{}},
	}
	objectActions = []action{
		{http.MethodGet, "get", "read", metav1.GetOptions{}},
		{http.MethodPut, "update", "replace", metav1.UpdateOptions{}},
		{http.MethodPatch, "patch", "patch", metav1.PatchOptions{}},
		{http.MethodDelete, "delete", "delete", metav1.DeleteOptions{}},
	}
)

// pathsOf adds the paths of a built-in resource, with the operations that discovery lists.
func (s *schemas) pathsOf(r *types.Resource, out map[string]*spec3.Path) {
	root := groupPath(r.Group) + "/" + r.Version
	if r.Namespaced {
		if r.Allows("list", "") {
			out[root+"/"+r.Plural] = &spec3.Path{PathProps: spec3.PathProps{Get: s.operation(r, "", collectionActions[0], "ForAllNamespaces")}}
		}
		root += "/namespaces/{namespace}"
	}
	collection := root + "/" + r.Plural
	s.path(r, "", collection, collectionActions, out)
	s.path(r, "", collection+"/{name}", objectActions, out)
	for _, sub := range r.Subresources {
		s.path(r, sub.Name, collection+"/{name}/"+sub.Name, objectActions, out)
	}
}

// path adds the allowed operations of a path.
func (s *schemas) path(r *types.Resource, subresource, path string, actions []action, out map[string]*spec3.Path) {
	p := &spec3.Path{}
	found := false
	for _, a := range actions {
		if !r.Allows(a.verb, subresource) {
			continue
		}
		found = true
		op := s.operation(r, subresource, a, "")
		switch a.method {
		case http.MethodGet:
			p.Get = op
		case http.MethodPost:
			p.Post = op
		case http.MethodPut:
			p.Put = op
		case http.MethodPatch:
			p.Patch = op
		case http.MethodDelete:
			p.Delete = op
		}
	}
	if !found {
		return
	}
	if r.Namespaced {
		p.Parameters = append(p.Parameters, pathParameter("namespace", "object name and auth scope, such as for teams and projects"))
	}
	if strings.Contains(path, "{name}") {
		p.Parameters = append(p.Parameters, pathParameter("name", "name of the "+r.Kind))
	}
	out[path] = p
}

func (s *schemas) operation(r *types.Resource, subresource string, a action, suffix string) *spec3.Operation {
	kind := r.KindOf(subresource)
	scope := ""
	if r.Namespaced && suffix == "" {
		scope = "Namespaced"
	}
	title := func(text string) string {
		if text == "" {
			return ""
		}
		return strings.ToUpper(text[:1]) + text[1:]
	}
	group, _, _ := strings.Cut(r.Group, ".")
	if group == "" {
		group = "core"
	}
	op := &spec3.Operation{OperationProps: spec3.OperationProps{
		Tags:        []string{group + "_" + r.Version},
		Description: a.name + " " + strings.TrimSpace(subresource+" "+r.Kind),
		OperationId: a.name + title(group) + title(r.Version) + scope + r.Kind + title(subresource) + suffix,
		Parameters:  queryParameters(a.options),
		Responses: &spec3.Responses{ResponsesProps: spec3.ResponsesProps{StatusCodeResponses: map[int]*spec3.Response{
			http.StatusOK: {ResponseProps: spec3.ResponseProps{Description: "OK", Content: s.content([]string{types.JSON, types.YAML, types.Protobuf}, s.answer(r, subresource, a))}},
		}}},
	}}
	verb := a.verb
	switch verb {
	case "create":
		verb = "post"
	case "update":
		verb = "put"
	}
	op.AddExtension("x-kubernetes-action", verb)
	op.AddExtension("x-kubernetes-group-version-kind", map[string]any{"group": kind.Group, "version": kind.Version, "kind": kind.Kind})
	switch a.method {
	case http.MethodPost, http.MethodPut:
		op.RequestBody = body(s.content([]string{types.JSON, types.YAML, types.Protobuf}, s.kind(kind)))
	case http.MethodPatch:
		op.RequestBody = body(s.content(patch.PatchTypes(r, subresource), s.add(reflect.TypeFor[metav1.Patch]())))
	}
	return op
}

func body(content map[string]*spec3.MediaType) *spec3.RequestBody {
	return &spec3.RequestBody{RequestBodyProps: spec3.RequestBodyProps{Required: true, Content: content}}
}

// content returns the same schema for several media types.
func (s *schemas) content(mediaTypes []string, name string) map[string]*spec3.MediaType {
	all := map[string]*spec3.MediaType{}
	for _, t := range mediaTypes {
		m := &spec3.MediaType{}
		if name != "" {
			m.Schema = &spec.Schema{SchemaProps: spec.SchemaProps{Ref: spec.MustCreateRef(refPrefix + name)}}
		}
		all[t] = m
	}
	return all
}

// answer returns the schema of an operation's result.
func (s *schemas) answer(r *types.Resource, subresource string, a action) string {
	switch a.verb {
	case "list":
		return s.kind(r.ListGroupVersionKind())
	case "delete", "deletecollection":
		return s.add(reflect.TypeFor[metav1.Status]())
	}
	return s.kind(r.KindOf(subresource))
}

// learn records the schemas of kinds outside the scheme from a document.
func (s *schemas) learn(components *spec3.Components) {
	if components == nil {
		return
	}
	for _, name := range sortedKeys(components.Schemas) {
		for _, gvk := range kindsOf(components.Schemas[name]) {
			if s.learned == nil {
				s.learned = map[schema.GroupVersionKind]string{}
			}
			s.learned[gvk] = name
		}
	}
}

// kind returns the schema of a kind, from the scheme or learned; "" if it has none.
func (s *schemas) kind(gvk schema.GroupVersionKind) string {
	if name := s.learned[gvk]; name != "" {
		return name
	}
	t, ok := clientscheme.Scheme.KnownTypes(gvk.GroupVersion())[gvk.Kind]
	if !ok {
		return ""
	}
	return s.add(t)
}

// kindsOf returns the kinds whose schema it is.
func kindsOf(in *spec.Schema) (all []schema.GroupVersionKind) {
	kinds, _ := in.Extensions["x-kubernetes-group-version-kind"].([]any)
	for _, k := range kinds {
		kind, _ := k.(map[string]any)
		text := func(key string) string { v, _ := kind[key].(string); return v }
		all = append(all, schema.GroupVersionKind{Group: text("group"), Version: text("version"), Kind: text("kind")})
	}
	return all
}

func pathParameter(name, text string) *spec3.Parameter {
	return &spec3.Parameter{ParameterProps: spec3.ParameterProps{
		Name: name, In: "path", Description: text, Required: true, Schema: &spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"string"}, UniqueItems: true}},
	}}
}

// queryParameters returns the fields of an options type as parameters.
func queryParameters(options any) []*spec3.Parameter {
	t := reflect.TypeOf(options)
	docs := docsOf(t)
	all := []*spec3.Parameter{{ParameterProps: spec3.ParameterProps{
		Name: "pretty", In: "query", Schema: typed("string", ""),
		Description: "If 'true', then the output is pretty printed. Defaults to 'false' unless the user-agent indicates a browser or command-line HTTP tool (curl and wget).",
	}}}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "preconditions" {
			continue
		}
		kind := f.Type
		for kind.Kind() == reflect.Pointer || kind.Kind() == reflect.Slice {
			kind = kind.Elem()
		}
		value := typed("string", "")
		switch kind.Kind() {
		case reflect.Bool:
			value = typed("boolean", "")
		case reflect.Int64, reflect.Int32:
			value = typed("integer", "")
		}
		value.UniqueItems = true
		all = append(all, &spec3.Parameter{ParameterProps: spec3.ParameterProps{Name: name, In: "query", Description: docs[name], Schema: value}})
	}
	return all
}
