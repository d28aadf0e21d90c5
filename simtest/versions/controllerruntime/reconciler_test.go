package controllerruntime

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/simtest"
)

func body(generateName bool) func(*simtest.Env) {
	return func(env *simtest.Env) {
		env.Go("manager", func(ctx context.Context) error { return Run(ctx, env.RESTConfig("manager"), generateName) })
		env.Always("a ConfigMap has one Secret at most", func() error { return oneEach(env) })
		for n := range 5 {
			env.Create(configMap(n, 0))
			env.Advance(time.Duration(env.Rand().IntN(2000)) * time.Millisecond)
		}
		for round := range 20 {
			env.Update(configMap(env.Rand().IntN(5), round))
			env.Advance(time.Duration(env.Rand().IntN(5000)) * time.Millisecond)
		}
		env.StopFaults()
		env.Eventually("every ConfigMap has its Secret", 30*time.Minute, func() error { return converged(env) })
	}
}

func configMap(n, value int) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("m%d", n)}, Data: map[string]string{"v": fmt.Sprint(value)}}
}

// secretsByOwner returns the Secrets' values by the names of their owners.
func secretsByOwner(env *simtest.Env) (map[string][]string, error) {
	var secrets corev1.SecretList
	if err := env.List(&secrets, "default"); err != nil {
		return nil, err
	}
	owned := map[string][]string{}
	for _, s := range secrets.Items {
		if o := metav1.GetControllerOf(&s); o != nil {
			owned[o.Name] = append(owned[o.Name], string(s.Data["v"]))
		}
	}
	return owned, nil
}

func oneEach(env *simtest.Env) error {
	owned, err := secretsByOwner(env)
	if err != nil {
		return err
	}
	for n := range 5 {
		if name := fmt.Sprintf("m%d", n); len(owned[name]) > 1 {
			return fmt.Errorf("%s has %d Secrets", name, len(owned[name]))
		}
	}
	return nil
}

func converged(env *simtest.Env) error {
	owned, err := secretsByOwner(env)
	if err != nil {
		return err
	}
	var maps corev1.ConfigMapList
	if err := env.List(&maps, "default"); err != nil {
		return err
	}
	for _, m := range maps.Items {
		if got := owned[m.Name]; len(got) != 1 || got[0] != m.Data["v"] {
			return fmt.Errorf("%s has Secrets with %q, want %q", m.Name, got, m.Data["v"])
		}
	}
	return nil
}

// options are those of both tests. A manager that is canceled while it starts leaves a goroutine in releases up to v0.19 (kind.go of package
// source).
func options() simtest.Options {
	return simtest.Options{AllowLeaks: true, Replicas: 2, CrashProbability: 1.0 / 1024}
}

// The reconciler is right in every run.
func TestReconciler(t *testing.T) {
	simtest.Run(t, options(), body(false))
}

// The common mistake is found within the default number of seeds.
func TestGeneratedNamesAreFound(t *testing.T) {
	found := simtest.Find(t, options(), body(true))
	if found == nil || found.Property != "a ConfigMap has one Secret at most" {
		t.Fatalf("found %v", found)
	}
	t.Logf("seed %d: %s", found.Seed, found.Message)
}
