package kubernetes_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/informersim/informersim/simtest"
	wild "github.com/informersim/informersim/wild/kubernetes"
)

const (
	collected = "nothing is left whose owners have gone, or waits for its dependents"
	keptAlive = "nothing is deleted while an owner of it lives"
)

// In the end all is gone whose owners are, and what has been deleted with its dependents or without them; nothing goes while one of its owners is there,
// whichever way owners are deleted and created again. An owner that comes back under the name of one that the collector has not seen go leaves garbage, which is a finding of
// its own, until the collector is started again; so that happens before the end.
func TestGarbageCollector(t *testing.T) {
	simtest.Run(t, simtest.Options{Properties: simtest.WellBehaved()}, func(env *simtest.Env) {
		watch := &dependents{env: env, deleted: map[types.UID]bool{}}
		env.Always(keptAlive, watch.look)
		startCollector(env)
		for range 25 {
			changeOwners(env)
			pause(env, 20*time.Second)
		}
		startAnew(env, "garbage-collector")
		env.Eventually(collected, time.Hour, func() error { return isCollected(env) })
	})
}

// The collector is told of an owner that has been deleted and created again by one event, of an update, if it has not seen the deletion. It does not compare the uids:
// the former owner stays in its graph, and what belonged to it in the cluster, until the collector is started again.
func TestRecreatedOwnerLeavesGarbage(t *testing.T) {
	wantFound(t, simtest.Options{Mix: "none", Seeds: 20}, func(env *simtest.Env) {
		owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "owner"}}
		env.Create(owner)
		env.Create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "owned", OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID},
		}}})
		startCollector(env)
		env.Advance(time.Minute)
		missUpdatesOf(env, "garbage-collector", "configmaps", func() {
			env.Delete(owner)
			env.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "owner"}})
		}, func(int) simtest.Object {
			return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "other-"}}
		})
		env.Eventually(collected, time.Hour, func() error { return isCollected(env) })
	}, collected)
}

func startCollector(env *simtest.Env) {
	env.Go("garbage-collector", func(ctx context.Context) error {
		return wild.RunGarbageCollector(ctx, env.RESTConfig("garbage-collector"), schema.GroupResource{Resource: "configmaps"}, schema.GroupResource{Resource: "secrets"})
	})
}

// changeOwners creates an owner, or something that belongs to one or two, or deletes an owner in one of the three ways.
func changeOwners(env *simtest.Env) {
	name := func(kind string, n int) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("%s-%d", kind, env.Rand().IntN(n))}
	}
	owner := &corev1.ConfigMap{ObjectMeta: name("owner", 3)}
	if exists := env.Get(owner) == nil; env.Rand().IntN(2) == 0 {
		if !exists {
			env.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: owner.Name}})
		} else if owner.DeletionTimestamp == nil {
			ways := []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan}
			if client, err := kubernetes.NewForConfig(env.RESTConfig("user")); err == nil { // the request may fail
				_ = client.CoreV1().ConfigMaps("default").Delete(env.Context(), owner.Name, metav1.DeleteOptions{PropagationPolicy: &ways[env.Rand().IntN(len(ways))]})
			}
		}
		return
	}
	owned := &corev1.Secret{ObjectMeta: name("owned", 6)}
	if env.Get(owned) == nil {
		return
	}
	owned = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: owned.Name}}
	for n := range 3 {
		o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("owner-%d", n)}}
		if env.Get(o) == nil && o.DeletionTimestamp == nil && env.Rand().IntN(2) == 0 {
			blocks := env.Rand().IntN(2) == 0
			owned.OwnerReferences = append(owned.OwnerReferences, metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: o.Name, UID: o.UID, BlockOwnerDeletion: &blocks})
		}
	}
	env.Create(owned)
}

// dependents sees the Secrets that are deleted.
type dependents struct {
	env     *simtest.Env
	seen    []corev1.Secret
	deleted map[types.UID]bool
}

// look fails if something has been deleted that has no owners, or one that lives.
func (d *dependents) look() error {
	var secrets corev1.SecretList
	if err := d.env.List(&secrets, "default"); err != nil {
		return err
	}
	living, err := owners(d.env)
	if err != nil {
		return err
	}
	for _, before := range d.seen {
		i := slices.IndexFunc(secrets.Items, func(s corev1.Secret) bool { return s.UID == before.UID })
		if i >= 0 && secrets.Items[i].DeletionTimestamp == nil || d.deleted[before.UID] {
			continue
		}
		d.deleted[before.UID] = true
		if len(before.OwnerReferences) == 0 {
			return fmt.Errorf("%s has no owner, and has been deleted", before.Name)
		}
		for _, o := range before.OwnerReferences {
			if living[o.UID] {
				return fmt.Errorf("%s has been deleted, and its owner %s lives", before.Name, o.Name)
			}
		}
	}
	d.seen = secrets.Items
	return nil
}

// owners returns those that are there, and do not wait for their dependents to go.
func owners(env *simtest.Env) (map[types.UID]bool, error) {
	var all corev1.ConfigMapList
	if err := env.List(&all, "default"); err != nil {
		return nil, err
	}
	living := map[types.UID]bool{}
	for _, o := range all.Items {
		living[o.UID] = !slices.Contains(o.Finalizers, metav1.FinalizerDeleteDependents)
	}
	return living, nil
}

func isCollected(env *simtest.Env) error {
	var secrets corev1.SecretList
	var configs corev1.ConfigMapList
	for _, err := range []error{env.List(&secrets, "default"), env.List(&configs, "default")} {
		if err != nil {
			return err
		}
	}
	there := map[types.UID]bool{}
	for _, c := range configs.Items {
		if there[c.UID] = true; c.DeletionTimestamp != nil {
			return fmt.Errorf("%s is being deleted since %v, and has the finalizers %v", c.Name, c.DeletionTimestamp, c.Finalizers)
		}
	}
	for _, s := range secrets.Items {
		if s.DeletionTimestamp != nil || len(s.OwnerReferences) > 0 && !slices.ContainsFunc(s.OwnerReferences, func(o metav1.OwnerReference) bool { return there[o.UID] }) {
			return fmt.Errorf("%s is there, being deleted since %v, and has the owners %v", s.Name, s.DeletionTimestamp, s.OwnerReferences)
		}
	}
	return nil
}
