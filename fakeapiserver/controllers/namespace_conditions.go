package controllers

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/fakeapiserver/store"
)

// remainder counts what is left in a namespace.
type remainder struct {
	objects               int
	resources, finalizers map[string]int
}

func newRemainder() *remainder {
	return &remainder{resources: map[string]int{}, finalizers: map[string]int{}}
}

func (r *remainder) count(of *store.Resource, m metav1.Object) {
	r.objects++
	r.resources[of.Plural+"."+of.Group]++
	for _, f := range m.GetFinalizers() {
		r.finalizers[f]++
	}
}

// sentence lists counts in order.
func sentence(counts map[string]int, format string) string {
	var all []string
	for what, n := range counts { // order: sorted below
		all = append(all, fmt.Sprintf(format, what, n))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// namespaceConditions are the conditions of a namespace from which nothing is left, as a real controller writes them.
var namespaceConditions = []corev1.NamespaceCondition{
	{Type: corev1.NamespaceDeletionDiscoveryFailure, Reason: "ResourcesDiscovered", Message: "All resources successfully discovered"},
	{Type: corev1.NamespaceDeletionGVParsingFailure, Reason: "ParsedGroupVersions", Message: "All legacy kube types successfully parsed"},
	{Type: corev1.NamespaceDeletionContentFailure, Reason: "ContentDeleted", Message: "All content successfully deleted, may be waiting on finalization"},
	{Type: corev1.NamespaceContentRemaining, Reason: "ContentRemoved", Message: "All content successfully removed"},
	{Type: corev1.NamespaceFinalizersRemaining, Reason: "ContentHasNoFinalizers", Message: "All content-preserving finalizers finished"},
}

// conditions returns the conditions of a namespace that is left with r.
func (r *remainder) conditions() []corev1.NamespaceCondition {
	all := slices.Clone(namespaceConditions)
	for i := range all {
		c := &all[i]
		c.Status = corev1.ConditionFalse
		switch {
		case c.Type == corev1.NamespaceContentRemaining && len(r.resources) > 0:
			c.Status, c.Reason = corev1.ConditionTrue, "SomeResourcesRemain"
			c.Message = "Some resources are remaining: " + sentence(r.resources, "%s has %d resource instances")
		case c.Type == corev1.NamespaceFinalizersRemaining && len(r.finalizers) > 0:
			c.Status, c.Reason = corev1.ConditionTrue, "SomeFinalizersRemain"
			c.Message = "Some content in the namespace has finalizers remaining: " + sentence(r.finalizers, "%s in %d resource instances")
		}
	}
	return all
}

// report writes into a namespace's status what is left in it. It writes nothing that is there already.
func (n *NamespaceController) report(ns object, rest *remainder) error {
	obj, _ := n.get(ns)
	live, ok := obj.(*corev1.Namespace)
	if !ok {
		return nil
	}
	now := metav1.NewTime(n.cluster.Now())
	conditions, changed := slices.Clone(live.Status.Conditions), false
	for _, c := range rest.conditions() {
		c.LastTransitionTime = now.Rfc3339Copy()
		i := slices.IndexFunc(conditions, func(was corev1.NamespaceCondition) bool { return was.Type == c.Type })
		if i < 0 {
			conditions, changed = append(conditions, c), true
			continue
		}
		was := &conditions[i]
		if was.Status == c.Status && was.Reason == c.Reason && was.Message == c.Message {
			continue
		}
		if was.Status == c.Status {
			c.LastTransitionTime = was.LastTransitionTime
		}
		conditions[i], changed = c, true
	}
	if !changed {
		return nil
	}
	return n.change(ns, func(m metav1.Object) {
		if o, ok := m.(*corev1.Namespace); ok {
			o.Status.Phase, o.Status.Conditions = corev1.NamespaceTerminating, conditions
		}
	})
}
