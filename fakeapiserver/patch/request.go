package patch

import (
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// Request describes a write: its URL, headers, and values from the system.
type Request struct {
	Resource *types.Resource
	// Subresource is "" for the resource itself.
	Subresource string
	// Namespace and Name are the URL's; Name is empty for a POST to a collection.
	Namespace, Name string
	// UserAgent names the field manager if the options do not.
	UserAgent string
	// System has the values for a new object; its Namespace is filled in. Now is also the time of managedFields.
	System types.System
	// Persisted is the live object as stored, if that differs from how it reads (Result.Persisted); otherwise nil.
	Persisted runtime.Object
	// Admit returns why an object, which is decoded but not validated yet, may not be created. nil admits all.
	Admit func(obj runtime.Object) error
	// CreateRefused is why a PUT or PATCH may not create the object, nil if it may. It counts once the new object is valid.
	CreateRefused error
	// DryRun is set if nothing will be stored. User makes the request; the zero value is an administrator.
	DryRun bool
	User   types.User
	// List returns the stored objects of a resource, of one namespace or, for "", of all. nil stands for none.
	List func(gr schema.GroupResource, namespace string) []runtime.Object
	// Get returns a stored object, nil if there is none. nil stands for an empty cluster.
	Get func(gr schema.GroupResource, namespace, name string) runtime.Object
	// Mutate returns what webhooks make of an object that is decoded but not validated yet. old is the live one, nil for a create. nil
	// changes nothing.
	Mutate func(obj, old runtime.Object) (runtime.Object, error)

	// undecoded is set if the new object has not been through the decoder: it was applied, or written through its scale.
	undecoded bool
}

// Result is the outcome of a write.
type Result struct {
	// Object is the whole object to store, in the storage version, which may not be the answer's. It carries the live object's
	// resourceVersion, or none if it is new. nil if nothing is stored, and Answer is all.
	Object runtime.Object
	// Answer is what the client gets if that is not the object as stored.
	Answer runtime.Object
	// Persisted is the stored form if it reads as Object but is not the same: an apply may leave an empty map there, a Job's labels are
	// those of its template when it is read. Later writes are compared with it (S4). nil if it is the same.
	Persisted runtime.Object
	// Earlier are states of the object that are stored before it, Effects changes of other objects, which come first.
	Earlier []runtime.Object
	Effects []types.Effect
	// Created is set if the object is new: the answer is a 201.
	Created bool
	// Delete is set if the object has lost its last finalizer: it is deleted, and the answer is Object (S18).
	Delete bool
	// Unchanged is set for a no-op: the answer is the live object (S4).
	Unchanged bool
	// Warnings are Warning headers, in order. They may accompany an error.
	Warnings []string
}

// Writer turns write requests into objects to store.
type Writer struct {
	managers map[managerKey]*fieldManager
}

// NewWriter returns a Writer that knows of no write yet.
func NewWriter() *Writer { return &Writer{managers: map[managerKey]*fieldManager{}} }

// asStored returns the object as it will come out of the store: in the storage version and decoded, which drops empty values and
// sets defaults (it can only change what was not decoded before). persisted is the object before decoding, if that changed it.
func (q *Request) asStored(obj runtime.Object) (stored, persisted runtime.Object, err error) {
	if q.undecoded {
		if persisted, err = q.decoded(obj); err != nil {
			return nil, nil, err
		}
	}
	stored, err = q.Resource.Strategy.Stored(obj)
	return stored, persisted, err
}

// decoded applies the effects of decoding in place, and returns a copy of the object from before if they changed it.
func (q *Request) decoded(obj runtime.Object) (was runtime.Object, err error) {
	u, custom := obj.(*unstructured.Unstructured)
	var before *unstructured.Unstructured
	if custom {
		before = u.DeepCopy()
	}
	q.Resource.Strategy.Default(obj)
	if _, err := q.Resource.Strategy.Prune(obj); err != nil {
		return nil, err
	}
	q.Resource.Strategy.Default(obj)
	if !custom {
		return nil, nil
	}
	if q.Resource.Strategy.Default(before); equalValue(before.Object, u.Object) {
		return nil, nil
	}
	before.SetAPIVersion(schema.GroupVersion{Group: q.Resource.Group, Version: q.Resource.StorageVersion}.String())
	return before, nil
}

// unchanged reports whether the write is a no-op. It compares with the object as read first, then with its persisted form.
func (q *Request) unchanged(result Result, stored runtime.Object) bool {
	written := result.Object
	if result.Persisted != nil {
		written = result.Persisted
	}
	return equal(written, stored) && (q.Persisted == nil || equal(written, q.Persisted))
}

// system returns the values for a new object of the request.
func (q *Request) system() types.System {
	s := q.System
	s.Namespace = q.Namespace
	return s
}

// errNoName is the answer to a PUT or PATCH of a collection (S22).
var errNoName = apierrors.NewBadRequest("name must be provided")

func (q *Request) notFound() error {
	if err := types.NameError(q.Name); err != nil {
		return err
	}
	return apierrors.NewNotFound(q.Resource.GroupResource(), q.Name)
}

// revision returns an object's resourceVersion as a precondition: 0 if it has none. A non-number is a plain error (S2).
func revision(obj runtime.Object) (uint64, error) {
	m, err := meta.Accessor(obj)
	if err != nil {
		return 0, err
	}
	if m.GetResourceVersion() == "" {
		return 0, nil
	}
	return strconv.ParseUint(m.GetResourceVersion(), 10, 64)
}

// checkRevision compares the object's resourceVersion with the live one's: 409 if they differ, 422 if there is none and the resource
// requires one (S3). An unconditional update takes the live one.
func (q *Request) checkRevision(obj, live runtime.Object) error {
	asked, err := revision(obj)
	if err != nil {
		return err
	}
	have, err := revision(live)
	if err != nil {
		return err
	}
	switch {
	case asked == have:
		return nil
	case asked != 0:
		return apierrors.NewConflict(q.Resource.GroupResource(), q.Name, fmt.Errorf("the object has been modified; please apply your changes to the latest version and try again"))
	case q.Resource.UnconditionalUpdate:
		m, err := meta.Accessor(obj)
		if err != nil {
			return err
		}
		m.SetResourceVersion(strconv.FormatUint(have, 10))
		return nil
	}
	kind := schema.GroupKind{Group: q.Resource.Group, Kind: q.Resource.Plural}
	return apierrors.NewInvalid(kind, q.Name, field.ErrorList{
		field.Invalid(field.NewPath("metadata", "resourceVersion"), asked, "must be specified for an update"),
	})
}

// checkUID rejects an update of another object of the same name with a 409 that shows the storage key (S28).
func (q *Request) checkUID(obj, live runtime.Object) error {
	asked, err := meta.Accessor(obj)
	if err != nil || asked.GetUID() == "" {
		return nil
	}
	have, err := meta.Accessor(live)
	if err != nil || asked.GetUID() == have.GetUID() {
		return nil
	}
	return UIDConflict(q.Resource, q.Namespace, q.Name, string(asked.GetUID()), string(have.GetUID()))
}

// UIDConflict returns the answer to a write or delete whose uid is not the live object's.
func UIDConflict(r *types.Resource, namespace, name, asked, have string) error {
	return preconditionFailed(r, namespace, name, fmt.Sprintf("Precondition failed: UID in precondition: %s, UID in object meta: %s", asked, have))
}

// ReadableConflict returns the answer to a delete of an unreadable object when the object can be read.
func ReadableConflict(r *types.Resource, namespace, name string) error {
	return preconditionFailed(r, namespace, name, "unsafe deletion is not allowed because the object is decodable from storage")
}

func preconditionFailed(r *types.Resource, namespace, name, why string) error {
	return apierrors.NewConflict(r.GroupResource(), name, fmt.Errorf("StorageError: invalid object, Code: 4, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: %s", StorageKey(r, namespace, name), why))
}

// StorageKey returns an object's etcd key, as a real server's errors show it. Those of built-in resources contain no group.
func StorageKey(r *types.Resource, namespace, name string) string {
	key := "/registry/"
	if r.Custom {
		key += r.Group + "/"
	}
	key += r.Plural + "/"
	if r.Namespaced {
		key += namespace + "/"
	}
	return key + name
}
