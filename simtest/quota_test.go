package simtest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/simtest"
)

// limited returns a ResourceQuota of so many ConfigMaps.
func limited(n string) *corev1.ResourceQuota {
	q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "few"}}
	q.Spec.Hard = corev1.ResourceList{corev1.ResourceConfigMaps: resource.MustParse(n)}
	return q
}

// usedOf returns what the quota says that is used, and of how much.
func usedOf(env *simtest.Env) string {
	q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "few"}}
	if err := env.Get(q); err != nil {
		return err.Error()
	}
	used, hard := q.Status.Used[corev1.ResourceConfigMaps], q.Status.Hard[corev1.ResourceConfigMaps]
	return used.String() + "/" + hard.String()
}

// A quota refuses what is too much, by what is there before it and what comes after; what is deleted makes room, whatever strikes who counts.
func TestQuotaLimits(t *testing.T) {
	for _, mix := range []string{"none", "storm"} {
		t.Run(mix, func(t *testing.T) {
			simtest.Run(t, simtest.Options{Seeds: 20, Mix: mix, Replicas: 2}, func(env *simtest.Env) {
				becomes := func(want string) {
					env.Eventually("the quota says "+want, 10*time.Minute, func() error {
						if got := usedOf(env); got != want {
							return fmt.Errorf("it says %s", got)
						}
						return nil
					})
				}
				env.Create(configMap("a", "0"))
				q := limited("2")
				env.Create(q)
				env.Advance(time.Minute)
				env.StopFaults()
				becomes("1/2")
				maps := mapsOf(env, "me")
				create := func(name string) string {
					if _, err := maps.Create(env.Context(), configMap(name, "0"), metav1.CreateOptions{}); err != nil {
						return err.Error()
					}
					return "created"
				}
				if got := create("b"); got != "created" {
					t.Errorf("within the quota: %s", got)
				}
				if got := usedOf(env); got != "2/2" {
					t.Errorf("after the create that it allowed, the quota says %s", got)
				}
				if got := create("c"); !strings.HasSuffix(got, "exceeded quota: few, requested: configmaps=1, used: configmaps=2, limited: configmaps=2") {
					t.Errorf("beyond the quota: %s", got)
				}
				if got := create("b"); !strings.Contains(got, "exceeded quota") {
					t.Errorf("one that exists, beyond the quota: %s", got)
				}
				if err := maps.Delete(env.Context(), "a", metav1.DeleteOptions{}); err != nil {
					t.Error(err)
				}
				becomes("1/2")
				if got := create("b"); !strings.Contains(got, "already exists") {
					t.Errorf("one that exists: %s", got)
				}
				becomes("1/2")
				if got := create("c"); got != "created" {
					t.Errorf("in the room that is there again: %s", got)
				}
				env.Mutate(q, func() { q.Spec.Hard[corev1.ResourceConfigMaps] = resource.MustParse("3") })
				becomes("2/3")
			})
		})
	}
}
