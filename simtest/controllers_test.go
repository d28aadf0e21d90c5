package simtest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/informersim/informersim/simtest"
)

func inNamespace(namespace string) *corev1.ConfigMap {
	m := configMap("m", "0")
	m.Namespace = namespace
	return m
}

// With their controllers, namespaces live as in a cluster: one that does not exist has nothing, each has its ServiceAccount, and a deleted one is
// emptied before it is gone, however long a finalizer keeps it.
func TestControllersOfNamespaces(t *testing.T) {
	simtest.Run(t, simtest.Options{Seeds: 10, Mix: "none", Replicas: 2, Verify: true, Controllers: []string{"*"}}, func(env *simtest.Env) {
		ctx, c := env.Context(), kubernetes.NewForConfigOrDie(env.RESTConfig("me")).CoreV1()
		eventually := func(what string, check func() error) { env.Eventually(what, 10*time.Minute, check) }
		if _, err := c.ConfigMaps("a").Create(ctx, inNamespace("a"), metav1.CreateOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("in a namespace that does not exist: %v", err)
		}
		env.Create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
		for _, namespace := range []string{"a", "default", "kube-system", "kube-public", "kube-node-lease"} {
			eventually("the ServiceAccount of "+namespace, func() error {
				return env.Get(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "default"}})
			})
		}
		kept := inNamespace("a")
		kept.Finalizers = []string{"example.dev/keep"}
		env.Create(kept)
		if err := c.Namespaces().Delete(ctx, "a", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
		eventually("what is left is said", func() error {
			ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
			if err := env.Get(ns); err != nil {
				return err
			}
			for _, c := range ns.Status.Conditions {
				if c.Type == corev1.NamespaceFinalizersRemaining && c.Status == corev1.ConditionTrue && strings.Contains(c.Message, "example.dev/keep") {
					return nil
				}
			}
			return fmt.Errorf("conditions %+v", ns.Status.Conditions)
		})
		other := inNamespace("a")
		other.Name = "other"
		if _, err := c.ConfigMaps("a").Create(ctx, other, metav1.CreateOptions{}); !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
			t.Errorf("in a namespace that ends: %v", err)
		}
		if _, err := c.ConfigMaps("a").Patch(ctx, "m", "application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
			t.Error(err)
		}
		eventually("the namespace is gone", func() error {
			if err := env.Get(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a"}}); !apierrors.IsNotFound(err) {
				return errors.Join(errors.New("it is there"), err)
			}
			return nil
		})
	})
}

// Without names, namespaces do not matter and quotas are counted; a name says what there is instead.
func TestControllersByName(t *testing.T) {
	counts := func(controllers []string, want bool) {
		simtest.Run(t, simtest.Options{Seeds: 3, Mix: "none", Controllers: controllers}, func(env *simtest.Env) {
			env.Create(limited("2"), inNamespace("default"))
			env.Advance(6 * time.Minute)
			if got := usedOf(env); (got == "1/2") != want {
				t.Errorf("controllers %q: the quota says %s", controllers, got)
			}
			if len(controllers) == 0 {
				env.Create(inNamespace("anywhere"))
			}
		})
	}
	counts(nil, true)
	counts([]string{"garbage-collector"}, false)
	counts([]string{"*", "-resourcequota", "-namespace", "-serviceaccount"}, false)
	counts([]string{"resourcequota"}, true)
}

// A name that is not known is refused before anything runs, with those that are.
func TestControllersUnknown(t *testing.T) {
	for name, want := range map[string]string{
		"gc":        `there is no controller "gc": there are namespace, garbage-collector, serviceaccount, resourcequota, deployment, replicaset, statefulset,`,
		"-gc":       `there is no controller "gc"`,
		"scheduler": `a scheduler comes with Options.Nodes; the controllers are namespace,`,
		"kubelet":   `a kubelet comes with Options.Nodes`,
	} {
		wantIn(t, failure(t, simtest.Options{Controllers: []string{"namespace", name}}, func(*simtest.Env) { t.Errorf("%s: it runs", name) }), "Options.Controllers: "+want)
	}
}
