package controllerruntime

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Purges gives each Deployment two Secrets in another namespace. Before that goes, it removes whatever has its label there, and looks, past its cache, until nothing is left.
func Purges(m ctrl.Manager) error {
	c := m.GetClient()
	owner := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, o client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: o.GetAnnotations()["namespace"], Name: o.GetAnnotations()["name"]}}}
	})
	return ctrl.NewControllerManagedBy(m).For(&appsv1.Deployment{}).Watches(&corev1.Secret{}, owner).Complete(reconcile.Func(func(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
		d, err := live(ctx, c, r)
		switch {
		case d == nil:
			return reconcile.Result{}, err
		case d.DeletionTimestamp != nil && controllerutil.ContainsFinalizer(d, finalizer):
			return purge(ctx, m, d)
		case d.DeletionTimestamp != nil:
			return reconcile.Result{}, nil
		case controllerutil.AddFinalizer(d, finalizer):
			return reconcile.Result{}, client.IgnoreNotFound(c.Update(ctx, d)) // which comes back
		}
		for _, part := range []string{"-user", "-admin"} {
			s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "copies", Name: string(d.UID) + part}}
			if _, err := controllerutil.CreateOrPatch(ctx, c, s, func() error {
				s.Labels, s.Annotations = map[string]string{"of": string(d.UID)}, map[string]string{"namespace": d.Namespace, "name": d.Name}
				s.Data = map[string][]byte{"image": []byte(image(d))}
				return nil
			}); err != nil {
				return reconcile.Result{}, err
			}
		}
		return reconcile.Result{}, nil
	}))
}

func purge(ctx context.Context, m ctrl.Manager, d *appsv1.Deployment) (reconcile.Result, error) {
	mine := []client.ListOption{client.InNamespace("copies"), client.MatchingLabels{"of": string(d.UID)}}
	if err := m.GetClient().DeleteAllOf(ctx, &corev1.Secret{}, client.InNamespace("copies"), client.MatchingLabels{"of": string(d.UID)}); err != nil {
		return reconcile.Result{}, err
	}
	var left corev1.SecretList
	if err := m.GetAPIReader().List(ctx, &left, mine...); err != nil {
		return reconcile.Result{}, err
	}
	if len(left.Items) > 0 {
		return reconcile.Result{RequeueAfter: 5 * time.Second}, nil
	}
	controllerutil.RemoveFinalizer(d, finalizer)
	return reconcile.Result{}, client.IgnoreNotFound(m.GetClient().Update(ctx, d))
}
