package fakeapiserver

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informersim/informersim/fakeapiserver/store"
)

// filter selects the objects of a list or a watch.
type filter struct {
	resource  *store.Resource
	namespace string
	labels    labels.Selector // nil for all
	fields    fields.Selector // nil for all
}

// selectors are those of a client's last request, with their texts: it makes most requests with the same ones again.
type selectors struct {
	labelsText, fieldsText string
	labels                 labels.Selector // nil for all
	fields                 fields.Selector // nil for all
}

// newFilter checks the options of a list or watch and parses its selectors: 400 for a malformed selector, then 422 for
// contradictory options, then 400 for a field that cannot be selected by. The selectors are parsed into last, unless they are there.
func newFilter(r *store.Resource, namespace string, o *metav1.ListOptions, watch bool, last *selectors) (filter, error) {
	f := filter{resource: r, namespace: namespace}
	if err := last.parse(o); err != nil {
		return f, err
	}
	f.labels, f.fields = last.labels, last.fields
	if err := validateOptions(o, watch, true); err != nil {
		return f, err
	}
	if f.fields == nil {
		return f, nil
	}
	for _, q := range f.fields.Requirements() {
		if !f.supports(q.Field) {
			return f, apierrors.NewBadRequest(fmt.Sprintf("field label not supported: %s", q.Field))
		}
	}
	return f, nil
}

// parse parses the selectors of a request.
func (l *selectors) parse(o *metav1.ListOptions) error {
	if l.labelsText == o.LabelSelector && l.fieldsText == o.FieldSelector {
		return nil
	}
	parsed := selectors{labelsText: o.LabelSelector, fieldsText: o.FieldSelector}
	if o.LabelSelector != "" {
		s, err := labels.Parse(o.LabelSelector)
		if err != nil {
			return apierrors.NewBadRequest(err.Error())
		}
		if !s.Empty() {
			parsed.labels = s
		}
	}
	if o.FieldSelector != "" {
		s, err := fields.ParseSelector(o.FieldSelector)
		if err != nil {
			return apierrors.NewBadRequest(err.Error())
		}
		if !s.Empty() {
			parsed.fields = s
		}
	}
	*l = parsed
	return nil
}

func (f *filter) supports(field string) bool {
	switch field {
	case "metadata.name":
		return true
	case "metadata.namespace":
		if f.resource.Namespaced {
			return true
		}
		// S12: objects without a namespace have the field in some built-in kinds
	}
	if f.resource.Field == nil {
		return false
	}
	_, ok := f.resource.Field(f.resource.Empty(), field)
	return ok
}

// single reports whether the selectors name one object. A list of it is a get, which has no pages.
func (f *filter) single() bool {
	if f.fields == nil || f.namespace == "" && f.resource.Namespaced {
		return false
	}
	name, ok := f.fields.RequiresExactMatch("metadata.name")
	return ok && name != ""
}

// selects reports whether there are selectors.
func (f *filter) selects() bool { return f.labels != nil || f.fields != nil }

func (f *filter) matches(obj runtime.Object) bool {
	m, ok := obj.(metav1.Object)
	if !ok {
		return false
	}
	if f.namespace != "" && m.GetNamespace() != f.namespace {
		return false
	}
	if f.labels != nil && !f.labels.Matches(labels.Set(m.GetLabels())) {
		return false
	}
	return f.fields == nil || f.fields.Matches(selectableFields{f.resource, obj, m})
}

func validateOptions(o *metav1.ListOptions, watching, watchList bool) error {
	in := internalversion.ListOptions{
		Watch: watching, ResourceVersion: o.ResourceVersion, ResourceVersionMatch: o.ResourceVersionMatch,
		Limit: o.Limit, Continue: o.Continue, SendInitialEvents: o.SendInitialEvents,
	}
	if errs := validation.ValidateListOptions(&in, watchList); len(errs) > 0 {
		return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "ListOptions"}, "", errs)
	}
	return nil
}

// selectableFields gives selectors the fields of an object.
type selectableFields struct {
	resource *store.Resource
	obj      runtime.Object
	meta     metav1.Object
}

func (o selectableFields) Get(field string) string {
	switch field {
	case "metadata.name":
		return o.meta.GetName()
	case "metadata.namespace":
		return o.meta.GetNamespace()
	}
	if o.resource.Field == nil {
		return ""
	}
	v, _ := o.resource.Field(o.obj, field)
	return v
}

func (o selectableFields) Has(field string) bool { return true }
