package factory

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/informer/dropin"
)

var (
	podType  = reflect.TypeOf(&v1.Pod{})
	nodeType = reflect.TypeOf(&v1.Node{})
)

// pods lists one pod and watches nothing.
func pods() *dropin.ListWatch {
	return &dropin.ListWatch{
		ListFunc: func(metav1.ListOptions) (runtime.Object, error) {
			return &v1.PodList{
				ListMeta: metav1.ListMeta{ResourceVersion: "1"},
				Items:    []v1.Pod{{ObjectMeta: metav1.ObjectMeta{Namespace: "n1", Name: "a"}}},
			}, nil
		},
		WatchFunc: func(o metav1.ListOptions) (watch.Interface, error) {
			if o.SendInitialEvents != nil {
				return nil, errors.New("no streaming lists here")
			}
			return watch.NewRaceFreeFake(), nil
		},
	}
}

// silent neither lists nor fails until its context ends.
func silent() *dropin.ListWatch {
	return &dropin.ListWatch{
		ListWithContextFunc: func(ctx context.Context, _ metav1.ListOptions) (runtime.Object, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
		WatchFuncWithContext: func(ctx context.Context, _ metav1.ListOptions) (watch.Interface, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
	}
}

func newInformer(lw *dropin.ListWatch, obj runtime.Object) NewFunc {
	return func(resync time.Duration) dropin.SharedIndexInformer {
		return dropin.NewSharedIndexInformer(lw, obj, resync, dropin.Indexers{dropin.NamespaceIndex: dropin.MetaNamespaceIndexFunc})
	}
}

func TestI91OneInformerPerTypeAndStartIsIncremental(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var resyncs []time.Duration
		f := New(Options{DefaultResync: time.Hour, CustomResync: map[reflect.Type]time.Duration{nodeType: time.Minute}})
		note := func(lw *dropin.ListWatch, obj runtime.Object) NewFunc {
			return func(resync time.Duration) dropin.SharedIndexInformer {
				resyncs = append(resyncs, resync)
				return newInformer(lw, obj)(resync)
			}
		}
		ctx, cancel := context.WithCancel(context.Background())
		first := f.InformerFor(&v1.Pod{}, note(pods(), &v1.Pod{}))
		f.Start(ctx)
		synctest.Wait()
		nodes := f.InformerFor(&v1.Node{}, note(silent(), &v1.Node{}))
		if again := f.InformerFor(&v1.Pod{}, note(silent(), &v1.Pod{})); again != first {
			t.Error("a second informer was created for one type")
		}
		if len(resyncs) != 2 || resyncs[0] != time.Hour || resyncs[1] != time.Minute {
			t.Errorf("informers were made with resync periods %v, want 1h and 1m", resyncs)
		}
		if nodes.GetController() == nil || !first.HasSynced() {
			t.Error("the first Start did not run the first informer")
		}
		f.Start(ctx) // runs the second; the first would warn if it were rerun
		synctest.Wait()
		cancel()
		f.Shutdown()
		if !first.IsStopped() || !nodes.IsStopped() {
			t.Errorf("stopped after Shutdown: pods %v, nodes %v", first.IsStopped(), nodes.IsStopped())
		}
	})
}

func TestI92WaitForCacheSyncCoversStartedInformers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(Options{})
		ctx, cancel := context.WithCancel(context.Background())
		f.InformerFor(&v1.Pod{}, newInformer(pods(), &v1.Pod{}))
		f.Start(ctx)
		f.InformerFor(&v1.Node{}, newInformer(silent(), &v1.Node{})) // not started
		result := f.WaitForCacheSync(ctx)
		if result.AsError() != nil || len(result.Synced) != 1 || !result.Synced[podType] {
			t.Errorf("with one informer started: %+v", result)
		}
		f.Start(ctx)
		reason := errors.New("no more patience")
		short, cancelShort := context.WithTimeoutCause(ctx, time.Minute, reason)
		defer cancelShort()
		result = f.WaitForCacheSync(short)
		if !errors.Is(result.AsError(), reason) || result.Synced[nodeType] || !result.Synced[podType] {
			t.Errorf("with one informer that never syncs: %+v", result)
		}
		cancel()
		f.Shutdown()
	})
}

func TestI93ShutdownWaitsAndEndsStarting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(Options{})
		ctx, cancel := context.WithCancel(context.Background())
		f.InformerFor(&v1.Pod{}, newInformer(pods(), &v1.Pod{}))
		f.Start(ctx)
		done := make(chan struct{})
		go func() {
			f.Shutdown()
			close(done)
		}()
		synctest.Wait()
		select {
		case <-done:
			t.Fatal("Shutdown returned while an informer was running")
		default:
		}
		late := f.InformerFor(&v1.Node{}, newInformer(silent(), &v1.Node{}))
		f.Start(context.Background())
		cancel()
		<-done
		if late.HasSynced() || len(f.running()) != 1 {
			t.Error("Start after Shutdown ran an informer")
		}
	})
}

// TestTransform: the factory's transform is set on every informer.
func TestTransform(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(Options{Transform: func(obj any) (any, error) {
			obj.(*v1.Pod).Labels = map[string]string{"transformed": "yes"}
			return obj, nil
		}})
		ctx, cancel := context.WithCancel(context.Background())
		i := f.InformerFor(&v1.Pod{}, newInformer(pods(), &v1.Pod{}))
		f.Start(ctx)
		if err := f.WaitForCacheSync(ctx).AsError(); err != nil {
			t.Fatal(err)
		}
		lister := listers.NewPodLister(i.GetIndexer()) // generated
		got, err := lister.Pods("n1").Get("a")
		if err != nil || got.Labels["transformed"] != "yes" {
			t.Errorf("the generated lister found %v, %v", got, err)
		}
		cancel()
		f.Shutdown()
	})
}

// TestClientGosFactoryTakesOurInformers: an informer of this project registered with client-go's factory is the one that the
// generated informer and lister of its type use.
func TestClientGosFactoryTakesOurInformers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		f := informers.NewSharedInformerFactory(client, time.Hour)
		ours := f.InformerFor(&v1.Pod{}, func(_ kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
			return newInformer(pods(), &v1.Pod{})(resync)
		})
		generated := f.Core().V1().Pods()
		if generated.Informer().GetIndexer() != ours.GetIndexer() {
			t.Fatal("the generated informer has another store")
		}
		ctx, cancel := context.WithCancel(context.Background())
		f.StartWithContext(ctx)
		if err := f.WaitForCacheSyncWithContext(ctx).AsError(); err != nil {
			t.Fatal(err)
		}
		list, err := generated.Lister().Pods("n1").List(labels.Everything())
		if err != nil || len(list) != 1 || list[0].Name != "a" {
			t.Errorf("the generated lister found %v, %v", list, err)
		}
		cancel()
		f.Shutdown()
	})
}
