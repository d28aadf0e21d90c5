package gates

import (
	"context"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// With client-go's DeltaFIFO, a handler's registration may turn synced before the last object of the first list is even in
// the store: the queue reports that it is synced when that object is taken out, not when it has been processed. This is why
// handler.checkSynced does not trust that queue. With a RealFIFO, the default, it does not happen.
func TestDeltaFIFOSyncsBeforeItsLastObject(t *testing.T) {
	for queue, early := range map[string]bool{"delta": true, "inorder": false, "atomic": false} {
		var before, stored, after bool
		mustHost(t, 1, func() { before, stored, after = syncedDuringLastPop(t, queue) })
		if before != early || stored || !after {
			t.Errorf("queue %s: while the only object is processed the registration has synced: %v (stored: %v); afterwards: %v",
				queue, before, stored, after)
		}
	}
}

// syncedDuringLastPop blocks an informer while it writes the only object of the first list to the store. It returns whether the
// handler's registration has synced then, whether the handler has received the object, and whether it has synced afterwards.
func syncedDuringLastPop(t *testing.T, queue string) (during, told, after bool) {
	ctx, cancel := context.WithCancel(context.Background())
	release := make(chan struct{})
	inf := cache.NewSharedIndexInformer(&cache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			return &corev1.PodList{
				ListMeta: metav1.ListMeta{ResourceVersion: "1"},
				Items:    []corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a", ResourceVersion: "1"}}},
			}, nil
		},
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) { return watch.NewFake(), nil },
	}, &corev1.Pod{}, 0, cache.Indexers{"hold": func(any) ([]string, error) {
		<-release
		return nil, nil
	}})
	heard := make(chan struct{}, 1)
	reg, err := inf.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { heard <- struct{}{} }})
	if err != nil {
		t.Error(err)
	}
	choose(queue, false)
	done := make(chan struct{})
	go func() {
		defer close(done)
		inf.RunWithContext(ctx)
	}()
	synctest.Wait()
	during, told = reg.HasSynced(), len(heard) > 0
	close(release)
	synctest.Wait()
	after = reg.HasSynced()
	cancel()
	<-done
	return during, told, after
}
