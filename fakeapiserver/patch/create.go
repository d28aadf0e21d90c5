package patch

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// errRevisionOnCreate is storage's error for a new object with a resourceVersion; it is not an API error (S2).
var errRevisionOnCreate = errors.New("resourceVersion should not be set on objects to be created")

// Create returns the object of a POST. If it already exists, the store answers AlreadyExists.
func (w *Writer) Create(q Request, body types.Body, o *metav1.CreateOptions) (Result, error) {
	q.DryRun = len(o.DryRun) > 0
	read, err := w.read(&q, body, o)
	if err != nil {
		return read, err
	}
	return q.created(read.Object, read.Warnings)
}

// Act returns what comes of a POST that creates no object of its own kind: a review, or one to a subresource. live is the object
// that the URL names, nil if there is none.
func (w *Writer) Act(q Request, live runtime.Object, body types.Body, o *metav1.CreateOptions) (Result, error) {
	s := q.storage()
	if s == nil {
		return Result{}, apierrors.NewMethodNotSupported(q.Resource.GroupResource(), "create")
	}
	q.DryRun = len(o.DryRun) > 0
	read, err := w.read(&q, body, o)
	if err != nil {
		return read, err
	}
	return q.createIn(s, read.Object, live, read.Warnings)
}

// read returns the object of a POST as its creation gets it: decoded, tracked and admitted, but not validated.
func (w *Writer) read(q *Request, body types.Body, o *metav1.CreateOptions) (Result, error) {
	if err := invalidOptions("CreateOptions", metav1validation.ValidateCreateOptions(o)); err != nil {
		return Result{}, err
	}
	body.Directive = o.FieldValidation
	obj, warnings, err := q.Resource.Decode(body, q.Subresource)
	if err != nil {
		return Result{}, err
	}
	if sub := q.Resource.Subresource(q.Subresource); sub != nil && sub.KeepsMeta {
		err = q.Resource.MatchNamespace(obj, q.Namespace)
	} else {
		err = q.Resource.WipeForCreate(obj, q.Namespace)
	}
	if err != nil {
		return Result{Warnings: warnings}, err
	}
	if text := types.DedupOwners(obj); text != "" {
		warnings = append(warnings, text)
	}
	obj, err = w.track(q, nil, obj, ManagerName(o.FieldManager, q.UserAgent))
	if err != nil {
		return Result{Warnings: warnings}, err
	}
	return Result{Object: obj, Warnings: warnings}, q.admit(obj)
}

func (q *Request) admit(obj runtime.Object) error {
	if q.Admit == nil {
		return nil
	}
	return q.Admit(obj)
}

// mutated returns what webhooks make of an object.
func (q *Request) mutated(obj, old runtime.Object) (runtime.Object, error) {
	if q.Mutate == nil {
		return obj, nil
	}
	return q.Mutate(obj, old)
}

// created prepares a new object for the store.
func (q *Request) created(obj runtime.Object, warnings []string) (Result, error) {
	if q.Resource.Terminating {
		return Result{Warnings: warnings}, q.terminating(obj)
	}
	obj, err := q.mutated(obj, nil)
	if err != nil {
		return Result{Warnings: warnings}, err
	}
	if s := q.storage(); s != nil {
		return q.createIn(s, obj, nil, warnings)
	}
	more, err := q.Resource.BeforeCreate(obj, q.system())
	if err != nil {
		return Result{Warnings: warnings}, err
	}
	if q.CreateRefused != nil {
		return Result{Warnings: warnings}, q.CreateRefused
	}
	if err := q.dropRevision(obj); err != nil {
		return Result{Warnings: warnings}, err
	}
	stored, persisted, err := q.asStored(obj)
	if err != nil {
		return Result{Warnings: warnings}, err
	}
	return Result{Object: stored, Persisted: persisted, Created: true, Warnings: append(warnings, more...)}, nil
}

// terminating rejects a create while the resource's definition is being deleted.
func (q *Request) terminating(obj runtime.Object) error {
	name := q.Name
	if m, err := meta.Accessor(obj); err == nil && name == "" {
		name = m.GetName()
	}
	return apierrors.NewForbidden(q.Resource.GroupResource(), name, errors.New("create not allowed while custom resource definition is terminating"))
}

// dropRevision clears a new object's resourceVersion. A number other than 0 is an error (S2), but in a dry run, which does not get to
// the store that says so, and answers with it.
func (q *Request) dropRevision(obj runtime.Object) error {
	if types.WithoutMeta(obj) {
		return nil
	}
	if rv, err := revision(obj); err == nil && rv != 0 {
		if q.DryRun {
			return nil
		}
		return errRevisionOnCreate
	}
	setRevision(obj, "")
	return nil
}

// invalidOptions returns the 422 for contradictory options (S36).
func invalidOptions(kind string, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: kind}, "", errs)
}
