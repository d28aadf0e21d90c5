package simtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver/rest"
	"github.com/informersim/informersim/fakeapiserver/types"
)

// Object is a Kubernetes object: of a type in client-go's scheme or in Options.Scheme, or of any type with its kind set.
type Object interface {
	runtime.Object
	metav1.Object
}

// workloadClient is the helpers' client; "conn/workload" in traces. No fault is picked for its requests; those that fail for other
// reasons (a replica's restart) are repeated.
const workloadClient = "workload"

// Create creates objects through the API and updates them with the server's response. An object that somebody else created fails the
// test with the server's AlreadyExists.
func (e *Env) Create(objs ...Object) { e.each("env.Create", http.MethodPost, "", objs) }

// Update replaces objects. One without a resourceVersion is written over whatever is there: a conflict with another client is
// repeated on what that client wrote. With a resourceVersion, a conflict fails the test with the server's error.
func (e *Env) Update(objs ...Object) { e.each("env.Update", http.MethodPut, "", objs) }

// UpdateStatus replaces the status of objects, as Update replaces the rest, with the same conflicts.
func (e *Env) UpdateStatus(objs ...Object) {
	e.each("env.UpdateStatus", http.MethodPut, types.Status, objs)
}

// Delete deletes objects, identified by kind, namespace and name, without a grace period. As on a real server, an object with
// finalizers stays until they are removed. One that is not there fails the test with the server's NotFound.
func (e *Env) Delete(objs ...Object) { e.each("env.Delete", http.MethodDelete, "", objs) }

func (e *Env) each(name, method, sub string, objs []Object) {
	e.alive()
	for _, obj := range objs {
		if err := e.write(name, method, sub, obj); err != nil {
			e.fatalf("%s: %v", name, err)
		}
	}
}

// Mutate changes an object that exists: it reads obj from the Store, calls change, which edits obj, and writes it. If another client has
// written in between, it starts over, so change may be called several times. The test fails if there is no such object.
func (e *Env) Mutate(obj Object, change func()) {
	e.alive()
	if err := e.mutate(obj, change); err != nil {
		e.fatalf("env.Mutate: %v", err)
	}
}

func (e *Env) mutate(obj Object, change func()) error {
	for {
		if err := e.Get(obj); err != nil {
			return err
		}
		change()
		if err := e.write("env.Mutate", http.MethodPut, "", obj); !isRefusal(err, metav1.StatusReasonConflict) {
			return err
		}
	}
}

// Apply creates the objects of a manifest (YAML or JSON, any number of documents), or patches those that exist to match it.
func (e *Env) Apply(manifest string) {
	e.alive()
	objs, err := decodeManifest(manifest)
	if err != nil {
		e.fatalf("env.Apply: %v", err)
	}
	for _, u := range objs {
		if err := e.apply(u); err != nil {
			e.fatalf("env.Apply: %v", err)
		}
	}
}

// Get fills in the newest state of an object whose kind, namespace and name are set. It reads the Store directly, without a
// request, so it works anywhere, is never stale, and no fault affects it. If there is no such object, it returns a NotFound
// error.
func (e *Env) Get(obj Object) error {
	r, err := e.w.mapper.resourceOf(obj)
	if err != nil {
		return err
	}
	id, ok := e.w.cluster.FindResource(r.GroupResource())
	if !ok {
		return fmt.Errorf("%s is not served", r)
	}
	live, rev := e.w.cluster.Store().Get(id, namespaceOf(r, obj), obj.GetName())
	if rev == 0 || live == nil {
		return apierrors.NewNotFound(r.GroupResource(), obj.GetName())
	}
	if live, err = r.Strategy.Convert(live); err != nil {
		return err
	}
	return fill(obj, live)
}

// List fills a list with the objects of its kind, in one namespace unless namespace is empty. Like Get, it reads the Store.
func (e *Env) List(list runtime.Object, namespace string) error {
	r, err := e.w.mapper.resourceOfList(list)
	if err != nil {
		return err
	}
	id, ok := e.w.cluster.FindResource(r.GroupResource())
	if !ok {
		return fmt.Errorf("%s is not served", r)
	}
	into, err := newListFiller(list)
	if err != nil {
		return err
	}
	store := e.w.cluster.Store()
	var failed error
	err = store.Walk(id, store.Revision(), namespace, func(_ string, obj runtime.Object) bool {
		if obj, failed = r.Strategy.Convert(obj); failed == nil {
			failed = into.add(obj)
		}
		return failed == nil
	})
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	into.finish(r.GroupVersion().WithKind(r.ListKind))
	return nil
}

// replace decodes data into obj and leaves nothing of obj's former content.
func replace(obj runtime.Object, data []byte) error {
	if u, ok := obj.(interface{ UnmarshalJSON([]byte) error }); ok {
		return u.UnmarshalJSON(data)
	}
	v := reflect.ValueOf(obj)
	fresh := reflect.New(v.Type().Elem())
	if err := json.Unmarshal(data, fresh.Interface()); err != nil {
		return err
	}
	v.Elem().Set(fresh.Elem())
	return nil
}

func namespaceOf(r *types.Resource, obj metav1.Object) string {
	switch {
	case !r.Namespaced:
		return ""
	case obj.GetNamespace() == "":
		return metav1.NamespaceDefault
	}
	return obj.GetNamespace()
}

// resourcePath returns the URL path of a resource.
func resourcePath(r *types.Resource, namespace string) string {
	path := "/apis/" + r.Group + "/" + r.Version
	if r.Group == "" {
		path = "/api/" + r.Version
	}
	if r.Namespaced {
		path += "/namespaces/" + namespace
	}
	return path + "/" + r.Plural
}

// request makes one request and waits for its answer; time passes only if the answer needs it.
func (e *Env) request(name string, r *rest.Request) (code int, body []byte, err error) {
	w := e.w
	s := &sink{}
	c := &call{name: name, do: func() { w.api.Serve(r, s) }}
	for {
		c.until = func() bool { return s.done || w.kernel.Clock().AtLimit() && w.quiet() }
		w.body.call(c)
		if s.done {
			return s.code, s.body, s.err
		}
		c = &call{name: name, limit: time.Second}
	}
}

// sink receives the answer to a request.
type sink struct {
	code   int
	header http.Header
	body   []byte
	err    error
	done   bool
}

func (s *sink) Answer(code int, _ http.Header, body rest.Body) {
	s.code, s.body, s.done = code, body.Bytes(), true
}
func (s *sink) Open(code int, _ http.Header) { s.code = code }
func (s *sink) Frame(b []byte)               { s.body = append(s.body, b...) }
func (s *sink) Close(err error)              { s.err, s.done = err, true }
func (s *sink) Fail(err error)               { s.err, s.done = err, true }

var _ rest.Sink = (*sink)(nil)

// decodeManifest returns the objects of a manifest.
func decodeManifest(manifest string) ([]*unstructured.Unstructured, error) {
	var objs []*unstructured.Unstructured
	err := eachDocument(manifest, func(n int, data []byte) error {
		u := &unstructured.Unstructured{}
		if err := u.UnmarshalJSON(data); err != nil {
			return fmt.Errorf("document %d: %w", n, err)
		}
		if u.IsList() {
			return u.EachListItem(func(o runtime.Object) error {
				objs = append(objs, o.(*unstructured.Unstructured))
				return nil
			})
		}
		objs = append(objs, u)
		return nil
	})
	return objs, err
}
