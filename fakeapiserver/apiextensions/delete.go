package apiextensions

import (
	"fmt"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informersim/informersim/fakeapiserver/controllers"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/fakeapiserver/types/crd"
)

// emptyTimeout is how long to wait for a deleted definition's objects to go before starting over.
const emptyTimeout = time.Minute

// collection holds the objects of a definition that is being deleted.
type collection struct {
	res      store.ResourceID
	deadline time.Time // when the wait times out
}

// empty deletes the objects of a definition that is being deleted, waits until they are gone, and removes its finalizer.
func (s *Server) empty(d *definition) *definition {
	if d.DeletionTimestamp == nil || !apihelpers.CRDHasFinalizer(d, apiextensionsv1.CustomResourceCleanupFinalizer) {
		return nil
	}
	e := s.emptying[d.Name]
	if e == nil {
		res, _ := s.cluster.FindResource(schema.GroupResource{Group: d.Spec.Group, Resource: d.Spec.Names.Plural})
		s.emptying[d.Name] = &collection{res: res, deadline: s.cluster.Now().Add(emptyTimeout)}
		return s.terminating(d, apiextensionsv1.ConditionTrue, "InstanceDeletionInProgress", "CustomResource deletion is in progress")
	}
	if !apihelpers.IsCRDConditionTrue(d, apiextensionsv1.Established) {
		return s.released(s.terminating(d, apiextensionsv1.ConditionFalse, "NeverEstablished", "resource was never established"))
	}
	left, err := controllers.DeleteAll(s.cluster, e.res)
	switch {
	case err != nil:
		return s.later(d, "InstanceDeletionFailed", fmt.Sprintf("could not issue all deletes: %v", err))
	case left == 0:
		return s.released(s.terminating(d, apiextensionsv1.ConditionFalse, "InstanceDeletionCompleted", "removed all instances"))
	case s.cluster.Now().Before(e.deadline):
		s.again(d.Name, e.deadline.Sub(s.cluster.Now()))
		return nil // the deletion of the last object queues d again
	}
	return s.later(d, "InstanceDeletionCheck", "could not confirm zero CustomResources remaining: context deadline exceeded")
}

// later records a failure in the condition, and retries after a while.
func (s *Server) later(d *definition, reason, message string) *definition {
	delete(s.emptying, d.Name)
	s.again(d.Name, retry)
	have := apihelpers.FindCRDCondition(d, apiextensionsv1.Terminating)
	if have != nil && have.Reason == reason && have.Message == message {
		return nil
	}
	return s.terminating(d, apiextensionsv1.ConditionTrue, reason, message)
}

func (s *Server) terminating(d *definition, status apiextensionsv1.ConditionStatus, reason, message string) *definition {
	next := withoutSpecCopy(d)
	crd.SetCondition(next, condition{Type: apiextensionsv1.Terminating, Status: status, Reason: reason, Message: message}, s.now())
	return next
}

// released removes, in place, the finalizer that blocks a definition's deletion.
func (s *Server) released(d *definition) *definition {
	apihelpers.CRDRemoveFinalizer(d, apiextensionsv1.CustomResourceCleanupFinalizer)
	return d
}
