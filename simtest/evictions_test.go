package simtest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/informersim/informersim/simtest"
)

// keepsTwo is a controller that looks every few seconds whether there are two Pods, and creates what is missing.
func keepsTwo(env *simtest.Env, counts func(*corev1.Pod) bool) {
	env.Go("keeper", func(ctx context.Context) error {
		pods := kubernetes.NewForConfigOrDie(env.RESTConfig("keeper")).CoreV1().Pods("default")
		for ; ctx.Err() == nil; time.Sleep(5 * time.Second) {
			all, err := pods.List(ctx, metav1.ListOptions{})
			if err != nil {
				continue
			}
			n := 0
			for i := range all.Items {
				if counts(&all.Items[i]) {
					n++
				}
			}
			if n < 2 {
				p := pod("")
				p.GenerateName = "p-"
				_, _ = pods.Create(ctx, p, metav1.CreateOptions{}) // it looks again
			}
		}
		return nil
	})
	env.Advance(5 * time.Minute)
	env.StopFaults()
	env.Eventually("two Pods run", 20*time.Minute, func() error {
		all := &corev1.PodList{}
		if err := env.List(all, "default"); err != nil {
			return err
		}
		running := 0
		for i := range all.Items {
			if ready(&all.Items[i]) {
				running++
			}
		}
		if running < 2 {
			return fmt.Errorf("%d of %d run", running, len(all.Items))
		}
		return nil
	})
}

// A controller that counts Pods which have failed among those that it has is found with few seeds, although Pods with the restart policy Always
// fail only where their node has too little of something.
func TestFailedPodsAreReached(t *testing.T) {
	o := simtest.Options{Nodes: 2, Seeds: 20}
	right := o
	right.Seeds = seeds(o.Seeds)
	simtest.Run(t, right, func(env *simtest.Env) {
		keepsTwo(env, func(p *corev1.Pod) bool { return p.Status.Phase != corev1.PodFailed })
	})
	found := simtest.Find(t, o, func(env *simtest.Env) {
		keepsTwo(env, func(*corev1.Pod) bool { return true })
	})
	if found == nil {
		t.Fatalf("not found with %d seeds", o.Seeds)
	}
	wantIn(t, found.Text, "Pods and nodes that fail, most by pod-evicted")
	t.Logf("found with seed %d: %s", found.Seed, found.Message)
}
