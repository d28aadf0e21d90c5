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

// expired is how long a controller waits to be told of what it has made or removed itself.
const expired = 5 * time.Minute

// counting keeps as many ConfigMaps of a Deployment, under drawn names, as it has replicas, in the way of a ReplicaSet: it remembers what it has made and removed until its cache knows, adopts those
// with the Deployment's label that have no owner, and lets go of those without it. It reconciles one at a time.
type counting struct {
	client.Client
	m       ctrl.Manager
	made    map[types.NamespacedName]map[string]time.Time // by name
	removed map[types.NamespacedName]map[string]time.Time
}

// Counts is that pattern.
func Counts(m ctrl.Manager) error {
	x := &counting{m.GetClient(), m, map[types.NamespacedName]map[string]time.Time{}, map[types.NamespacedName]map[string]time.Time{}}
	of := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, o client.Object) []reconcile.Request {
		name := o.GetLabels()["of"]
		if ref := metav1.GetControllerOf(o); ref != nil {
			name = ref.Name
		}
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: name}}}
	})
	return ctrl.NewControllerManagedBy(m).For(&appsv1.Deployment{}).Watches(&corev1.ConfigMap{}, of).Complete(reconcile.Func(x.reconcile))
}

func (x *counting) reconcile(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
	d, err := live(ctx, x, r)
	if d == nil || d.DeletionTimestamp != nil {
		if err == nil {
			delete(x.made, r.NamespacedName)
			delete(x.removed, r.NamespacedName)
		}
		return reconcile.Result{}, err
	}
	mine, err := x.claim(ctx, d)
	if err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if x.waits(r.NamespacedName) {
		return reconcile.Result{RequeueAfter: time.Minute}, nil
	}
	want := int(*d.Spec.Replicas)
	for range want - len(mine) {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, GenerateName: d.Name + "-", Labels: map[string]string{"of": d.Name}}}
		if err := controllerutil.SetControllerReference(d, cm, x.m.GetScheme()); err != nil {
			return reconcile.Result{}, err
		}
		if err := x.Create(ctx, cm); err != nil {
			return reconcile.Result{}, err
		}
		note(x.made, r.NamespacedName, cm.Name)
	}
	for _, cm := range mine[min(want, len(mine)):] {
		if err := x.Delete(ctx, cm, client.Preconditions{UID: &cm.UID}); err != nil {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
		note(x.removed, r.NamespacedName, cm.Name)
	}
	return reconcile.Result{}, nil
}

func note(all map[types.NamespacedName]map[string]time.Time, of types.NamespacedName, name string) {
	if all[of] == nil {
		all[of] = map[string]time.Time{}
	}
	all[of][name] = time.Now()
}

// claim returns the ConfigMaps of a Deployment.
func (x *counting) claim(ctx context.Context, d *appsv1.Deployment) (mine []*corev1.ConfigMap, err error) {
	var all corev1.ConfigMapList
	if err := x.List(ctx, &all, client.InNamespace(d.Namespace)); err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for i := range all.Items {
		cm := &all.Items[i]
		there[cm.Name] = true
		delete(x.made[client.ObjectKeyFromObject(d)], cm.Name)
		owner, is := metav1.GetControllerOf(cm), cm.Labels["of"] == d.Name
		if cm.DeletionTimestamp != nil || owner == nil && !is || owner != nil && owner.UID != d.UID {
			continue
		}
		if (owner != nil) != is {
			if err := x.adoptOrRelease(ctx, d, cm, is); err != nil {
				return nil, err
			}
		}
		if is {
			mine = append(mine, cm)
		}
	}
	for name := range x.removed[client.ObjectKeyFromObject(d)] {
		if !there[name] {
			delete(x.removed[client.ObjectKeyFromObject(d)], name)
		}
	}
	return mine, nil
}

func (x *counting) adoptOrRelease(ctx context.Context, d *appsv1.Deployment, cm *corev1.ConfigMap, adopt bool) error {
	was := client.MergeFromWithOptions(cm.DeepCopy(), client.MergeFromWithOptimisticLock{})
	if !adopt {
		cm.OwnerReferences = nil
		return x.Patch(ctx, cm, was)
	}
	// The cache may not know yet that the Deployment is another one by now, or is to go.
	now := &appsv1.Deployment{}
	if err := x.m.GetAPIReader().Get(ctx, client.ObjectKeyFromObject(d), now); err != nil {
		return err
	}
	if now.UID != d.UID || now.DeletionTimestamp != nil {
		return nil
	}
	if err := controllerutil.SetControllerReference(d, cm, x.m.GetScheme()); err != nil {
		return err
	}
	return x.Patch(ctx, cm, was)
}

// waits reports whether the cache does not know yet what was made and removed.
func (x *counting) waits(of types.NamespacedName) bool {
	waits := false
	for _, all := range []map[string]time.Time{x.made[of], x.removed[of]} {
		for name, since := range all {
			if time.Since(since) > expired {
				delete(all, name)
				continue
			}
			waits = true
		}
	}
	return waits
}
