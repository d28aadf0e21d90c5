package controllerruntime

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Pattern sets up a controller that is written as operators are, and is right. Deployments stand for what it is told to do, and nothing else makes
// anything of them.
type Pattern func(m ctrl.Manager) error

// RunPattern runs a manager with one controller until ctx ends.
func RunPattern(ctx context.Context, cfg *rest.Config, logger klog.Logger, p Pattern) error {
	m, err := ctrl.NewManager(cfg, ctrl.Options{
		Logger: logger, Metrics: metricsserver.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: ptr.To(true)},
	})
	if err != nil {
		return err
	}
	if err := p(m); err != nil {
		return err
	}
	return m.Start(ctx)
}

// finalizer is what the controllers keep a Deployment with until they have cleaned up.
const finalizer = "wild.informersim.dev/cleanup"

// image returns what a Deployment asks for.
func image(d *appsv1.Deployment) string { return d.Spec.Template.Spec.Containers[0].Image }

// live returns a Deployment, nil if there is none.
func live(ctx context.Context, c client.Reader, r reconcile.Request) (*appsv1.Deployment, error) {
	d := &appsv1.Deployment{}
	if err := c.Get(ctx, r.NamespacedName, d); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return d, nil
}

// Applies gives each Deployment a ConfigMap by server-side apply, and says in its status, by a patch with an optimistic lock, of which generation that is.
func Applies(m ctrl.Manager) error {
	c := m.GetClient()
	return ctrl.NewControllerManagedBy(m).For(&appsv1.Deployment{}).Owns(&corev1.ConfigMap{}).Complete(reconcile.Func(func(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
		d, err := live(ctx, c, r)
		if d == nil || d.DeletionTimestamp != nil {
			return reconcile.Result{}, err
		}
		cm := &corev1.ConfigMap{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: d.Name}, Data: map[string]string{"image": image(d)},
		}
		if err := controllerutil.SetControllerReference(d, cm, m.GetScheme()); err != nil {
			return reconcile.Result{}, err
		}
		//nolint:staticcheck // objects need no generated configurations
		if err := c.Patch(ctx, cm, client.Apply, client.FieldOwner("applies"), client.ForceOwnership); err != nil {
			return reconcile.Result{}, err
		}
		if d.Status.ObservedGeneration == d.Generation {
			return reconcile.Result{}, nil
		}
		was := client.MergeFromWithOptions(d.DeepCopy(), client.MergeFromWithOptimisticLock{})
		d.Status.ObservedGeneration = d.Generation
		return reconcile.Result{}, client.IgnoreNotFound(c.Status().Patch(ctx, d, was))
	}))
}

// Replaces gives each Deployment a Job, which it deletes and creates again when the image changes, since a Job's template cannot.
func Replaces(m ctrl.Manager) error {
	c := m.GetClient()
	return ctrl.NewControllerManagedBy(m).For(&appsv1.Deployment{}).Owns(&batchv1.Job{}).Complete(reconcile.Func(func(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
		d, err := live(ctx, c, r)
		if d == nil || d.DeletionTimestamp != nil {
			return reconcile.Result{}, err
		}
		j := &batchv1.Job{}
		switch err := c.Get(ctx, r.NamespacedName, j); {
		case apierrors.IsNotFound(err):
			j = &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: d.Name}, Spec: batchv1.JobSpec{Template: *d.Spec.Template.DeepCopy()}}
			j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
			if err := controllerutil.SetControllerReference(d, j, m.GetScheme()); err != nil {
				return reconcile.Result{}, err
			}
			if err := c.Create(ctx, j); !apierrors.IsAlreadyExists(err) {
				return reconcile.Result{}, err
			}
			return reconcile.Result{}, nil // the cache is late, and will tell
		case err != nil:
			return reconcile.Result{}, err
		case j.DeletionTimestamp != nil:
			return reconcile.Result{}, nil // its end will tell
		case !metav1.IsControlledBy(j, d):
			return reconcile.Result{RequeueAfter: 10 * time.Second}, nil // the former Deployment's, which the garbage collector removes
		case j.Spec.Template.Spec.Containers[0].Image != image(d):
			which := client.Preconditions{UID: &j.UID}
			return reconcile.Result{}, client.IgnoreNotFound(c.Delete(ctx, j, which, client.PropagationPolicy(metav1.DeletePropagationBackground)))
		}
		return reconcile.Result{}, nil
	}))
}

// Outside has each Deployment's image somewhere outside of the cluster, by its UID: Put and Remove may fail. It looks again every minute.
func Outside(put func(ctx context.Context, uid types.UID, image string) error, remove func(ctx context.Context, uid types.UID) error) Pattern {
	return func(m ctrl.Manager) error {
		c := m.GetClient()
		return ctrl.NewControllerManagedBy(m).For(&appsv1.Deployment{}).Complete(reconcile.Func(func(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
			d, err := live(ctx, c, r)
			switch {
			case d == nil:
				return reconcile.Result{}, err
			case d.DeletionTimestamp == nil && controllerutil.AddFinalizer(d, finalizer):
				return reconcile.Result{}, client.IgnoreNotFound(c.Update(ctx, d)) // which comes back
			case d.DeletionTimestamp == nil:
				return reconcile.Result{RequeueAfter: time.Minute}, put(ctx, d.UID, image(d))
			}
			if err := remove(ctx, d.UID); err != nil {
				return reconcile.Result{}, err
			}
			if controllerutil.RemoveFinalizer(d, finalizer) {
				err = c.Update(ctx, d)
			}
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}))
	}
}

// CleansUp gives each Deployment a Secret in another namespace, which no garbage collector may remove for it, and removes that before it lets the Deployment go.
func CleansUp(m ctrl.Manager) error {
	c := m.GetClient()
	owner := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, o client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: o.GetAnnotations()["namespace"], Name: o.GetAnnotations()["name"]}}}
	})
	return ctrl.NewControllerManagedBy(m).For(&appsv1.Deployment{}).Watches(&corev1.Secret{}, owner).Complete(reconcile.Func(func(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
		d, err := live(ctx, c, r)
		if d == nil {
			return reconcile.Result{}, err
		}
		s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "copies", Name: string(d.UID)}}
		if d.DeletionTimestamp != nil {
			if err := client.IgnoreNotFound(c.Delete(ctx, s)); err != nil {
				return reconcile.Result{}, err
			}
			if controllerutil.RemoveFinalizer(d, finalizer) {
				err = c.Update(ctx, d)
			}
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
		if controllerutil.AddFinalizer(d, finalizer) {
			return reconcile.Result{}, client.IgnoreNotFound(c.Update(ctx, d))
		}
		_, err = controllerutil.CreateOrUpdate(ctx, c, s, func() error {
			s.Annotations = map[string]string{"namespace": d.Namespace, "name": d.Name}
			s.Data = map[string][]byte{"image": []byte(image(d))}
			return nil
		})
		return reconcile.Result{}, err
	}))
}
