package webhooks

import (
	v1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// defaulted holds configurations with the defaults that the plugins rely on: without a selector, for example, nothing is selected. Objects of
// the store are shared, so these are copies, by their originals.
type defaulted[T comparable] struct{ copies map[T]T }

// of returns the copies of objects, the same ones as before for the same objects.
func (d *defaulted[T]) of(objects []T, copied func(T) T) []T {
	now := make(map[T]T, len(objects))
	all := make([]T, 0, len(objects))
	for _, o := range objects {
		c, known := d.copies[o]
		if !known {
			c = copied(o)
		}
		now[o] = c
		all = append(all, c)
	}
	d.copies = now
	return all
}

func defaultMutating(o *v1.MutatingWebhookConfiguration) *v1.MutatingWebhookConfiguration {
	o = o.DeepCopy()
	for i := range o.Webhooks {
		h := &o.Webhooks[i]
		setDefaults(h.Rules, &h.ClientConfig, &h.FailurePolicy, &h.MatchPolicy, &h.NamespaceSelector, &h.ObjectSelector, &h.TimeoutSeconds)
		fill(&h.ReinvocationPolicy, v1.NeverReinvocationPolicy)
	}
	return o
}

func defaultValidating(o *v1.ValidatingWebhookConfiguration) *v1.ValidatingWebhookConfiguration {
	o = o.DeepCopy()
	for i := range o.Webhooks {
		h := &o.Webhooks[i]
		setDefaults(h.Rules, &h.ClientConfig, &h.FailurePolicy, &h.MatchPolicy, &h.NamespaceSelector, &h.ObjectSelector, &h.TimeoutSeconds)
	}
	return o
}

func setDefaults(rules []v1.RuleWithOperations, client *v1.WebhookClientConfig, failure **v1.FailurePolicyType, match **v1.MatchPolicyType,
	namespaces, objects **metav1.LabelSelector, timeout **int32) {
	for i := range rules {
		fill(&rules[i].Scope, v1.AllScopes)
	}
	if client.Service != nil {
		fill(&client.Service.Port, 443)
	}
	fill(failure, v1.Fail)
	fill(match, v1.Equivalent)
	fill(namespaces, metav1.LabelSelector{})
	fill(objects, metav1.LabelSelector{})
	fill(timeout, 10)
}

// fill sets what is not set.
func fill[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}
