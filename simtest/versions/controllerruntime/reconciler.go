package controllerruntime

import (
	"context"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// reconciler gives each ConfigMap a Secret, which it owns.
type reconciler struct {
	client.Client
	generateName bool
}

// Run runs a manager until ctx ends. With generateName, the reconciler makes the usual mistake: it has the server make up the Secret's name, and
// looks in the cache for an existing one.
func Run(ctx context.Context, config *rest.Config, generateName bool) error {
	options := ctrl.Options{Metrics: metricsserver.Options{BindAddress: "0"}}
	nameAgain(&options)
	m, err := ctrl.NewManager(config, options)
	if err != nil {
		return err
	}
	err = ctrl.NewControllerManagedBy(m).Named("secrets").
		For(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).
		Complete(&reconciler{Client: m.GetClient(), generateName: generateName})
	if err != nil {
		return err
	}
	return m.Start(ctx)
}

// nameAgain lets each run's controller have the same name, which from v0.19 must be asked for. A number of the process's would make runs differ:
// the name is in error texts.
func nameAgain(o *ctrl.Options) {
	if skip := reflect.ValueOf(&o.Controller).Elem().FieldByName("SkipNameValidation"); skip.IsValid() {
		yes := true
		skip.Set(reflect.ValueOf(&yes))
	}
}

// Reconcile implements reconcile.Reconciler.
func (r *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	m := &corev1.ConfigMap{}
	if err := r.Get(ctx, req.NamespacedName, m); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: m.Namespace, Name: m.Name}, Data: map[string][]byte{"v": []byte(m.Data["v"])}}
	if err := ctrl.SetControllerReference(m, secret, r.Scheme()); err != nil {
		return ctrl.Result{}, err
	}
	if r.generateName {
		return ctrl.Result{}, r.careless(ctx, m, secret)
	}
	live := &corev1.Secret{}
	err := r.Get(ctx, types.NamespacedName{Namespace: m.Namespace, Name: m.Name}, live)
	switch {
	case apierrors.IsNotFound(err):
		return ctrl.Result{}, r.Create(ctx, secret)
	case err != nil:
		return ctrl.Result{}, err
	case string(live.Data["v"]) == m.Data["v"]:
		return ctrl.Result{}, nil
	}
	live.Data = secret.Data
	return ctrl.Result{}, r.Update(ctx, live)
}

// careless creates a Secret unless the cache has one.
func (r *reconciler) careless(ctx context.Context, m *corev1.ConfigMap, secret *corev1.Secret) error {
	var list corev1.SecretList
	if err := r.List(ctx, &list, client.InNamespace(m.Namespace)); err != nil {
		return err
	}
	for n := range list.Items {
		if s := &list.Items[n]; metav1.IsControlledBy(s, m) {
			s.Data = secret.Data
			return r.Update(ctx, s)
		}
	}
	secret.Name, secret.GenerateName = "", m.Name+"-"
	return r.Create(ctx, secret)
}
