package simtest_test

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/simtest"
)

// Two replicas of a controller that knows nothing of leader election do the same work at the same time. What they must not do is undo each
// other's. Two apiservers, one of which may lag, show them different states.
func ExampleEnv_Replicas() {
	simtest.Run(t, simtest.Options{Seeds: 10, Replicas: 2}, func(env *simtest.Env) {
		env.Replicas("issuer", 2, func(ctx context.Context, replica string) error { return issue(ctx, env.RESTConfig(replica)) })
		for _, name := range []string{"a", "b", "c"} {
			env.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}})
			env.Advance(10 * time.Second)
		}
		env.StopFaults()
		env.Eventually("every ConfigMap has its Secret", 10*time.Minute, func() error {
			var done corev1.ConfigMapList
			if err := env.List(&done, "default"); err != nil {
				return err
			}
			for _, m := range done.Items {
				if m.Data["token"] != m.Name+"-token" {
					return fmt.Errorf("%s has %v", m.Name, m.Data)
				}
			}
			return nil
		})
		fewer := len(env.Cluster().Keys("secrets")) < 3
		if fewer {
			t.Errorf("there are only the Secrets %v", env.Cluster().Keys("secrets"))
		}
	})
	fmt.Println("three Secrets")
	// Output: three Secrets
}
