package copies

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/simtest"
)

func TestController(t *testing.T) {
	simtest.Run(t, simtest.Options{}, func(env *simtest.Env) {
		env.Go("controller", func(ctx context.Context) error { return Run(ctx, env.RESTConfig("controller")) })
		for range 20 {
			m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("m%d", env.Rand().IntN(3))}}
			if env.Get(m.DeepCopy()) != nil {
				env.Create(m)
			} else {
				env.Delete(m)
			}
			env.Advance(time.Duration(env.Rand().IntN(10)) * time.Second) // faults, crashes and reordering happen meanwhile
		}
		env.StopFaults()
		env.Eventually("there is a Secret for each ConfigMap, and no other", 10*time.Minute, func() error {
			var maps corev1.ConfigMapList
			var secrets corev1.SecretList
			if err := env.List(&maps, "default"); err != nil {
				return err
			}
			if err := env.List(&secrets, "default"); err != nil {
				return err
			}
			if len(secrets.Items) != len(maps.Items) {
				return fmt.Errorf("there are %d Secrets for %d ConfigMaps", len(secrets.Items), len(maps.Items))
			}
			return nil
		})
	})
}
