package simtest_test

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/informersim/informersim/simtest"
)

// The same test under what each seed draws, on a cluster whose apiservers lag behind each other, on one without streaming lists, and with a controller
// that crashes all the time.
func ExampleMatrix() {
	var t *testing.T // the test's
	simtest.Matrix(t, simtest.Options{Seeds: 10}, map[string]simtest.Options{
		"as drawn":           {},
		"three apiservers":   {Replicas: 3, Mix: "storm"},
		"no streaming lists": {WatchList: simtest.Off},
		"many crashes":       {CrashProbability: 0.05, MaxCrashes: 20},
	}, func(env *simtest.Env) {
		env.Go("controller", func(ctx context.Context) error {
			client := kubernetes.NewForConfigOrDie(env.RESTConfig("controller"))
			_, err := client.CoreV1().ConfigMaps("default").Create(ctx, configMap("leader", ""), metav1.CreateOptions{})
			return err
		})
		env.StopFaults()
		env.Eventually("there is a leader", time.Hour, func() error { return env.Get(configMap("leader", "")) })
	})
}
