package apiextensions

import (
	"fmt"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/informersim/informersim/fakeapiserver/types/crd"
)

type (
	definition = apiextensionsv1.CustomResourceDefinition
	condition  = apiextensionsv1.CustomResourceDefinitionCondition
)

// names accepts the names that no other definition of the group has. It returns the definition with its new status, nil if nothing
// changes.
func (s *Server) names(d *definition) *definition {
	if equality.Semantic.DeepEqual(d.Spec.Names, d.Status.AcceptedNames) {
		return nil
	}
	accepted, conflict := s.accept(d)
	verdict := condition{Type: apiextensionsv1.NamesAccepted, Status: apiextensionsv1.ConditionTrue, Reason: "NoConflicts", Message: "no conflicts found"}
	if conflict != nil {
		verdict = *conflict
	}
	if equality.Semantic.DeepEqual(accepted, d.Status.AcceptedNames) && apihelpers.IsCRDConditionEquivalent(&verdict, apihelpers.FindCRDCondition(d, verdict.Type)) {
		return nil
	}
	next := withoutSpecCopy(d)
	next.Status.AcceptedNames = accepted
	crd.SetCondition(next, verdict, s.now())
	crd.SetCondition(next, established(d, verdict.Status), s.now())
	s.others(d.Name, d.Spec.Group) // a name may have become free
	return next
}

// established returns the Established condition for a NamesAccepted status: once true it stays true, and a separate write makes it
// true.
func established(d *definition, names apiextensionsv1.ConditionStatus) condition {
	have := apihelpers.FindCRDCondition(d, apiextensionsv1.Established)
	switch {
	case have != nil && have.Status == apiextensionsv1.ConditionTrue:
		return *have
	case names == apiextensionsv1.ConditionTrue:
		return condition{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionFalse, Reason: "Installing", Message: "the initial names have been accepted"}
	case have != nil:
		return *have
	}
	return condition{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionFalse, Reason: "NotAccepted", Message: "not all names are accepted"}
}

// accept returns the names that a definition gets, and the last conflict if there is one.
func (s *Server) accept(d *definition) (apiextensionsv1.CustomResourceDefinitionNames, *condition) {
	resources, kinds := s.taken(d)
	asked, accepted := d.Spec.Names, *d.Status.AcceptedNames.DeepCopy()
	var conflict *condition
	check := func(reason string, err error, accept func()) {
		if err == nil {
			accept()
			return
		}
		conflict = &condition{Type: apiextensionsv1.NamesAccepted, Status: apiextensionsv1.ConditionFalse, Reason: reason, Message: err.Error()}
	}
	check("PluralConflict", checkFree(asked.Plural, accepted.Plural, resources), func() { accepted.Plural = asked.Plural })
	check("SingularConflict", checkFree(asked.Singular, accepted.Singular, resources), func() { accepted.Singular = asked.Singular })
	if !slices.Equal(asked.ShortNames, accepted.ShortNames) {
		var errs []error
		for _, name := range asked.ShortNames {
			if err := checkFree(name, "", resources); err != nil && !slices.Contains(accepted.ShortNames, name) {
				errs = append(errs, err)
			}
		}
		check("ShortNamesConflict", aggregate(errs), func() { accepted.ShortNames = asked.ShortNames })
	}
	check("KindConflict", checkFree(asked.Kind, accepted.Kind, kinds), func() { accepted.Kind = asked.Kind })
	check("ListKindConflict", checkFree(asked.ListKind, accepted.ListKind, kinds), func() { accepted.ListKind = asked.ListKind })
	accepted.Categories = asked.Categories
	return accepted, conflict
}

func aggregate(errs []error) error {
	if len(errs) == 0 {
		return nil // not a nil Aggregate
	}
	return utilerrors.NewAggregate(errs)
}

// taken returns the names of the group's definitions, d's own accepted ones included.
func (s *Server) taken(d *definition) (resources, kinds map[string]bool) {
	resources, kinds = map[string]bool{}, map[string]bool{}
	for _, other := range s.definitions() {
		if other.Spec.Group != d.Spec.Group {
			continue
		}
		names := &other.Status.AcceptedNames
		for _, name := range append([]string{names.Plural, names.Singular}, names.ShortNames...) {
			resources[name] = true
		}
		kinds[names.Kind], kinds[names.ListKind] = true, true
	}
	return resources, kinds
}

func checkFree(asked, accepted string, taken map[string]bool) error {
	if asked == accepted || !taken[asked] {
		return nil
	}
	return fmt.Errorf("%q is already in use", asked)
}

// approval sets the condition that says whether a definition in a protected Kubernetes group was approved.
func (s *Server) approval(d *definition) *definition {
	if !apihelpers.IsProtectedCommunityGroup(d.Spec.Group) {
		return nil
	}
	state, message := apihelpers.GetAPIApprovalState(d.Annotations)
	verdict := condition{Type: apiextensionsv1.KubernetesAPIApprovalPolicyConformant, Status: apiextensionsv1.ConditionFalse, Message: message}
	switch state {
	case apihelpers.APIApprovalInvalid:
		verdict.Reason = "InvalidAnnotation"
	case apihelpers.APIApprovalMissing:
		verdict.Reason = "MissingAnnotation"
	case apihelpers.APIApproved:
		verdict.Status, verdict.Reason = apiextensionsv1.ConditionTrue, "ApprovedAnnotation"
	case apihelpers.APIApprovalBypassed:
		verdict.Reason = "UnapprovedAnnotation"
	default:
		verdict.Status, verdict.Reason = apiextensionsv1.ConditionUnknown, "UnknownAnnotation"
	}
	if apihelpers.IsCRDConditionEquivalent(&verdict, apihelpers.FindCRDCondition(d, verdict.Type)) {
		return nil
	}
	next := withoutSpecCopy(d)
	crd.SetCondition(next, verdict, s.now())
	return next
}

// establish sets the Established condition once the names are accepted.
func (s *Server) establish(d *definition) *definition {
	if !apihelpers.IsCRDConditionTrue(d, apiextensionsv1.NamesAccepted) || apihelpers.IsCRDConditionTrue(d, apiextensionsv1.Established) {
		return nil
	}
	next := withoutSpecCopy(d)
	crd.SetCondition(next, condition{
		Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue, Reason: "InitialNamesAccepted",
		Message: "the initial names have been accepted",
	}, s.now())
	return next
}
