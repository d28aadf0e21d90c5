package rest_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/informersim/informersim/fakeapiserver"
	fakerest "github.com/informersim/informersim/fakeapiserver/rest"
	"github.com/informersim/informersim/fakeapiserver/transport"
	"github.com/informersim/informersim/fakeapiserver/types"
	"github.com/informersim/informersim/sim"
)

// virtual is a fake apiserver and a driver that jumps through virtual time: after each arrival it runs everything due within
// two hours, so that every watch ends.
type virtual struct {
	mu      sync.Mutex
	k       *sim.Kernel
	id      sim.ActorID
	work    []func()
	cluster *fakeapiserver.Cluster
	api     *fakerest.Server
}

var kindArrival = sim.RegisterKind("line", sim.ClassScript)

func newVirtual(t testing.TB, edit ...func(*fakerest.Options)) *virtual {
	t.Helper()
	k := sim.NewKernel(sim.Options{Seed: 1, Strategy: sim.NewFIFO()})
	v := &virtual{k: k, cluster: fakeapiserver.NewCluster(k, fakeapiserver.ClusterOptions{})}
	v.id = k.Register(v)
	reg, err := everything()
	if err != nil {
		t.Fatal(err)
	}
	o := fakerest.Options{Cluster: v.cluster, Types: reg}
	for _, e := range edit {
		e(&o)
	}
	if v.api, err = fakerest.New(o); err != nil {
		t.Fatal(err)
	}
	return v
}

func (*virtual) Name() string { return "arrivals" }

func (v *virtual) Apply(sim.Choice) {
	work := v.work
	v.work = nil
	for _, f := range work {
		f()
	}
}

// Do implements transport.Driver.
func (v *virtual) Do(f func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.work = append(v.work, f)
	v.k.Offer(v.id, kindArrival, 0)
	v.k.Clock().LimitTo(2 * time.Hour)
	for v.k.Step() {
	}
}

func (v *virtual) look(f func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	f()
}

var (
	anyMethod = rapid.SampledFrom([]string{"GET", "GET", "POST", "POST", "PUT", "PATCH", "PATCH", "DELETE", "DELETE", "HEAD", "OPTIONS"})
	anyName   = rapid.SampledFrom([]string{"a", "b", "c", "Not_A_Name", ""})
	anyPlural = rapid.SampledFrom([]string{
		"/api/v1/namespaces/default/configmaps", "/apis/example.dev/v1/namespaces/default/widgets", "/apis/example.dev/v1/widgets",
		"/api/v1/namespaces", "/api/v1/nodes", "/apis/apps/v1/namespaces/default/deployments", "/api/v1/namespaces/default/pods",
		"/apis/autoscaling/v2/namespaces/x/horizontalpodautoscalers", "/api/v1/events", "/apis/example.dev/v2/widgets",
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "/apis/rbac.authorization.k8s.io/v1/clusterroles",
	})
	anySubresource = rapid.SampledFrom([]string{"", "", "", "/status", "/scale", "/status/x", "/finalize", "/eviction", "/log", "/nothing"})
	anyOtherPath   = rapid.SampledFrom([]string{"/", "/api", "/apis", "/apis/example.dev", "/apis/apps/v1", "/version", "/healthz", "/openapi/v2", "/openapi/v3", "/openapi/v3/apis/apps/v1", "/readyz/ping", "/apis//v1/x"})
	anyRevision    = rapid.SampledFrom([]string{"", "0", "1", "1000", "1001", "1002", "99999", "-1", "abc", "18446744073709551615", "9223372036854775807"})
	anyMediaType   = rapid.SampledFrom([]string{
		"application/json", "application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "application/json-patch+json",
		"application/merge-patch+json", "application/strategic-merge-patch+json", "application/apply-patch+yaml", "text/plain", "", "a;b;c",
		"application/json;as=Table;v=v1;g=meta.k8s.io", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
		"application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json", "*/*", "application/cbor",
	})
)

// anyQuery draws known parameters with sensible and senseless values.
func anyQuery(t *rapid.T) string {
	values := map[string]*rapid.Generator[string]{
		"resourceVersion": anyRevision, "limit": rapid.SampledFrom([]string{"1", "0", "-1", "x"}),
		"resourceVersionMatch": rapid.SampledFrom([]string{"Exact", "NotOlderThan", "About"}),
		"watch":                rapid.SampledFrom([]string{"", "true", "0", "maybe"}), "allowWatchBookmarks": rapid.SampledFrom([]string{"true", "x"}),
		"sendInitialEvents": rapid.SampledFrom([]string{"true", "false"}), "timeoutSeconds": rapid.SampledFrom([]string{"-1", "x", "0"}),
		"continue":      rapid.SampledFrom([]string{"x", "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MTAwMSwic3RhcnQiOiJhXHUwMDAwIn0"}),
		"labelSelector": rapid.SampledFrom([]string{"a=b", "a in (", "!a", "a>1"}), "fieldSelector": rapid.SampledFrom([]string{"metadata.name=a", "spec.color=", "x", "metadata.namespace!=x"}),
		"dryRun": rapid.SampledFrom([]string{"All", "", "x"}), "fieldManager": rapid.SampledFrom([]string{"me", "", strings.Repeat("x", 200), "a\nb"}),
		"force": rapid.SampledFrom([]string{"true", "x"}), "fieldValidation": rapid.SampledFrom([]string{"Strict", "Warn", "Ignore", "x"}),
		"propagationPolicy": rapid.SampledFrom([]string{"Foreground", "Orphan", "Background", "x"}), "gracePeriodSeconds": rapid.SampledFrom([]string{"0", "-1", "30", "x"}),
		"pretty": rapid.SampledFrom([]string{"true", "0"}), "orphanDependents": rapid.SampledFrom([]string{"true", "x"}),
	}
	names := []string{
		"resourceVersion", "limit", "resourceVersionMatch", "watch", "allowWatchBookmarks", "sendInitialEvents", "timeoutSeconds", "continue",
		"labelSelector", "fieldSelector", "dryRun", "fieldManager", "force", "fieldValidation", "propagationPolicy", "gracePeriodSeconds",
		"pretty", "orphanDependents",
	}
	q := url.Values{}
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 4, rapid.ID[string]).Draw(t, "parameters") {
		q.Add(name, values[name].Draw(t, name))
	}
	return q.Encode()
}

// anyJSON draws a document, of the shapes that APIs accept or of any other.
func anyJSON(t *rapid.T, depth int) string {
	leaf := rapid.SampledFrom([]string{
		`null`, `true`, `-1`, `1e400`, `0.5`, `9223372036854775808`, `""`, `"x"`, `"1001"`, `"2000-01-01T00:00:00Z"`, `"\u0000"`, `[]`, `{}`,
	})
	if depth == 0 || rapid.IntRange(0, 3).Draw(t, "leaf") == 0 {
		return leaf.Draw(t, "value")
	}
	if rapid.IntRange(0, 4).Draw(t, "array") == 0 {
		var items []string
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			items = append(items, anyJSON(t, depth-1))
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	keys := rapid.SampledFrom([]string{
		"metadata", "spec", "status", "name", "namespace", "labels", "annotations", "finalizers", "ownerReferences", "uid", "resourceVersion",
		"managedFields", "deletionTimestamp", "generateName", "color", "size", "replicas", "data", "op", "path", "value", "from", "$patch",
		"$setElementOrder/finalizers", "preconditions", "kind", "apiVersion", "selector", "template", "containers", "unknown", "a.b/c",
	})
	var members []string
	for _, key := range rapid.SliceOfNDistinct(keys, 0, 4, rapid.ID[string]).Draw(t, "keys") {
		members = append(members, fmt.Sprintf("%q:%s", key, anyJSON(t, depth-1)))
	}
	return "{" + strings.Join(members, ",") + "}"
}

func anyBody(t *rapid.T) string {
	kind := rapid.SampledFrom([]string{
		`"apiVersion":"example.dev/v1","kind":"Widget"`, `"apiVersion":"v1","kind":"ConfigMap"`, `"apiVersion":"apps/v1","kind":"Deployment"`,
		`"apiVersion":"v1","kind":"Namespace"`, `"apiVersion":"v1","kind":"Pod"`, `"apiVersion":"autoscaling/v1","kind":"Scale"`,
		`"apiVersion":"v1","kind":"DeleteOptions"`,
	})
	switch rapid.IntRange(0, 7).Draw(t, "body") {
	case 0:
		return ""
	case 1, 2, 3:
		name := anyName.Draw(t, "body name")
		finalizers := rapid.SampledFrom([]string{``, `,"finalizers":["example.dev/x"]`, `,"finalizers":[]`, `,"resourceVersion":"1001"`, `,"uid":"u"`}).Draw(t, "metadata")
		return fmt.Sprintf(`{%s,"metadata":{"name":%q%s},"spec":%s}`, kind.Draw(t, "kind"), name, finalizers, anyJSON(t, 2))
	case 4:
		return fmt.Sprintf(`{%s,"metadata":%s}`, kind.Draw(t, "kind"), anyJSON(t, 3))
	case 5:
		ops := rapid.SampledFrom([]string{"add", "remove", "replace", "test", "move", "copy", "paint"})
		paths := rapid.SampledFrom([]string{"/metadata/finalizers", "/metadata/finalizers/0", "/spec/color", "/spec", "", "/", "/metadata/name", "/metadata/labels/a~1b", "x"})
		var list []string
		for range rapid.IntRange(0, 3).Draw(t, "operations") {
			list = append(list, fmt.Sprintf(`{"op":%q,"path":%q,"from":%q,"value":%s}`, ops.Draw(t, "op"), paths.Draw(t, "path"), paths.Draw(t, "from"), anyJSON(t, 1)))
		}
		return "[" + strings.Join(list, ",") + "]"
	case 6:
		return string(rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "bytes"))
	}
	return anyJSON(t, 4)
}

// usualRequest draws a plausible request: a body of the kind of the resource and media types that the method accepts.
func usualRequest(t *rapid.T) *http.Request {
	kind := rapid.SampledFrom([]struct{ path, kind string }{
		{"/apis/example.dev/v1/namespaces/default/widgets", `"apiVersion":"example.dev/v1","kind":"Widget"`},
		{"/apis/example.dev/v1/namespaces/default/widgets", `"apiVersion":"example.dev/v1","kind":"Widget"`},
		{"/api/v1/namespaces/default/configmaps", `"apiVersion":"v1","kind":"ConfigMap"`},
		{"/apis/apps/v1/namespaces/default/deployments", `"apiVersion":"apps/v1","kind":"Deployment"`},
		{"/api/v1/namespaces", `"apiVersion":"v1","kind":"Namespace"`},
	}).Draw(t, "kind")
	name := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name")
	rest := rapid.SampledFrom([]string{``, ``, `,"spec":{"color":"red"}`, `,"spec":{"size":2,"replicas":1}`, `,"status":{"phase":"x"}`, `,"data":{"k":"v"}`, `,"spec":` + anyJSON(t, 2)}).Draw(t, "content")
	meta := rapid.SampledFrom([]string{``, ``, `,"finalizers":["example.dev/x"]`, `,"finalizers":[]`, `,"labels":{"a":"b"}`, `,"resourceVersion":"1001"`}).Draw(t, "metadata")
	body := fmt.Sprintf(`{%s,"metadata":{"name":%q%s}%s}`, kind.kind, name, meta, rest)
	object := kind.path + "/" + name
	method, path, contentType := "POST", kind.path, "application/json"
	switch rapid.IntRange(0, 9).Draw(t, "request") {
	case 0, 1, 2, 3:
	case 4:
		method, path = "PUT", object+rapid.SampledFrom([]string{"", "", "/status"}).Draw(t, "subresource")
	case 5:
		method, path, contentType = "PATCH", object, "application/merge-patch+json"
	case 6:
		method, path, contentType = "PATCH", object+"?fieldManager=me", "application/apply-patch+yaml"
	case 7:
		method, path, body = "DELETE", object+rapid.SampledFrom([]string{"", "?propagationPolicy=Foreground", "?dryRun=All"}).Draw(t, "options"), ""
	case 8:
		method, path, body = "GET", object, ""
	case 9:
		method, path, body = "GET", kind.path+"?watch=true&resourceVersion="+anyRevision.Draw(t, "revision"), ""
	}
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", contentType)
	return r
}

func anyRequest(t *rapid.T) *http.Request {
	path := anyPlural.Draw(t, "resource")
	if name := anyName.Draw(t, "name"); name != "" {
		path += "/" + name + anySubresource.Draw(t, "subresource")
	}
	if rapid.IntRange(0, 9).Draw(t, "other") == 0 {
		path = anyOtherPath.Draw(t, "path")
	}
	r := httptest.NewRequest(anyMethod.Draw(t, "method"), path+"?"+anyQuery(t), strings.NewReader(anyBody(t)))
	r.Header.Set("Content-Type", anyMediaType.Draw(t, "content type"))
	r.Header.Set("Accept", anyMediaType.Draw(t, "accept"))
	return r
}

// Whatever the requests and their order, the handler does not panic, every answer has a valid status and errors have a body, and
// the Store's history stays consistent.
func TestAnyRequests(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := newVirtual(t)
		var panics bytes.Buffer
		h := &transport.Handler{Driver: s, API: s.api, Log: newLogger(&panics)}
		for range rapid.IntRange(1, 25).Draw(rt, "requests") {
			r := usualRequest(rt)
			if rapid.IntRange(0, 2).Draw(rt, "unusual") == 0 {
				r = anyRequest(rt)
			}
			answer := httptest.NewRecorder()
			cut := cutOff(h, answer, r)
			if panics.Len() > 0 {
				rt.Fatalf("%s %s:\n%s", r.Method, r.URL, panics.String())
			}
			if cut && r.Header.Get("Content-Type") != types.Protobuf {
				rt.Fatalf("%s %s: the connection ended without an answer", r.Method, r.URL)
			}
			silent := cut || r.Method == http.MethodHead || strings.HasPrefix(r.URL.Path, "/openapi/")
			if answer.Code < 200 || answer.Code > 599 || answer.Code >= 400 && answer.Body.Len() == 0 && !silent {
				rt.Fatalf("%s %s: %d %q", r.Method, r.URL, answer.Code, answer.Body.String())
			}
		}
		s.look(func() { checkStore(t, s.cluster) })
		if t.Failed() {
			rt.FailNow()
		}
	})
}

// cutOff serves the request and reports whether the handler broke the connection.
func cutOff(h http.Handler, w http.ResponseWriter, r *http.Request) (cut bool) {
	defer func() {
		if p := recover(); p == http.ErrAbortHandler {
			cut = true
		} else if p != nil {
			panic(p)
		}
	}()
	h.ServeHTTP(w, r)
	return false
}
