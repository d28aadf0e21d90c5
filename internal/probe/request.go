package probe

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/informersim/informersim/internal/probe/resources"
)

// UserAgent determines the field manager of writes that name none: the part before the slash.
const UserAgent = "probe/1"

// defaultNamespace is the namespace of targets that name none.
const defaultNamespace = "ns1"

// patchTypes are the content types of the patch verbs.
var patchTypes = map[string]string{
	"json":      "application/json-patch+json",
	"merge":     "application/merge-patch+json",
	"strategic": "application/strategic-merge-patch+json",
	"apply":     "application/apply-patch+yaml",
}

// location is a parsed target.
type location struct {
	resource, namespace, name, subresource, query string
	// raw is a complete absolute target.
	raw string
}

// parseTarget parses RESOURCE[@NAMESPACE][/NAME[/SUBRESOURCE]][?QUERY] or an absolute path.
func parseTarget(target string) location {
	if strings.HasPrefix(target, "/") {
		return location{raw: target}
	}
	var l location
	path, query, _ := strings.Cut(target, "?")
	l.query = query
	parts := strings.SplitN(path, "/", 3)
	all := strings.HasPrefix(parts[0], "*")
	resource, namespace, given := strings.Cut(strings.TrimPrefix(parts[0], "*"), "@")
	l.resource = resource
	switch {
	case given:
		l.namespace = namespace
	case !all && !definition(resource).Cluster:
		l.namespace = defaultNamespace
	}
	if len(parts) > 1 {
		l.name = parts[1]
	}
	if len(parts) > 2 {
		l.subresource = parts[2]
	}
	return l
}

// collection returns the path of the location's collection, without a query.
func (l location) collection() string {
	r := definition(l.resource)
	path := r.Path()
	if l.namespace != "" {
		path += "/namespaces/" + l.namespace
	}
	return path + "/" + r.Plural
}

// definition is the resource that a target names. A name that stands for none is that of a missing custom resource.
func definition(name string) resources.Resource {
	if r, found := resources.Lookup(name); found {
		return r
	}
	return resources.Resource{Group: resources.Group, Version: resources.Version, Plural: name}
}

// path returns the request's path and query.
func (l location) path() string {
	if l.raw != "" {
		return l.raw
	}
	path := l.collection()
	if l.name != "" {
		path += "/" + l.name
	}
	if l.subresource != "" {
		path += "/" + l.subresource
	}
	if l.query != "" {
		path += "?" + l.query
	}
	return path
}

// addQuery appends a parameter unless the query already has it.
func (l *location) addQuery(name, value string) {
	if strings.Contains("&"+l.query, "&"+name) {
		return
	}
	if l.query != "" {
		l.query += "&"
	}
	l.query += name + "=" + url.QueryEscape(value)
}

// request builds the HTTP request of a step after its variables have been expanded.
func request(root string, step Step, target, rest string) (*http.Request, error) {
	l := parseTarget(target)
	body, err := parseBody(rest)
	if err != nil {
		return nil, err
	}
	method, contentType := step.Verb, "application/json"
	switch step.Verb {
	case "get", "list":
		method = http.MethodGet
	case "create":
		method = http.MethodPost
		fill(body, l)
		if l.subresource == "" {
			l.name = ""
		}
	case "put":
		method = http.MethodPut
		fill(body, l)
	case "delete":
		method = http.MethodDelete
		if options, ok := body.(map[string]any); ok {
			setDefault(options, "apiVersion", "v1")
			setDefault(options, "kind", "DeleteOptions")
		}
	case "json", "merge", "strategic", "apply":
		method, contentType = http.MethodPatch, patchTypes[step.Verb]
		if step.Verb == "apply" {
			fill(body, l)
			l.addQuery("fieldManager", "applier")
		}
	}
	encoded, err := encodeBody(body)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequest(method, root+escapeTarget(l.path()), strings.NewReader(encoded))
	if err != nil {
		return nil, fmt.Errorf("build the request: %w", err)
	}
	if encoded != "" {
		r.Header.Set("Content-Type", contentType)
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", UserAgent)
	for _, h := range step.Headers {
		if !instructions[h.Name] {
			r.Header.Set(h.Name, h.Value)
		}
	}
	return r, nil
}

// escapeTarget escapes characters that a request line cannot contain and preserves existing escapes.
func escapeTarget(path string) string {
	return strings.NewReplacer(" ", "%20", "\x00", "%00", `"`, "%22").Replace(path)
}

// rawBody is a body that is sent verbatim.
type rawBody string

// parseBody parses flow YAML, 1.2 so that y and no are strings, or a quoted Go string; nil means no body.
func parseBody(text string) (any, error) {
	if text == "" {
		return nil, nil
	}
	if strings.HasPrefix(text, `"`) {
		raw, err := strconv.Unquote(text)
		if err != nil {
			return nil, fmt.Errorf("quoted body %.80s: %w", text, err)
		}
		return rawBody(raw), nil
	}
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		return nil, fmt.Errorf("body %.80s: %w", text, err)
	}
	return v, nil
}

func encodeBody(body any) (string, error) {
	switch body := body.(type) {
	case nil:
		return "", nil
	case rawBody:
		return string(body), nil
	}
	data, err := json.Marshal(body)
	if err != nil {
		return "", fmt.Errorf("encode the body: %w", err)
	}
	return string(data), nil
}

// fill sets the apiVersion, kind and name of an object from its target.
func fill(body any, l location) {
	m, ok := body.(map[string]any)
	r := definition(l.resource)
	if !ok || r.Kind == "" {
		return
	}
	apiVersion, kind := r.APIVersion(), r.Kind
	switch l.subresource {
	case "scale":
		apiVersion, kind = "autoscaling/v1", "Scale"
	case "eviction":
		apiVersion, kind = "policy/v1", "Eviction"
	case "binding":
		apiVersion, kind = "v1", "Binding"
	case "token":
		apiVersion, kind = "authentication.k8s.io/v1", "TokenRequest"
	}
	setDefault(m, "apiVersion", apiVersion)
	setDefault(m, "kind", kind)
	if l.name == "" {
		return
	}
	setDefault(m, "metadata", map[string]any{})
	if meta, ok := m["metadata"].(map[string]any); ok {
		setDefault(meta, "name", l.name)
	}
}

func setDefault(m map[string]any, key string, value any) {
	if _, found := m[key]; !found {
		m[key] = value
	}
}
