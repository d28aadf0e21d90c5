package network_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	network "github.com/informersim/informersim/examples/network-controller"
	"github.com/informersim/informersim/simtest"
)

// listNodes creates nodes one by one, and then lists them.
func listNodes(check func(names []string) error) func(env *simtest.Env) {
	return func(env *simtest.Env) {
		for i := range 3 {
			env.Create(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%d", i)}})
		}
		var names atomic.Pointer[[]string] // shared with the process's goroutines
		env.Go("lister", func(ctx context.Context) error {
			return network.ListNodes(ctx, env.RESTConfig("lister"), func(n []string) { names.Store(&n) })
		})
		env.Eventually("the nodes are listed", time.Hour, func() error {
			if names.Load() == nil {
				return errors.New("nothing is reported")
			}
			return nil
		})
		env.Always("the list is right", func() error { return check(*names.Load()) })
		env.Settle()
		env.Advance(time.Second)
	}
}

var threeNodes = []string{"node-0", "node-1", "node-2"}

// A synced cache has what the server had at some point: with nodes created in order, the first few of them.
func TestListNodes(t *testing.T) {
	simtest.Run(t, options, listNodes(func(names []string) error {
		if !slices.Equal(names, threeNodes[:min(len(names), 3)]) {
			return fmt.Errorf("it has %v, which the server never had", names)
		}
		return nil
	}))
}

func TestWatchDeployments(t *testing.T) {
	simtest.Run(t, options, func(env *simtest.Env) {
		var mu sync.Mutex
		var seen map[string]int32
		env.Go("watcher", func(ctx context.Context) error {
			mine := map[string]int32{}
			mu.Lock()
			seen = mine
			mu.Unlock()
			return network.WatchDeployments(ctx, env.RESTConfig("watcher"),
				func(key string, replicas int32) { mu.Lock(); mine[key] = replicas; mu.Unlock() },
				func(key string) { mu.Lock(); delete(mine, key); mu.Unlock() })
		})
		labels := map[string]string{"app": "d"}
		for range 15 {
			replicas := int32(env.Rand().IntN(10))
			d := &appsv1.Deployment{
				ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("d-%d", env.Rand().IntN(3))},
				Spec: appsv1.DeploymentSpec{
					Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
					Template: corev1.PodTemplateSpec{
						ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "c"}}},
					},
				},
			}
			switch exists := env.Get(d.DeepCopy()) == nil; {
			case !exists:
				env.Create(d)
			case env.Rand().IntN(3) == 0:
				env.Delete(d)
			default:
				env.Update(d)
			}
			env.Advance(time.Duration(env.Rand().IntN(10)) * time.Second)
		}
		env.StopFaults()
		env.Eventually("every count is known", 30*time.Minute, func() error {
			var list appsv1.DeploymentList
			if err := env.List(&list, ""); err != nil {
				return err
			}
			want := map[string]int32{}
			for _, d := range list.Items {
				want[d.Namespace+"/"+d.Name] = *d.Spec.Replicas
			}
			mu.Lock()
			defer mu.Unlock()
			if !maps.Equal(seen, want) {
				return fmt.Errorf("it knows %v, there are %v", seen, want)
			}
			return nil
		})
	})
}
