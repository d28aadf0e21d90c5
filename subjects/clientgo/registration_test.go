package clientgo_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientfeatures "k8s.io/client-go/features"
	featuretesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/tools/cache"
	fakes "k8s.io/client-go/tools/cache/testing"
)

// A handler's registration has synced once the handler was told of everything in the initial list. client-go v0.37.2 says so with a DeltaFIFO while the
// last object is still on its way into the Indexer: docs/findings.md.
func TestRegistrationSyncsTooEarly(t *testing.T) {
	for _, test := range []struct {
		name    string
		inOrder bool
		early   bool
	}{{"DeltaFIFO", false, true}, {"RealFIFO", true, false}} {
		t.Run(test.name, func(t *testing.T) {
			featuretesting.SetFeatureDuringTest(t, clientfeatures.WatchListClient, false)
			featuretesting.SetFeatureDuringTest(t, clientfeatures.InOrderInformers, test.inOrder)
			synctest.Test(t, func(t *testing.T) {
				source := fakes.NewFakeControllerSource()
				defer source.Shutdown()
				source.Add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}})
				slow := cache.Indexers{"slow": func(any) ([]string, error) { time.Sleep(time.Second); return nil, nil }}
				informer := cache.NewSharedIndexInformer(source, &corev1.Pod{}, 0, slow)
				var told atomic.Int32
				reg, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { told.Add(1) }})
				if err != nil {
					t.Fatal(err)
				}
				stop := make(chan struct{})
				defer close(stop)
				go informer.Run(stop)
				time.Sleep(time.Second / 2)
				synctest.Wait()
				if n := told.Load(); n != 0 {
					t.Fatalf("the handler was told of %d objects while the first is being indexed", n)
				}
				if reg.HasSynced() != test.early {
					t.Errorf("HasSynced is %v before the handler was told of anything; if that is right now, mend docs/findings.md", reg.HasSynced())
				}
				time.Sleep(time.Second)
				synctest.Wait()
				if n := told.Load(); n != 1 || !reg.HasSynced() {
					t.Errorf("in the end the handler was told of %d objects, and HasSynced is %v", n, reg.HasSynced())
				}
			})
		})
	}
}
