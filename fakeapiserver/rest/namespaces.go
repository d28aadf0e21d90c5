package rest

import (
	"fmt"
	"net/http"
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

// deleteNamespace deletes a namespace that has been checked to exist.
func (c *call) deleteNamespace(live *corev1.Namespace, o *metav1.DeleteOptions) {
	if err := namespacePreconditions(live, o.Preconditions); err != nil {
		c.fail(err)
		return
	}
	if live.DeletionTimestamp != nil && len(live.Spec.Finalizers) > 0 {
		c.answerObject(http.StatusOK, live)
		return
	}
	if slices.Contains(immortal, live.Name) {
		c.fail(apierrors.NewForbidden(namespacesResource, live.Name, fmt.Errorf("this namespace may not be deleted")))
		return
	}
	if live.DeletionTimestamp != nil {
		final, _, err := c.remove(live, o)
		if err != nil {
			c.fail(err)
			return
		}
		c.answerObject(http.StatusOK, final)
		return
	}
	marked := live.DeepCopy()
	now := metav1.NewTime(c.server.now())
	marked.DeletionTimestamp, marked.Status.Phase = &now, corev1.NamespaceTerminating
	marked.Finalizers = deletionFinalizers(live.Finalizers, o)
	var stored runtime.Object = marked
	if len(o.DryRun) == 0 {
		var err error
		if stored, err = c.server.cluster.Update(c.id, marked); err != nil {
			c.fail(err)
			return
		}
	}
	code := http.StatusOK
	if o.OrphanDependents != nil && !*o.OrphanDependents {
		code = http.StatusAccepted
	}
	c.answerObject(code, stored)
}

func namespacePreconditions(live *corev1.Namespace, p *metav1.Preconditions) error {
	conflict := func(what string, asked, have any) error {
		return apierrors.NewConflict(namespacesResource, live.Name,
			fmt.Errorf("Precondition failed: %s in precondition: %v, %s in object meta: %v", what, asked, what, have)) //nolint:staticcheck // the real server's text
	}
	switch {
	case p == nil:
	case p.UID != nil && *p.UID != live.UID:
		return conflict("UID", *p.UID, live.UID)
	case p.ResourceVersion != nil && *p.ResourceVersion != live.ResourceVersion:
		return conflict("ResourceVersion", *p.ResourceVersion, live.ResourceVersion)
	}
	return nil
}
