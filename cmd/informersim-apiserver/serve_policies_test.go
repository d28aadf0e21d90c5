package main

import (
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// matchingMaps are the constraints of a policy about ConfigMaps.
func matchingMaps(operations ...admissionregistrationv1.OperationType) *admissionregistrationv1.MatchResources {
	return &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
		RuleWithOperations: admissionregistrationv1.RuleWithOperations{
			Operations: operations,
			Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
		},
	}}}
}

// Policies hold from the request on that follows their binding, and until the binding is gone. Those that change an object come before those
// that may refuse it, and parameters are what is stored then.
func TestPolicies(t *testing.T) {
	t.Parallel()
	p := serveIn(t)
	c := clientOf(t, p.root)
	ctx, api := t.Context(), c.AdmissionregistrationV1()
	maps := c.CoreV1().ConfigMaps("default")
	limits := configMap("limits", map[string]string{"max": "2"})
	limits.Namespace = "kube-public"
	if _, err := c.CoreV1().ConfigMaps("kube-public").Create(ctx, limits, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "limits"},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			ParamKind: &admissionregistrationv1.ParamKind{APIVersion: "v1", Kind: "ConfigMap"}, MatchConstraints: matchingMaps("CREATE"),
			Validations: []admissionregistrationv1.Validation{{Expression: "size(object.data) <= int(params.data.max)", MessageExpression: "'at most ' + params.data.max"}},
		},
	}
	if _, err := api.ValidatingAdmissionPolicies().Create(ctx, policy, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	three := map[string]string{"a": "1", "b": "2", "c": "3"}
	if _, err := maps.Create(ctx, configMap("unbound", three), metav1.CreateOptions{}); err != nil {
		t.Errorf("without a binding: %v", err)
	}
	deny := admissionregistrationv1.DenyAction
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "limits"},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: "limits", ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
			ParamRef: &admissionregistrationv1.ParamRef{Name: "limits", Namespace: "kube-public", ParameterNotFoundAction: &deny},
		},
	}
	if _, err := api.ValidatingAdmissionPolicyBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	const denied = `configmaps "m" is forbidden: ValidatingAdmissionPolicy 'limits' with binding 'limits' denied request: at most 2`
	if _, err := maps.Create(ctx, configMap("m", three), metav1.CreateOptions{}); !apierrors.IsInvalid(err) || err.Error() != denied {
		t.Errorf("more than the limit: %v", err)
	}
	mutating := &admissionregistrationv1.MutatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "adds"},
		Spec: admissionregistrationv1.MutatingAdmissionPolicySpec{
			MatchConstraints: matchingMaps("CREATE", "UPDATE"), ReinvocationPolicy: admissionregistrationv1.NeverReinvocationPolicy,
			Mutations: []admissionregistrationv1.Mutation{{
				PatchType:          admissionregistrationv1.PatchTypeApplyConfiguration,
				ApplyConfiguration: &admissionregistrationv1.ApplyConfiguration{Expression: "Object{data: {'added': 'yes'}}"},
			}},
		},
	}
	if _, err := api.MutatingAdmissionPolicies().Create(ctx, mutating, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := api.MutatingAdmissionPolicyBindings().Create(ctx, &admissionregistrationv1.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "adds"}, Spec: admissionregistrationv1.MutatingAdmissionPolicyBindingSpec{PolicyName: "adds"},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if got, err := maps.Create(ctx, configMap("n", map[string]string{"a": "1"}), metav1.CreateOptions{}); err != nil || got.Data["added"] != "yes" {
		t.Errorf("what a policy changes: %v, %v", got, err)
	}
	if _, err := maps.Create(ctx, configMap("m", map[string]string{"a": "1", "b": "2"}), metav1.CreateOptions{}); err == nil || err.Error() != denied {
		t.Errorf("with what a policy has added, it is more than the limit: %v", err)
	}
	if err := c.CoreV1().ConfigMaps("kube-public").Delete(ctx, "limits", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := maps.Create(ctx, configMap("o", nil), metav1.CreateOptions{}); err == nil || !strings.Contains(err.Error(), "no params found for policy binding with `Deny` parameterNotFoundAction") {
		t.Errorf("without parameters: %v", err)
	}
	if err := api.ValidatingAdmissionPolicyBindings().Delete(ctx, "limits", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := maps.Create(ctx, configMap("m", three), metav1.CreateOptions{}); err != nil {
		t.Errorf("once the binding is gone: %v", err)
	}
}
