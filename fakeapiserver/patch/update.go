package patch

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	apitypes "k8s.io/apimachinery/pkg/types"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// Update returns the object of a PUT. live is nil if it does not exist.
func (w *Writer) Update(q Request, live runtime.Object, body types.Body, o *metav1.UpdateOptions) (Result, error) {
	if q.Name == "" {
		return Result{}, errNoName
	}
	if err := invalidOptions("UpdateOptions", metav1validation.ValidateUpdateOptions(o)); err != nil {
		return Result{}, err
	}
	body.Directive = o.FieldValidation
	q.DryRun = len(o.DryRun) > 0
	obj, warnings, err := q.Resource.Decode(body, q.Subresource)
	if err != nil {
		return Result{}, err
	}
	if err := q.Resource.MatchNamespace(obj, q.Namespace); err != nil {
		return Result{Warnings: warnings}, err
	}
	if err := q.Resource.CheckName(obj, q.Namespace, q.Name); err != nil {
		return Result{Warnings: warnings}, err
	}
	if text := types.DedupOwners(obj); text != "" {
		warnings = append(warnings, text)
	}
	manager := ManagerName(o.FieldManager, q.UserAgent)
	if s := q.storage(); s != nil {
		return q.updateIn(s, live, uidAsked(obj), func(current runtime.Object) (runtime.Object, error) {
			return w.track(&q, current, obj, manager)
		}, &warnings)
	}
	if live == nil {
		if q.Subresource != "" || !q.Resource.CreateOnUpdate {
			return Result{Warnings: warnings}, q.notFound()
		}
		if obj, err = w.track(&q, nil, obj, manager); err != nil {
			return Result{Warnings: warnings}, err
		}
		if err := q.admit(obj); err != nil {
			return Result{Warnings: warnings}, err
		}
		return q.created(obj, warnings)
	}
	if err := q.checkUID(obj, live); err != nil {
		return Result{Warnings: warnings}, err
	}
	shown, err := q.Resource.Strategy.Convert(live)
	if err != nil {
		return Result{Warnings: warnings}, err
	}
	if q.Subresource == types.Scale {
		obj, err = w.throughScale(&q, shown, func(scale runtime.Object) (runtime.Object, error) {
			return w.track(&q, scale, obj, manager)
		})
	} else {
		obj, err = w.track(&q, shown, obj, manager)
	}
	if err != nil {
		return Result{Warnings: warnings}, err
	}
	return q.updated(obj, shown, live, warnings)
}

// updated prepares an object to replace the live one, and determines what the store must do. live is in the request's version,
// stored is the same object in the storage version.
func (q *Request) updated(obj, live, stored runtime.Object, warnings []string) (Result, error) {
	obj, err := q.mutated(obj, live)
	if err != nil {
		return Result{Warnings: warnings}, err
	}
	if err := q.checkRevision(obj, live); err != nil {
		return Result{Warnings: warnings}, err
	}
	more, err := q.Resource.BeforeUpdate(obj, live, q.Namespace, q.Subresource)
	if err != nil {
		return Result{Warnings: warnings}, err
	}
	result := Result{Object: ignoreTimes(obj, live), Warnings: append(warnings, more...)}
	if result.Object, result.Persisted, err = q.asStored(result.Object); err != nil {
		return Result{Warnings: warnings}, err
	}
	result.Delete = finalized(result.Object, stored)
	result.Unchanged = !result.Delete && q.unchanged(result, stored)
	return result, nil
}

// finalized reports whether an object that is being deleted has neither finalizers nor a grace period left.
func finalized(obj, live runtime.Object) bool {
	m, err := meta.Accessor(obj)
	was, liveErr := meta.Accessor(live)
	if err != nil || liveErr != nil || len(m.GetFinalizers()) > 0 || was.GetDeletionTimestamp() == nil {
		return false
	}
	grace := was.GetDeletionGracePeriodSeconds()
	return grace == nil || *grace == 0
}

func setRevision(obj runtime.Object, rv string) {
	if m, err := meta.Accessor(obj); err == nil {
		m.SetResourceVersion(rv)
	}
}

// uidAsked returns the uid in an object that is to replace another, nil if there is none.
func uidAsked(obj runtime.Object) *apitypes.UID {
	uid := apitypes.UID(uidOf(obj))
	if uid == "" {
		return nil
	}
	return &uid
}
