package informers

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/internal/selectors"
	"github.com/informersim/informersim/subjects"
)

// selection selects the objects that an informer should hold.
type selection struct {
	namespace string
	labels    labels.Selector
	fields    fields.Selector
}

func newSelection(spec *subjects.InformerSpec) (selection, error) {
	l, f, err := selectors.Parse(spec.Labels, spec.Fields)
	return selection{namespace: spec.Namespace, labels: l, fields: f}, err
}

func (s *selection) selects(obj runtime.Object) bool {
	if s.namespace == "" && s.labels.Empty() && s.fields.Empty() {
		return true
	}
	m, err := meta.Accessor(obj)
	if err != nil || s.namespace != "" && m.GetNamespace() != s.namespace {
		return false
	}
	if !s.labels.Empty() && !s.labels.Matches(labels.Set(m.GetLabels())) {
		return false
	}
	return s.fields.Empty() || s.fields.Matches(objectFields{m})
}

// objectFields are those by which every object can be selected.
type objectFields struct{ metav1.Object }

func (objectFields) Has(field string) bool {
	return field == "metadata.name" || field == "metadata.namespace"
}

func (o objectFields) Get(field string) string {
	switch field {
	case "metadata.name":
		return o.GetName()
	case "metadata.namespace":
		return o.GetNamespace()
	}
	return ""
}
