package simtest_test

import (
	"context"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/internal/bubble"
)

var packageLock sync.RWMutex

// With the overlay a controller may keep a lock across requests and sleeps, be it a field or a package variable; without it, the failure says what is needed.
func TestLockAcrossRequest(t *testing.T) {
	t.Run("field", func(t *testing.T) { lockAcrossRequest(t, &sync.RWMutex{}) })
	t.Run("package variable", func(t *testing.T) { lockAcrossRequest(t, &packageLock) })
}

func lockAcrossRequest(t *testing.T, mu *sync.RWMutex) {
	body := func(env *simtest.Env) {
		env.Create(configMap("a", ""))
		done := 0
		env.Go("locker", func(ctx context.Context) error {
			client := kubernetes.NewForConfigOrDie(env.RESTConfig("locker"))
			var all sync.WaitGroup
			for range 3 {
				all.Go(func() {
					for range 4 {
						mu.Lock()
						if _, err := client.CoreV1().ConfigMaps("default").Get(ctx, "a", metav1.GetOptions{}); err == nil {
							done++
						}
						time.Sleep(time.Second)
						mu.Unlock()
						mu.RLock()
						mu.RUnlock()
					}
				})
			}
			all.Wait()
			<-ctx.Done()
			return nil
		})
		env.Advance(time.Hour)
		if done < 12 {
			t.Errorf("%d of 12 requests were answered", done)
		}
	}
	if bubble.Seeded() {
		simtest.Run(t, simtest.Options{Seeds: 4, Mix: "none", CrashProbability: -1, Verify: true}, body)
		return
	}
	aside(t)
	if isChild() {
		simtest.Run(t, simtest.Options{Seeds: 1, Mix: "none", CrashProbability: -1}, body)
		return
	}
	out := runChild(t)
	for _, want := range []string{
		"these goroutines wait for locks, and none runs that could release one:", "time to pass. It may be one of these:\n", "sync.Cond.Wait in github.com/informersim/informersim/simtest_test.",
		"A lock may be kept across a request or a sleep only in a test that is built with the overlay", `informersim go test`,
	} {
		wantIn(t, out, want)
	}
}
