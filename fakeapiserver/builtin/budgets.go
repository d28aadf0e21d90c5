package builtin

import (
	"context"
	"fmt"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	policyclient "k8s.io/client-go/kubernetes/typed/policy/v1"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// budgets is the client with which an eviction reads PodDisruptionBudgets and takes from them. It implements
// policyclient.PodDisruptionBudgetsGetter.
type budgets struct{ now *current }

var budgetsResource = policyv1.Resource("poddisruptionbudgets")

// PodDisruptionBudgets implements policyclient.PodDisruptionBudgetsGetter.
func (b budgets) PodDisruptionBudgets(namespace string) policyclient.PodDisruptionBudgetInterface {
	return budgetsOf{session: b.now.session, namespace: namespace}
}

// budgetsOf is the client of one namespace. An eviction calls no other methods.
type budgetsOf struct {
	policyclient.PodDisruptionBudgetInterface
	session   *session
	namespace string
}

// List implements policyclient.PodDisruptionBudgetInterface.
func (b budgetsOf) List(context.Context, metav1.ListOptions) (*policyv1.PodDisruptionBudgetList, error) {
	list := &policyv1.PodDisruptionBudgetList{}
	if b.session.write.List == nil {
		return list, nil
	}
	for _, obj := range b.session.write.List(budgetsResource, b.namespace) {
		if budget, ok := obj.(*policyv1.PodDisruptionBudget); ok {
			list.Items = append(list.Items, *budget.DeepCopy())
		}
	}
	return list, nil
}

// Get implements policyclient.PodDisruptionBudgetInterface.
func (b budgetsOf) Get(_ context.Context, name string, _ metav1.GetOptions) (*policyv1.PodDisruptionBudget, error) {
	if budget, ok := b.session.other(budgetsResource, b.namespace, name).(*policyv1.PodDisruptionBudget); ok {
		return budget.DeepCopy(), nil
	}
	return nil, apierrors.NewNotFound(budgetsResource, name)
}

// UpdateStatus implements policyclient.PodDisruptionBudgetInterface: the write is a request of the server's own.
func (b budgetsOf) UpdateStatus(_ context.Context, budget *policyv1.PodDisruptionBudget, _ metav1.UpdateOptions) (*policyv1.PodDisruptionBudget, error) {
	s := b.session
	was, ok := s.other(budgetsResource, budget.Namespace, budget.Name).(*policyv1.PodDisruptionBudget)
	if !ok {
		return nil, fmt.Errorf("builtin: an eviction updates the PodDisruptionBudget %s, which it has not read", budget.Name)
	}
	budget = budget.DeepCopy()
	// An eviction notes its time, by the real clock. It may be the second one of that name.
	if at, before := budget.Status.DisruptedPods[s.write.Name], was.Status.DisruptedPods[s.write.Name]; !at.Equal(&before) {
		budget.Status.DisruptedPods[s.write.Name] = s.now()
	}
	for i := range budget.Status.Conditions {
		c := &budget.Status.Conditions[i]
		same := false
		for j := range was.Status.Conditions {
			same = same || was.Status.Conditions[j].Type == c.Type && was.Status.Conditions[j].LastTransitionTime.Equal(&c.LastTransitionTime)
		}
		if !same {
			c.LastTransitionTime = s.now()
		}
	}
	budget.SetGroupVersionKind(policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget"))
	s.effects = append(s.effects, types.Effect{Resource: budgetsResource, Put: budget, Subresource: types.Status})
	return budget, nil
}
