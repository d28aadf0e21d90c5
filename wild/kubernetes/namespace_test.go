package kubernetes_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/informersim/informersim/simtest"
	wild "github.com/informersim/informersim/wild/kubernetes"
)

const (
	emptied   = "a namespace that is deleted goes"
	noOrphans = "nothing is in a namespace that may go"
	held      = "example.com/namespace" // a finalizer
)

// In the end namespaces that are deleted go, and none may go before all that was in it has gone. The apiserver of a Go test deletes namespaces like any other object; so the test
// gives them the finalizer that an apiserver does, and a second one, which holds them until the first has gone. Nothing is created in one that is deleted.
func TestNamespaces(t *testing.T) {
	simtest.Run(t, simtest.Options{Properties: simtest.WellBehaved()}, func(env *simtest.Env) {
		env.Always(noOrphans, func() error { return inNamespaces(env) })
		env.Go("namespace", func(ctx context.Context) error { return wild.RunNamespaces(ctx, env.RESTConfig("namespace")) })
		for range 20 {
			changeNamespaces(env)
			pause(env, 15*time.Second)
		}
		env.StopFaults()
		env.Eventually(emptied, time.Hour, func() error {
			var all corev1.NamespaceList
			if err := env.List(&all, ""); err != nil {
				return err
			}
			for _, n := range all.Items {
				if n.DeletionTimestamp != nil && len(n.Spec.Finalizers) > 0 {
					return fmt.Errorf("%s is being deleted since %v, with the finalizers %v and the status %+v", n.Name, n.DeletionTimestamp, n.Spec.Finalizers, n.Status)
				}
			}
			return nil
		})
	})
}

// changeNamespaces creates a namespace, or something in it, or deletes it.
func changeNamespaces(env *simtest.Env) {
	n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n-%d", env.Rand().IntN(2))}}
	switch err := env.Get(n); {
	case err != nil:
		env.Create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: n.Name, Finalizers: []string{held}}, Spec: corev1.NamespaceSpec{
			Finalizers: []corev1.FinalizerName{corev1.FinalizerKubernetes},
		}})
	case n.DeletionTimestamp != nil && len(n.Spec.Finalizers) == 0:
		env.Mutate(n, func() { n.Finalizers = nil })
	case n.DeletionTimestamp != nil:
	case env.Rand().IntN(4) > 0:
		client, err := kubernetes.NewForConfig(env.RESTConfig("user"))
		if err == nil { // the request may fail
			_, _ = client.CoreV1().ConfigMaps(n.Name).Create(env.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "c-"}}, metav1.CreateOptions{})
		}
	default:
		env.Delete(n)
	}
}

func inNamespaces(env *simtest.Env) error {
	var configs corev1.ConfigMapList
	if err := env.List(&configs, ""); err != nil {
		return err
	}
	for _, c := range configs.Items {
		n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: c.Namespace}}
		if err := env.Get(n); err != nil || len(n.Spec.Finalizers) == 0 {
			return fmt.Errorf("%s is in %s, which has the finalizers %v", c.Name, c.Namespace, n.Spec.Finalizers)
		}
	}
	return nil
}
