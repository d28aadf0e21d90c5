package controllerruntime

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Expires removes a Deployment that has no replicas when it is as old as that, which may be long after anything has happened.
func Expires(age time.Duration) Pattern {
	return func(m ctrl.Manager) error {
		c := m.GetClient()
		return ctrl.NewControllerManagedBy(m).For(&appsv1.Deployment{}).Complete(reconcile.Func(func(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
			d, err := live(ctx, c, r)
			if d == nil || d.DeletionTimestamp != nil || *d.Spec.Replicas > 0 {
				return reconcile.Result{}, err
			}
			if left := time.Until(d.CreationTimestamp.Add(age)); left > 0 {
				return reconcile.Result{RequeueAfter: left}, nil
			}
			return reconcile.Result{}, client.IgnoreNotFound(c.Delete(ctx, d, client.Preconditions{UID: &d.UID, ResourceVersion: &d.ResourceVersion}))
		}))
	}
}
