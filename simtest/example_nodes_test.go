package simtest_test

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/informersim/informersim/simtest"
)

// replace keeps one Pod alive: it replaces one that has failed.
func replace(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	pods := client.CoreV1().Pods("default")
	for ; ctx.Err() == nil; time.Sleep(10 * time.Second) {
		p, err := pods.Get(ctx, "worker", metav1.GetOptions{})
		switch {
		case err == nil && p.Status.Phase == corev1.PodFailed:
			_ = pods.Delete(ctx, "worker", metav1.DeleteOptions{})
		case err != nil:
			p = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "worker"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "work", Image: "work:1"}}}}
			_, _ = pods.Create(ctx, p, metav1.CreateOptions{})
		}
	}
	return nil
}

// Pods are bound to nodes and become ready. They may also crash, be evicted, or lose their node.
func ExampleRun_nodes() {
	simtest.Run(t, simtest.Options{Seeds: 10, Nodes: 3}, func(env *simtest.Env) {
		env.Go("replacer", func(ctx context.Context) error { return replace(ctx, env.RESTConfig("replacer")) })
		env.Advance(time.Hour)
		env.StopFaults()
		env.Eventually("the worker runs", time.Hour, func() error {
			p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "worker"}}
			if err := env.Get(p); err != nil {
				return err
			}
			if p.Status.Phase != corev1.PodRunning || p.DeletionTimestamp != nil {
				return fmt.Errorf("it is %s, on node %q", p.Status.Phase, p.Spec.NodeName)
			}
			return nil
		})
	})
	fmt.Println("there is a worker")
	// Output: there is a worker
}
