package controllerruntime

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Fields has two controllers apply what each knows to the one ConfigMap of a Deployment, as field managers of their own. Whichever comes first makes it.
func Fields(m ctrl.Manager) error {
	c := m.GetClient()
	for _, part := range []string{"image", "replicas"} {
		if err := ctrl.NewControllerManagedBy(m).Named(part).For(&appsv1.Deployment{}).Owns(&corev1.ConfigMap{}).Complete(reconcile.Func(func(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
			d, err := live(ctx, c, r)
			if d == nil || d.DeletionTimestamp != nil {
				return reconcile.Result{}, err
			}
			value := image(d)
			if part == "replicas" {
				value = fmt.Sprint(*d.Spec.Replicas)
			}
			cm := &corev1.ConfigMap{
				TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: d.Name}, Data: map[string]string{part: value},
			}
			if err := controllerutil.SetControllerReference(d, cm, m.GetScheme()); err != nil {
				return reconcile.Result{}, err
			}
			//nolint:staticcheck // objects need no generated configurations
			return reconcile.Result{}, c.Patch(ctx, cm, client.Apply, client.FieldOwner(part), client.ForceOwnership)
		})); err != nil {
			return err
		}
	}
	return nil
}
