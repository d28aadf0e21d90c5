package rest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/discovery"
	"github.com/informersim/informersim/fakeapiserver/patch"
	"github.com/informersim/informersim/fakeapiserver/render"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/fakeapiserver/types"
)

// Server is an apiserver's REST layer over a cluster. It is a transport.API: everything happens inside the steps of the cluster's
// kernel.
type Server struct {
	cluster *fakeapiserver.Cluster
	types   *types.Registry
	ids     map[schema.GroupResource]store.ResourceID
	policy  fakeapiserver.Policy
	writer  *patch.Writer
	docs    *discovery.Server
	forms   render.Forms
	ready   func() error

	namespaces bool          // Options.Namespaces
	timeout    time.Duration // Options.Timeout

	authorizer authorizer.UnconditionalAuthorizer // Options.Authorizer
	admission  Admission
	quotas     Quotas                  // Options.Quotas
	beside     func(work, then func()) // Options.Beside
	run        func(work, then func()) // Options.Background
	background background

	components    []*corev1.ComponentStatus   // Options.Components
	registrations func() []types.Registration // Aggregate
}

// Options configure a Server. Cluster and Types are required.
type Options struct {
	Cluster *fakeapiserver.Cluster
	Types   *types.Registry
	// Policy chooses the replica that serves a new client.
	Policy fakeapiserver.Policy
	// Address is the server's host:port as discovery publishes it.
	Address string
	// Pages are what the server says of itself besides its API.
	Pages []discovery.Page
	// Ready returns why writes are refused now, nil if they are not; /readyz reports it. nil means that they never are.
	Ready func() error
	// Namespaces gives namespaces the life of a real cluster's: nothing is created in one that does not exist or is being deleted, a
	// deleted one waits for its finalizers, and default, kube-system and kube-public stay. Without it, every namespace is there, and a
	// deleted one is gone at once, for tests that do not care.
	Namespaces bool
	// Timeout is when a request that is no watch is answered with a 504, as by a real server's --request-timeout; 0 means never. A
	// client may ask for less.
	Timeout time.Duration
	// Background runs a pure function outside of the kernel's steps, and then another one inside a step: one work after the other,
	// in order. nil if there is nothing outside, as in a simulation: both run inside the step.
	Background func(work, then func())
	// Authorizer, if not nil, is asked about each request that has a user, inside the step in which the request arrives.
	Authorizer authorizer.UnconditionalAuthorizer
	// Admission, if not nil, is asked about writes, by means of Beside.
	Admission Admission
	// Quotas, if not nil, limits what is stored in a namespace.
	Quotas Quotas
	// Components are the ComponentStatuses, in the order of a list; nil if there are none.
	Components []*corev1.ComponentStatus
	// Writer, if not nil, is used instead of one of the server's own: what it knows of earlier writes serves several servers, one after the other.
	Writer *patch.Writer
	// Beside runs a function that may wait outside of the kernel's steps, and then another one inside a step. Unlike Background, it
	// makes nobody else wait. work may be run again, until it has all answers that it asks for.
	Beside func(work, then func())
}

// New returns a server of the given types. It adds resources that the cluster lacks.
func New(o Options) (*Server, error) {
	s := &Server{
		cluster: o.Cluster, types: o.Types, ids: map[schema.GroupResource]store.ResourceID{}, policy: o.Policy, ready: o.Ready, run: o.Background,
		components: o.Components, authorizer: o.Authorizer, admission: o.Admission, quotas: o.Quotas, beside: o.Beside, namespaces: o.Namespaces, timeout: o.Timeout, writer: o.Writer, docs: discovery.New(o.Types, discovery.Options{Address: o.Address, Pages: o.Pages}),
	}
	if s.writer == nil {
		s.writer = patch.NewWriter()
	}
	o.Cluster.Store().KeepMemos()
	for _, t := range o.Types.All() {
		if err := s.add(t); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// add registers a resource with the Store; versions that convert into each other share one entry.
func (s *Server) add(t *types.Resource) error {
	gr := t.GroupResource()
	if _, have := s.ids[gr]; have {
		return nil
	}
	if id, ok := s.cluster.FindResource(t.StoreResource()); ok {
		if gr != t.StoreResource() {
			s.cluster.Alias(gr, id)
		}
		s.ids[gr] = id
		return nil
	}
	id, err := s.cluster.AddResource(s.describe(t))
	if err != nil {
		return fmt.Errorf("resource %s: %w", t, err)
	}
	s.ids[gr] = id
	return nil
}

// Define replaces the served versions of a resource from the next request on; none stops serving it. Stored objects stay. If a
// version is incomplete, it fails and changes nothing.
func (s *Server) Define(gr schema.GroupResource, versions ...*types.Resource) error {
	if len(versions) == 0 {
		s.types.Remove(gr)
		delete(s.ids, gr)
		s.docs.Changed()
		return nil
	}
	if err := s.types.Replace(gr, versions...); err != nil {
		return err
	}
	s.docs.Changed()
	if id, have := s.cluster.FindResource(gr); have {
		s.ids[gr] = id
		return s.cluster.Store().Redefine(id, s.describe(versions[0]))
	}
	return s.add(versions[0])
}

// describe returns the Store's description of a resource.
func (s *Server) describe(t *types.Resource) store.Resource {
	return store.Resource{
		Group: t.Group, Version: t.StorageVersion, Plural: t.Plural, Kind: t.Kind, Namespaced: t.Namespaced,
		New: s.newOf(t), Decode: s.decodeOf(t), Field: s.fieldOf(t),
	}
}

// decodeOf returns a decoder of saved objects of built-in kinds: in a version that was the storage version once, or as the other kind of
// event, and perhaps without defaults. It is nil for other resources.
func (s *Server) decodeOf(t *types.Resource) func([]byte) (runtime.Object, error) {
	if _, ok := t.Strategy.(types.Storage); !ok {
		return nil
	}
	return func(data []byte) (runtime.Object, error) {
		var head metav1.TypeMeta
		if err := json.Unmarshal(data, &head); err != nil {
			return nil, err
		}
		r := s.types.ByKind(head.GroupVersionKind())
		if r == nil || r.StoreResource() != t.StoreResource() {
			return nil, fmt.Errorf("it is stored as %s, which is not served", head.GroupVersionKind())
		}
		obj, _, err := r.Strategy.Decode(data, types.JSON, false)
		if err != nil {
			return nil, err
		}
		return r.Strategy.Stored(obj)
	}
}

// newOf returns a constructor of empty objects in t's storage version, which need not be served.
func (s *Server) newOf(t *types.Resource) func() runtime.Object {
	if stored := s.types.Lookup(t.GroupResource().WithVersion(t.StorageVersion)); stored != nil {
		return stored.Strategy.New
	}
	return func() runtime.Object {
		obj := t.Strategy.New()
		if t.Custom {
			obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{Group: t.Group, Version: t.StorageVersion, Kind: t.Kind})
		}
		return obj
	}
}

// fieldOf returns the function that field selectors read values with. It knows the fields of every version; which of them a
// request may use depends on the request's version (selectorError).
func (s *Server) fieldOf(t *types.Resource) func(runtime.Object, string) (string, bool) {
	var versions []*types.Resource
	for _, v := range s.types.All() {
		if v.StoreResource() == t.StoreResource() {
			versions = append(versions, v)
		}
	}
	return func(obj runtime.Object, field string) (string, bool) {
		for _, v := range versions {
			if v.Selectable(field) {
				return v.Strategy.Field(obj, field), true
			}
		}
		_, checked := t.Strategy.(types.FieldLabels) // selectorError has the error
		return "", checked
	}
}

// Serve implements transport.API. It is called inside a step.
func (s *Server) Serve(r *Request, sink Sink) (cancel func()) {
	c := &call{server: s, request: r, sink: sink, client: s.cluster.Connect(r.Client, s.policy), encoder: encoder{ask: askOf(r)}}
	t, ok := parsePath(r.URL.Path)
	timeout, err := s.requestTimeout(r, t)
	if err != nil {
		return c.atReplica(func() { c.fail(err) })
	}
	if timeout > 0 {
		c.limitTo(timeout)
	}
	if err := c.refusal(); err != nil {
		return c.atReplica(func() { c.refuse(err) })
	}
	if s.remote(r.URL.Path) {
		return c.atReplica(c.unavailable)
	}
	if !ok || t.resource == "" {
		return c.nonResource()
	}
	if !t.watch && !t.proxy && (t.resource == "watch" || t.resource == "proxy") {
		return c.atReplica(func() { c.noKindPage() })
	}
	c.target = t
	c.resource = s.types.Lookup(schema.GroupVersionResource{Group: t.group, Version: t.version, Resource: t.resource})
	if err := c.routeError(); err != nil {
		return c.atReplica(func() { c.fail(err) })
	}
	if c.resource == nil || t.namespaced && !c.resource.Namespaced {
		return c.atReplica(func() { c.notFoundPage() })
	}
	c.id = s.ids[c.resource.GroupResource()]
	query := r.URL.Query()
	if t.proxy && (t.namespaced || !c.resource.Namespaced) {
		return c.atReplica(func() { c.fail(apierrors.NewMethodNotSupported(c.resource.GroupResource(), "proxy")) })
	}
	v, ok := verbOf(r.Method, &c.target, isWatch(query))
	if !ok {
		return c.atReplica(func() { c.fail(apierrors.NewMethodNotSupported(c.resource.GroupResource(), "")) })
	}
	c.verb = v
	// Across all namespaces there are only lists and watches (S25).
	if c.resource.Namespaced && !t.namespaced && (t.name != "" || t.proxy || v != verbList && v != verbWatch) {
		return c.atReplica(func() { c.notFoundPage() })
	}
	return c.dispatch(query)
}

// now returns the virtual time with the API's precision.
func (s *Server) now() time.Time { return s.cluster.Kernel().Clock().Now().Truncate(time.Second) }

// live returns the newest state of an object, nil if there is none.
func (s *Server) live(id store.ResourceID, namespace, name string) runtime.Object {
	obj, rev := s.cluster.Store().Get(id, namespace, name)
	if rev == 0 {
		return nil
	}
	return obj
}

func accessor(obj runtime.Object) metaObject {
	m, err := meta.Accessor(obj)
	if err != nil {
		panic(fmt.Sprintf("rest: a stored %T has no metadata: %v", obj, err)) // the Store accepts no such object
	}
	return m
}

// header returns a response header with a content type.
func header(contentType string) http.Header { return http.Header{"Content-Type": {contentType}} }

// contentTypeOptions is the header that keeps browsers from taking an answer for something else. A real server sends it with pages, which are
// plain text, and with what its authorizer refuses.
const contentTypeOptions = "X-Content-Type-Options"

// page returns the header of a page.
func page() http.Header {
	h := header("text/plain; charset=utf-8")
	h.Set(contentTypeOptions, "nosniff")
	return h
}

// PathFor returns the path for creating objects of a kind. The namespace defaults to "default" for namespaced kinds.
func (s *Server) PathFor(gvk schema.GroupVersionKind, namespace string) (string, error) {
	t := s.types.ByKind(gvk)
	if t == nil {
		return "", fmt.Errorf("kind %s in %s is not served", gvk.Kind, gvk.GroupVersion())
	}
	path := "/apis/" + t.Group + "/" + t.Version
	if t.Group == "" {
		path = "/api/" + t.Version
	}
	if t.Namespaced {
		if namespace == "" {
			namespace = "default"
		}
		path += "/namespaces/" + namespace
	}
	return path + "/" + t.Plural, nil
}
