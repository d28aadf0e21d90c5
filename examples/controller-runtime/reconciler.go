package website

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// Mistakes are common mistakes in reconcilers. The zero value has none.
type Mistakes struct {
	// GenerateName: the server generates the Deployment's name, and the reconciler looks for an existing one in the cache,
	// which lacks the one created a moment ago.
	GenerateName bool
	// StatusFirst: the status claims that a generation is served before its Deployment is written; if that write fails, the
	// next attempt finds the generation observed and does nothing.
	StatusFirst bool
	// NoOwns: Deployments are not watched, so one that somebody deletes or changes stays that way.
	NoOwns bool
	// SwallowErrors: a failed attempt is logged and called a success, so the Website is not requeued.
	SwallowErrors bool
}

// Reconciler gives each Website a Deployment of the same name, owned by the Website.
type Reconciler struct {
	client.Client
	Mistakes Mistakes
}

// SetupWithManager registers the reconciler for Websites and for the Deployments that they own.
func (r *Reconciler) SetupWithManager(m ctrl.Manager) error {
	b := ctrl.NewControllerManagedBy(m).For(&Website{})
	if !r.Mistakes.NoOwns {
		b = b.Owns(&appsv1.Deployment{})
	}
	return b.Complete(r)
}

// Reconcile implements reconcile.Reconciler.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	err := r.reconcile(ctx, req)
	if r.Mistakes.SwallowErrors && err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "reconciling")
		err = nil
	}
	return ctrl.Result{}, err
}

func (r *Reconciler) reconcile(ctx context.Context, req ctrl.Request) error {
	var site Website
	if err := r.Get(ctx, req.NamespacedName, &site); err != nil {
		return client.IgnoreNotFound(err) // its Deployment is garbage-collected
	}
	if !site.DeletionTimestamp.IsZero() {
		return nil
	}
	if r.Mistakes.StatusFirst {
		if site.Status.ObservedGeneration == site.Generation {
			return nil
		}
		if err := r.report(ctx, &site); err != nil {
			return err
		}
	}
	if err := r.deploy(ctx, &site); err != nil {
		return fmt.Errorf("deploying: %w", err)
	}
	return r.report(ctx, &site)
}

// deploy creates or updates the Deployment.
func (r *Reconciler) deploy(ctx context.Context, site *Website) error {
	if r.Mistakes.GenerateName {
		return r.deployGenerated(ctx, site)
	}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: site.Namespace, Name: site.Name}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, d, func() error {
		fill(d, site)
		return controllerutil.SetControllerReference(site, d, r.Scheme())
	})
	return err
}

func (r *Reconciler) deployGenerated(ctx context.Context, site *Website) error {
	var all appsv1.DeploymentList
	if err := r.List(ctx, &all, client.InNamespace(site.Namespace)); err != nil {
		return err
	}
	for i := range all.Items {
		d := &all.Items[i]
		if !metav1.IsControlledBy(d, site) {
			continue
		}
		before := d.DeepCopy()
		if fill(d, site); equality.Semantic.DeepEqual(before, d) {
			return nil
		}
		return r.Update(ctx, d)
	}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: site.Namespace, GenerateName: site.Name + "-"}}
	fill(d, site)
	if err := controllerutil.SetControllerReference(site, d, r.Scheme()); err != nil {
		return err
	}
	return r.Create(ctx, d)
}

// fill sets the Deployment's spec from the site's.
func fill(d *appsv1.Deployment, site *Website) {
	labels := map[string]string{"website": site.Name}
	replicas := site.Spec.Replicas
	d.Spec.Replicas = &replicas
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	d.Spec.Template.Labels = labels
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "web", Image: site.Spec.Image}}
}

// report writes the status.
func (r *Reconciler) report(ctx context.Context, site *Website) error {
	want := WebsiteStatus{ObservedGeneration: site.Generation, Ready: true}
	if site.Status == want {
		return nil
	}
	site.Status = want
	return r.Status().Update(ctx, site)
}
