package types

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// nameRules has the kinds whose names follow other rules than a DNS subdomain's.
var nameRules = map[string]validation.ValidateNameFunc{
	"namespaces":          validation.ValidateNamespaceName,
	"services":            validation.NameIsDNS1035Label,
	"roles":               path.ValidatePathSegmentName,
	"rolebindings":        path.ValidatePathSegmentName,
	"clusterroles":        path.ValidatePathSegmentName,
	"clusterrolebindings": path.ValidatePathSegmentName,
}

func (s *builtin) nameRule() validation.ValidateNameFunc {
	if rule := nameRules[s.resource.Plural]; rule != nil {
		return rule
	}
	return validation.NameIsDNSSubdomain
}

// Validate checks metadata only: no library has the kinds' own rules.
func (s *builtin) Validate(obj runtime.Object) field.ErrorList {
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil // a review has no metadata
	}
	return validation.ValidateObjectMetaAccessor(m, s.resource.Namespaced, s.nameRule(), field.NewPath("metadata"))
}

// ValidateUpdate checks metadata only.
func (s *builtin) ValidateUpdate(obj, old runtime.Object, _ string) field.ErrorList {
	m, err := meta.Accessor(obj)
	o, oldErr := meta.Accessor(old)
	if err != nil || oldErr != nil {
		return nil
	}
	return validation.ValidateObjectMetaAccessorUpdate(m, o, field.NewPath("metadata"))
}
