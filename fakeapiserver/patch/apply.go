package patch

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// applied merges an apply configuration into the live object, nil if it does not exist.
func (p *patcher) applied(live runtime.Object) (runtime.Object, error) {
	wanted := &unstructured.Unstructured{Object: map[string]any{}}
	if err := yaml.Unmarshal(p.data, &wanted.Object); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	p.q.undecoded = true
	force := p.options.Force != nil && *p.options.Force
	obj, err := p.w.apply(p.q, live, wanted, p.options.FieldManager, force)
	if err != nil {
		return nil, err
	}
	if p.ignores() {
		return obj, nil
	}
	// Only duplicate keys are left to find: unknown fields have been rejected above (S30).
	if err := yaml.UnmarshalStrict(p.data, &map[string]any{}); err != nil {
		if p.strict() {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("error strict decoding patch: %v", err))
		}
		p.warnings = append(p.warnings, types.StrictWarnings([]error{err})...)
	}
	return obj, nil
}

func uidOf(obj runtime.Object) string {
	m, err := meta.Accessor(obj)
	if err != nil {
		return ""
	}
	return string(m.GetUID())
}
