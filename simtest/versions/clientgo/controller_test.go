package clientgo

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/simtest"
)

func body(careless bool) func(*simtest.Env) {
	return func(env *simtest.Env) {
		env.Go("controller", func(ctx context.Context) error { return Run(ctx, env.RESTConfig("controller"), careless) })
		configMap := func(n, value int) *corev1.ConfigMap {
			return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("m%d", n)}, Data: map[string]string{"v": fmt.Sprint(value)}}
		}
		env.Always("a Secret has had a ConfigMap", func() error { return never(env) })
		for n := range 20 {
			env.Create(configMap(n, 0))
			env.Advance(time.Duration(env.Rand().IntN(2000)) * time.Millisecond)
		}
		for round := range 20 {
			m := configMap(env.Rand().IntN(20), round)
			switch err := env.Get(m.DeepCopy()); {
			case err != nil:
				env.Create(m)
			case env.Rand().IntN(3) == 0:
				env.Delete(m)
			default:
				env.Update(m)
			}
			env.Advance(time.Duration(env.Rand().IntN(5000)) * time.Millisecond)
		}
		env.StopFaults()
		env.Eventually("every ConfigMap has its Secret, and no other is left", 30*time.Minute, func() error { return converged(env) })
	}
}

// never fails if there is a Secret of a name that the test does not use.
func never(env *simtest.Env) error {
	var secrets corev1.SecretList
	if err := env.List(&secrets, "default"); err != nil {
		return err
	}
	for _, s := range secrets.Items {
		var n int
		if _, err := fmt.Sscanf(s.Name, "m%d", &n); err != nil {
			return fmt.Errorf("there is a Secret %s", s.Name)
		}
	}
	return nil
}

func converged(env *simtest.Env) error {
	var maps corev1.ConfigMapList
	var secrets corev1.SecretList
	if err := env.List(&maps, "default"); err != nil {
		return err
	}
	if err := env.List(&secrets, "default"); err != nil {
		return err
	}
	want := map[string]string{}
	for _, m := range maps.Items {
		want[m.Name] = m.Data["v"]
	}
	for _, s := range secrets.Items {
		if v, ok := want[s.Name]; !ok || v != string(s.Data["v"]) {
			return fmt.Errorf("the Secret %s is %q, want %q, %v", s.Name, s.Data["v"], v, ok)
		}
	}
	if len(secrets.Items) != len(want) {
		return fmt.Errorf("there are %d Secrets for %d ConfigMaps", len(secrets.Items), len(want))
	}
	return nil
}

func options() simtest.Options {
	return simtest.Options{Replicas: 2, CrashProbability: 1.0 / 1024}
}

// The controller is right in every run.
func TestController(t *testing.T) {
	simtest.Run(t, options(), body(false))
}

// The common mistake is found within the default number of seeds, and the trace of the finding replays.
func TestIgnoredTombstonesAreFound(t *testing.T) {
	found := simtest.Find(t, options(), body(true))
	if found == nil || found.Property != "every ConfigMap has its Secret, and no other is left" {
		t.Fatalf("found %v", found)
	}
	t.Logf("seed %d: %s", found.Seed, found.Message)
}
