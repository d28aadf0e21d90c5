package kubernetes_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/informersim/informersim/simtest"
	wild "github.com/informersim/informersim/wild/kubernetes"
)

const counted = "a ResourceQuota says how much there is"

// In the end a ResourceQuota says how many objects there are, and what is allowed, whatever is created and deleted, and whichever limit is set.
func TestResourceQuota(t *testing.T) {
	simtest.Run(t, simtest.Options{Properties: simtest.WellBehaved()}, func(env *simtest.Env) {
		q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "limits"}, Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{
			corev1.ResourceConfigMaps: resource.MustParse("5"), corev1.ResourceSecrets: resource.MustParse("3"),
		}}}
		env.Create(q)
		env.Go("resourcequota", func(ctx context.Context) error { return wild.RunQuotas(ctx, env.RESTConfig("resourcequota")) })
		for range 15 {
			if env.Rand().IntN(5) == 0 {
				n := *resource.NewQuantity(env.Rand().Int64N(6), resource.DecimalSI)
				env.Mutate(q, func() { q.Spec.Hard[corev1.ResourceConfigMaps] = n })
			} else {
				createOrDelete(env)
			}
			pause(env, 20*time.Second)
		}
		env.StopFaults()
		env.Eventually(counted, time.Hour, func() error { return isCounted(env, q) })
	})
}

// createOrDelete creates or deletes one of a few ConfigMaps and Secrets. A quota may forbid it, and the request may fail.
func createOrDelete(env *simtest.Env) {
	client, err := kubernetes.NewForConfig(env.RESTConfig("user"))
	if err != nil {
		return
	}
	meta := metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("o-%d", env.Rand().IntN(5))}
	configs, secrets, isSecret := client.CoreV1().ConfigMaps("default"), client.CoreV1().Secrets("default"), env.Rand().IntN(2) == 0
	switch {
	case isSecret && env.Get(&corev1.Secret{ObjectMeta: meta}) == nil:
		_ = secrets.Delete(env.Context(), meta.Name, metav1.DeleteOptions{})
	case isSecret:
		_, _ = secrets.Create(env.Context(), &corev1.Secret{ObjectMeta: meta}, metav1.CreateOptions{})
	case env.Get(&corev1.ConfigMap{ObjectMeta: meta}) == nil:
		_ = configs.Delete(env.Context(), meta.Name, metav1.DeleteOptions{})
	default:
		_, _ = configs.Create(env.Context(), &corev1.ConfigMap{ObjectMeta: meta}, metav1.CreateOptions{})
	}
}

func isCounted(env *simtest.Env, q *corev1.ResourceQuota) error {
	var secrets corev1.SecretList
	var configs corev1.ConfigMapList
	for _, err := range []error{env.Get(q), env.List(&secrets, "default"), env.List(&configs, "default")} {
		if err != nil {
			return err
		}
	}
	used, hard := q.Status.Used, q.Status.Hard
	c, s, limit := used[corev1.ResourceConfigMaps], used[corev1.ResourceSecrets], hard[corev1.ResourceConfigMaps]
	if want := q.Spec.Hard[corev1.ResourceConfigMaps]; c.Value() != int64(len(configs.Items)) || s.Value() != int64(len(secrets.Items)) || limit.Cmp(want) != 0 || len(used) != 2 {
		return fmt.Errorf("there are %d ConfigMaps and %d Secrets, and %v are allowed; the status is %+v", len(configs.Items), len(secrets.Items), want.Value(), q.Status)
	}
	return nil
}
