package simtest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// selection is what the options of a List select.
type selection struct {
	m      *mirror
	labels []labels.Selector
	fields []fields.Selector
}

func newSelection(m *mirror, options []metav1.ListOptions) (*selection, error) {
	s := &selection{m: m}
	for _, o := range options {
		byLabel, err := labels.Parse(o.LabelSelector)
		if err != nil {
			return nil, fmt.Errorf("the label selector %q: %w", o.LabelSelector, err)
		}
		byField, err := fields.ParseSelector(o.FieldSelector)
		if err != nil {
			return nil, fmt.Errorf("the field selector %q: %w", o.FieldSelector, err)
		}
		for _, r := range byField.Requirements() {
			if r.Field != "metadata.name" && r.Field != "metadata.namespace" && !slices.Contains(m.fields, r.Field) {
				return nil, fmt.Errorf("the field selector %q: %s cannot be selected by %s, only by %s", o.FieldSelector, m.resource, r.Field,
					strings.Join(append([]string{"metadata.name", "metadata.namespace"}, m.fields...), ", "))
			}
		}
		s.labels, s.fields = append(s.labels, byLabel), append(s.fields, byField)
		if o.LabelSelector, o.FieldSelector, o.TypeMeta = "", "", (metav1.TypeMeta{}); !reflect.ValueOf(o).IsZero() {
			return nil, fmt.Errorf("of metav1.ListOptions it knows LabelSelector and FieldSelector only: it reads the Store, at its newest revision and in one piece")
		}
	}
	return s, nil
}

// matches reports whether an object is selected.
func (s *selection) matches(key string, n *entry) (bool, error) {
	for _, by := range s.labels {
		if by.Empty() {
			continue
		}
		if n.labels == nil {
			var obj struct {
				Metadata struct{ Labels labels.Set }
			}
			if err := json.Unmarshal(n.json, &obj); err != nil {
				return false, err
			}
			if n.labels = obj.Metadata.Labels; n.labels == nil {
				n.labels = labels.Set{}
			}
		}
		if !by.Matches(n.labels) {
			return false, nil
		}
	}
	for _, by := range s.fields {
		if !by.Empty() && !by.Matches(s.fieldsOf(key, n)) {
			return false, nil
		}
	}
	return true, nil
}

func (s *selection) fieldsOf(key string, n *entry) fields.Set {
	namespace, name := "", key
	if s.m.namespaced {
		namespace, name, _ = strings.Cut(key, "/")
	}
	set := fields.Set{"metadata.name": name, "metadata.namespace": namespace}
	for i, value := range n.values {
		set[s.m.fields[i]] = value
	}
	return set
}
