package api

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/internal/selectors"
)

// selector is what a request selects.
type selector struct {
	namespace string
	labels    labels.Selector
	fields    fields.Selector
	resource  *store.Resource
}

// selectorOf returns what a request selects, nil if its selectors are malformed.
func selectorOf(q *fakeapiserver.Asked, res *store.Resource) *selector {
	l, f, err := selectors.Parse(q.Options.LabelSelector, q.Options.FieldSelector)
	if err != nil {
		return nil
	}
	return &selector{namespace: q.Namespace, labels: l, fields: f, resource: res}
}

// has reports whether the selection has the object.
func (s *selector) has(obj runtime.Object) bool {
	m, ok := obj.(metav1.Object)
	if !ok || s.namespace != "" && m.GetNamespace() != s.namespace {
		return false
	}
	if !s.labels.Empty() && !s.labels.Matches(labels.Set(m.GetLabels())) {
		return false
	}
	for _, q := range s.fields.Requirements() {
		if equal := s.value(obj, m, q.Field) == q.Value; equal == (q.Operator == "!=") {
			return false
		}
	}
	return true
}

// value returns the value of a field that can be selected by.
func (s *selector) value(obj runtime.Object, m metav1.Object, field string) string {
	switch {
	case field == "metadata.name":
		return m.GetName()
	case field == "metadata.namespace":
		return m.GetNamespace()
	case s.resource.Field == nil:
		return ""
	}
	v, _ := s.resource.Field(obj, field)
	return v
}

// event returns what a change is to the selection, "" if it does not concern it (S17).
func (s *selector) event(v *store.Version) watch.EventType {
	before := v.Before()
	was, is := before != nil && s.has(before.Object()), !v.Deleted() && s.has(v.Object())
	switch {
	case is && was:
		return watch.Modified
	case is:
		return watch.Added
	case was:
		return watch.Deleted
	}
	return ""
}
