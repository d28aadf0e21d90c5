package types

import (
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apitypes "k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// System has the values that the system assigns to a new object.
type System struct {
	// Namespace is the request's; "" for cluster-scoped resources.
	Namespace string
	UID       apitypes.UID
	// Now becomes the creationTimestamp, truncated to seconds.
	Now time.Time
	// Suffix is appended to generateName, SuffixLength characters of SuffixAlphabet.
	Suffix string
}

// The suffix of generated names. A generateName is truncated so that the name fits into a label.
const (
	SuffixAlphabet = "bcdfghjklmnpqrstvwxz2456789"
	SuffixLength   = 5
	nameBase       = 63 - SuffixLength
)

// GenerateName returns the name for a generateName.
func GenerateName(base, suffix string) string {
	return base[:min(len(base), nameBase)] + suffix
}

// WipeForCreate drops, in place, the metadata that only the system sets, and sets the request's namespace: 400 if the object names
// another. A create does this before it tracks fields.
func (r *Resource) WipeForCreate(obj runtime.Object, namespace string) error {
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil // a review has no metadata
	}
	wipe(m)
	return r.MatchNamespace(obj, namespace)
}

func wipe(m metav1.Object) {
	m.SetCreationTimestamp(metav1.Time{})
	m.SetUID("")
	m.SetDeletionTimestamp(nil)
	m.SetDeletionGracePeriodSeconds(nil)
	m.SetSelfLink("")
}

// MatchNamespace sets, in place, the request's namespace, and clears that of a cluster-scoped object (S33): 400 if the object names
// another.
func (r *Resource) MatchNamespace(obj runtime.Object, namespace string) error {
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil // a review has no metadata
	}
	if !r.Namespaced {
		namespace = ""
	}
	if have := m.GetNamespace(); have != "" && namespace != "" && have != namespace {
		return apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	m.SetNamespace(namespace)
	return nil
}

// BeforeCreate prepares, in place, an object to be stored: system metadata, generated name, generation, validation. It returns
// warnings, and a 422 with every cause.
func (r *Resource) BeforeCreate(obj runtime.Object, s System) ([]string, error) {
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	wipe(m)
	m.SetCreationTimestamp(metav1.NewTime(s.Now.UTC().Truncate(time.Second)))
	m.SetUID(s.UID)
	if m.GetGenerateName() != "" && m.GetName() == "" {
		m.SetName(GenerateName(m.GetGenerateName(), s.Suffix))
	}
	if err := r.MatchNamespace(obj, s.Namespace); err != nil {
		return nil, err
	}
	rules, err := r.rules()
	if err != nil {
		return nil, err
	}
	rules.PrepareForCreate(obj)
	errs := rules.Validate(obj)
	if len(errs) == 0 {
		errs = validation.ValidateObjectMetaAccessor(m, r.Namespaced, pathSegment, field.NewPath("metadata"))
	}
	if len(errs) > 0 {
		return nil, r.invalid(obj, m.GetName(), errs)
	}
	return rules.Warnings(obj, nil, ""), nil
}

// rules returns the rules of the resource's strategy.
func (r *Resource) rules() (Rules, error) {
	rules, ok := r.Strategy.(Rules)
	if !ok {
		return nil, apierrors.NewInternalError(fmt.Errorf("the strategy of %s carries out writes itself", r))
	}
	return rules, nil
}

// BeforeUpdate prepares, in place, an object to replace old, which is not changed. It returns warnings, and a 422 with every cause,
// some repeated (S29).
func (r *Resource) BeforeUpdate(obj, old runtime.Object, namespace, subresource string) ([]string, error) {
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	o, err := meta.Accessor(old)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	if err := r.MatchNamespace(obj, namespace); err != nil {
		return nil, err
	}
	m.SetGeneration(o.GetGeneration())
	// A scale is written through the resource, under the resource's own rules.
	if subresource == Scale {
		subresource = ""
	}
	rules, err := r.rules()
	if err != nil {
		return nil, err
	}
	rules.PrepareForUpdate(obj, old, subresource)
	keepSystemMeta(m, o)
	errs := validation.ValidateObjectMetaAccessor(m, r.Namespaced, pathSegment, field.NewPath("metadata"))
	errs = append(errs, validation.ValidateObjectMetaAccessorUpdate(m, o, field.NewPath("metadata"))...)
	errs = append(errs, rules.ValidateUpdate(obj, old, subresource)...)
	if len(errs) > 0 {
		return nil, r.invalid(obj, m.GetName(), errs)
	}
	return rules.Warnings(obj, old, subresource), nil
}

// keepSystemMeta silently restores metadata that an update cannot set (S28).
func keepSystemMeta(m, old metav1.Object) {
	m.SetSelfLink("")
	if m.GetUID() == "" {
		m.SetUID(old.GetUID())
	}
	if t := old.GetCreationTimestamp(); !t.IsZero() {
		m.SetCreationTimestamp(t)
	}
	if t := old.GetDeletionTimestamp(); !t.IsZero() {
		m.SetDeletionTimestamp(t)
	}
	if s := old.GetDeletionGracePeriodSeconds(); s != nil && m.GetDeletionGracePeriodSeconds() == nil {
		m.SetDeletionGracePeriodSeconds(s)
	}
}

// NameError returns the 400 for a name in a URL that no object can have, otherwise nil.
func NameError(name string) error {
	if why := content.IsPathSegmentName(name); len(why) > 0 {
		return apierrors.NewBadRequest(fmt.Sprintf("Name parameter invalid: %q: %s", name, strings.Join(why, ";")))
	}
	return nil
}

func pathSegment(name string, prefix bool) []string {
	if prefix {
		return content.IsPathSegmentPrefix(name)
	}
	return content.IsPathSegmentName(name)
}

// invalid returns a 422 that names the object's own kind, wrong or not (S31).
func (r *Resource) invalid(obj runtime.Object, name string, errs field.ErrorList) error {
	gvk := obj.GetObjectKind().GroupVersionKind()
	if gvk.Empty() {
		gvk = r.GroupVersionKind()
	}
	return apierrors.NewInvalid(gvk.GroupKind(), name, InOrder(errs))
}

// InOrder sorts errors by field, those without a field last. Validation walks maps, so a real server lists several errors in any
// order; here the order is fixed. Errors of one field keep their order, unless the field is a map itself.
func InOrder(errs field.ErrorList) field.ErrorList {
	slices.SortStableFunc(errs, func(a, b *field.Error) int {
		noA, noB := a.Field == "" || a.Field == "<nil>", b.Field == "" || b.Field == "<nil>"
		switch {
		case noA != noB && noA:
			return 1
		case noA != noB:
			return -1
		case a.Field != b.Field:
			return strings.Compare(a.Field, b.Field)
		case a.Field == "metadata.labels" || a.Field == "metadata.annotations":
			return strings.Compare(a.Error(), b.Error())
		}
		return 0
	})
	return errs
}

// CheckName returns a 400 if an object is not the one that the URL names.
func (r *Resource) CheckName(obj runtime.Object, namespace, name string) error {
	m, err := meta.Accessor(obj)
	if err == nil && m.GetName() == "" {
		err = fmt.Errorf("name must be provided")
	}
	if err != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s based on URL) was undeterminable: %v", name, err))
	}
	if m.GetName() != name {
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", m.GetName(), name))
	}
	if ns := m.GetNamespace(); namespace != "" && ns != "" && ns != namespace {
		return apierrors.NewBadRequest(fmt.Sprintf("the namespace of the object (%s) does not match the namespace on the request (%s)", ns, namespace))
	}
	return nil
}

// DedupOwners drops, in place, duplicate owner references, and returns the warning about it; "" if there are none.
func DedupOwners(obj runtime.Object) string {
	m, err := meta.Accessor(obj)
	if err != nil {
		return ""
	}
	var distinct []metav1.OwnerReference
	var twice []string
	for _, ref := range m.GetOwnerReferences() {
		if slices.ContainsFunc(distinct, func(k metav1.OwnerReference) bool { return equalOwners(k, ref) }) {
			twice = append(twice, string(ref.UID))
		} else {
			distinct = append(distinct, ref)
		}
	}
	if len(twice) == 0 {
		return ""
	}
	m.SetOwnerReferences(distinct)
	return fmt.Sprintf(".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: %v", strings.Join(twice, ", "))
}

func equalOwners(a, b metav1.OwnerReference) bool {
	same := func(x, y *bool) bool { return (x == nil) == (y == nil) && (x == nil || *x == *y) }
	return a.APIVersion == b.APIVersion && a.Kind == b.Kind && a.Name == b.Name && a.UID == b.UID &&
		same(a.Controller, b.Controller) && same(a.BlockOwnerDeletion, b.BlockOwnerDeletion)
}
