package rest

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// With Options.Namespaces, namespaces have the life of a real cluster's: nothing is created in one that does not exist or is being
// deleted, a deleted one terminates until its finalizers are gone, and three of them stay (S39, S40).

// namespacesResource is the resource of namespaces.
var namespacesResource = schema.GroupResource{Resource: "namespaces"}

// immortal are the namespaces that cannot be deleted.
var immortal = []string{metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic}

func (c *call) ofNamespaces() bool { return c.resource.GroupResource() == namespacesResource }

// admit returns why an object may not be created in the request's namespace, nil if it may.
func (c *call) admit(obj runtime.Object) error {
	namespace := c.target.namespace
	if !c.server.namespaces || namespace == "" || c.resource.Group == "authorization.k8s.io" && c.resource.Plural == "localsubjectaccessreviews" {
		return nil
	}
	id, served := c.server.ids[namespacesResource]
	if !served {
		return nil
	}
	ns, _ := c.server.live(id, "", namespace).(*corev1.Namespace)
	switch {
	case ns == nil:
		return apierrors.NewNotFound(namespacesResource, namespace)
	case ns.Status.Phase != corev1.NamespaceTerminating:
		return nil
	}
	err := c.forbidden(obj, fmt.Errorf("unable to create new content in namespace %s because it is being terminated", namespace))
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{
		Type: corev1.NamespaceTerminatingCause, Message: fmt.Sprintf("namespace %s is being terminated", namespace), Field: "metadata.namespace",
	})
	return err
}

// forbidden returns admission's 403 for an object that is to be created.
func (c *call) forbidden(obj runtime.Object, cause error) *apierrors.StatusError {
	name := c.target.name
	if m, err := meta.Accessor(obj); err == nil && name == "" {
		if name = m.GetName(); name == "" {
			name = m.GetGenerateName()
		}
	}
	if name == "" {
		name = "Unknown"
	}
	return apierrors.NewForbidden(c.resource.GroupResource(), name, cause)
}

// immortalError returns the 403 for the delete of a namespace that stays, nil for any other.
func (c *call) immortalError(live runtime.Object) error {
	if live == nil || !c.server.namespaces || !c.ofNamespaces() || !slices.Contains(immortal, c.target.name) || accessor(live).GetDeletionTimestamp() != nil {
		return nil
	}
	return apierrors.NewForbidden(namespacesResource, c.target.name, errors.New("this namespace may not be deleted"))
}
