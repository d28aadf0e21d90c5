package simtest_test

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
)

// issue makes a token for each ConfigMap: it stores it in a Secret, and then writes the Secret's name into the ConfigMap.
func issue(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	for ; ctx.Err() == nil; time.Sleep(10 * time.Second) {
		maps, err := client.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{})
		if err != nil {
			continue
		}
		for _, m := range maps.Items {
			if m.Data["token"] != "" {
				continue
			}
			// The Secret's name follows from the ConfigMap's, so that after a crash here the same Secret is found, and none is left over.
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: m.Name + "-token"}}
			_, err := client.CoreV1().Secrets("default").Create(ctx, secret, metav1.CreateOptions{})
			if err != nil && !apierrors.IsAlreadyExists(err) {
				continue
			}
			m.Data = map[string]string{"token": secret.Name}
			_, _ = client.CoreV1().ConfigMaps("default").Update(ctx, &m, metav1.UpdateOptions{})
		}
	}
	return nil
}

// The controller dies after it has written the Secret and before it learns of that; when it comes back, it must not make a second one.
func ExampleEnv_CrashAfter() {
	simtest.Run(t, simtest.Options{Seeds: 10}, func(env *simtest.Env) {
		env.CrashAfter("issuer", fault.Trigger{Event: fault.TriggerCommit, Resource: "secrets"})
		env.Go("issuer", func(ctx context.Context) error { return issue(ctx, env.RESTConfig("issuer")) })
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "app"}}
		env.Create(m)
		env.Advance(time.Minute)
		env.StopFaults()
		env.Eventually("the ConfigMap names its Secret, and there is no other", 10*time.Minute, func() error {
			if err := env.Get(m); err != nil {
				return err
			}
			if secrets := env.Cluster().Keys("secrets"); len(secrets) != 1 || secrets[0] != "default/"+m.Data["token"] {
				return fmt.Errorf("the ConfigMap has %v, and there are the Secrets %v", m.Data, secrets)
			}
			return nil
		})
	})
	fmt.Println("one Secret")
	// Output: one Secret
}
