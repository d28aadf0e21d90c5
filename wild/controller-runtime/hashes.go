package controllerruntime

import (
	"context"
	"fmt"
	"hash/fnv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Hashes gives each Deployment an immutable ConfigMap that is called after a hash of what it says, has an annotation of the Deployment point to it, and then removes the former ones.
func Hashes(m ctrl.Manager) error {
	c := m.GetClient()
	return ctrl.NewControllerManagedBy(m).For(&appsv1.Deployment{}).Owns(&corev1.ConfigMap{}).Complete(reconcile.Func(func(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
		d, err := live(ctx, c, r)
		if d == nil || d.DeletionTimestamp != nil {
			return reconcile.Result{}, err
		}
		h := fnv.New32a()
		fmt.Fprintln(h, d.UID, image(d))
		cm := &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: fmt.Sprintf("%s-%08x", d.Name, h.Sum32()), Labels: map[string]string{"hash-of": d.Name}}, Immutable: ptr.To(true), Data: map[string]string{"image": image(d)},
		}
		if err := controllerutil.SetControllerReference(d, cm, m.GetScheme()); err != nil {
			return reconcile.Result{}, err
		}
		switch err := c.Get(ctx, client.ObjectKeyFromObject(cm), &corev1.ConfigMap{}); {
		case apierrors.IsNotFound(err):
			if err := c.Create(ctx, cm); err != nil && !apierrors.IsAlreadyExists(err) {
				return reconcile.Result{}, err
			}
		case err != nil:
			return reconcile.Result{}, err
		}
		if d.Annotations["config"] != cm.Name {
			return reconcile.Result{}, client.IgnoreNotFound(pointTo(ctx, m, d, cm.Name)) // which comes back
		}
		var all corev1.ConfigMapList
		if err := c.List(ctx, &all, client.InNamespace(d.Namespace), client.MatchingLabels{"hash-of": d.Name}); err != nil {
			return reconcile.Result{}, err
		}
		for i := range all.Items {
			if old := &all.Items[i]; old.Name != cm.Name && metav1.IsControlledBy(old, d) && old.DeletionTimestamp == nil {
				if err := c.Delete(ctx, old, client.Preconditions{UID: &old.UID}); client.IgnoreNotFound(err) != nil {
					return reconcile.Result{}, err
				}
			}
		}
		return reconcile.Result{}, nil
	}))
}

// pointTo changes the annotation of a Deployment as it is now.
func pointTo(ctx context.Context, m ctrl.Manager, d *appsv1.Deployment, name string) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		now := &appsv1.Deployment{}
		if err := m.GetAPIReader().Get(ctx, client.ObjectKeyFromObject(d), now); err != nil {
			return err
		}
		if now.UID != d.UID || image(now) != image(d) {
			return nil // of which there is an event
		}
		was := client.MergeFromWithOptions(now.DeepCopy(), client.MergeFromWithOptimisticLock{})
		metav1.SetMetaDataAnnotation(&now.ObjectMeta, "config", name)
		return m.GetClient().Patch(ctx, now, was)
	})
}
