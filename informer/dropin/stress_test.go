package dropin

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	clientfeatures "k8s.io/client-go/features"
	clientfeaturestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/tools/cache"
	fcache "k8s.io/client-go/tools/cache/testing"
)

// shadowHandler rebuilds the store from its notifications and fails if they are inconsistent.
type shadowHandler struct {
	t       *testing.T
	mu      sync.Mutex
	objects map[string]string // key to resourceVersion
	running atomic.Bool
}

func (h *shadowHandler) apply(change func()) {
	if !h.running.CompareAndSwap(false, true) {
		h.t.Error("concurrent calls of one handler")
	}
	defer h.running.Store(false)
	h.mu.Lock()
	defer h.mu.Unlock()
	change()
}

func (h *shadowHandler) OnAdd(obj any, _ bool) {
	h.apply(func() {
		p := obj.(*v1.Pod)
		if was, exists := h.objects[p.Name]; exists {
			h.t.Errorf("add of %s, which already exists at %s", p.Name, was)
		}
		h.objects[p.Name] = p.ResourceVersion
	})
}

func (h *shadowHandler) OnUpdate(old, obj any) {
	h.apply(func() {
		p, was := obj.(*v1.Pod), old.(*v1.Pod)
		if h.objects[p.Name] != was.ResourceVersion {
			h.t.Errorf("update of %s from %s, but it was at %q", p.Name, was.ResourceVersion, h.objects[p.Name])
		}
		h.objects[p.Name] = p.ResourceVersion
	})
}

func (h *shadowHandler) OnDelete(obj any) {
	h.apply(func() {
		if d, ok := obj.(DeletedFinalStateUnknown); ok {
			obj = d.Obj
		}
		delete(h.objects, obj.(*v1.Pod).Name)
	})
}

// slowHandler is a shadowHandler with slow calls, so that it has a backlog when the informer stops.
type slowHandler struct{ shadowHandler }

func (h *slowHandler) OnUpdate(old, obj any) {
	time.Sleep(time.Duration(rand.IntN(300)) * time.Microsecond)
	h.shadowHandler.OnUpdate(old, obj)
}

// stressGates are the queues that an informer can have.
var stressGates = []struct {
	name                   string
	inOrder, atomic, batch bool
}{
	{"delta", false, false, false}, {"inorder", true, false, true}, {"inorder, one by one", true, false, false}, {"atomic", true, true, true},
}

// TestStress runs informers with writes, cut watches, handlers being added and removed, readers, transforms, and a stop at
// a random moment or after everything has settled; then every handler's state must equal the store.
func TestStress(t *testing.T) {
	for _, gates := range stressGates {
		t.Run(gates.name, func(t *testing.T) {
			clientfeaturestesting.SetFeatureDuringTest(t, clientfeatures.AtomicFIFO, gates.atomic)
			clientfeaturestesting.SetFeatureDuringTest(t, clientfeatures.UnlockWhileProcessingFIFO, gates.atomic)
			clientfeaturestesting.SetFeatureDuringTest(t, clientfeatures.InOrderInformersBatchProcess, gates.batch)
			clientfeaturestesting.SetFeatureDuringTest(t, clientfeatures.InOrderInformers, gates.inOrder)
			for round := range 6 {
				stress(t, round)
			}
		})
	}
}

func stress(t *testing.T, round int) {
	source := fcache.NewFakeControllerSource()
	informer := NewSharedIndexInformer(source, &v1.Pod{}, time.Second, byNamespace())
	if round%2 == 0 {
		if err := informer.SetTransform(func(obj any) (any, error) { return obj.(*v1.Pod).DeepCopy(), nil }); err != nil {
			t.Fatal(err)
		}
	}
	first := &shadowHandler{t: t, objects: map[string]string{}}
	slow := &slowHandler{shadowHandler{t: t, objects: map[string]string{}}}
	for _, h := range []ResourceEventHandler{first, slow} {
		if _, err := informer.AddEventHandler(h); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running, actors sync.WaitGroup
	running.Go(func() { informer.RunWithContext(ctx) })
	actors.Go(func() { writeAtRandom(source) })
	for range 2 {
		actors.Go(func() { churnHandlers(t, informer) })
		actors.Go(func() { readAtRandom(informer) })
	}
	if cutShort := round%3 != 0; cutShort {
		time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond)
		cancel()
		actors.Wait()
	} else {
		actors.Wait()
		expectSettled(t, informer, first)
		expectSettled(t, informer, &slow.shadowHandler)
		cancel()
	}
	running.Wait()
	source.Shutdown()
}

func writeAtRandom(source *fcache.FakeControllerSource) {
	existing := map[int]bool{}
	for range 300 {
		i := rand.IntN(20)
		switch p := pod(fmt.Sprint(i)); {
		case !existing[i]:
			source.Add(p)
			existing[i] = true
		case rand.IntN(3) == 0:
			source.Delete(p)
			delete(existing, i)
		default:
			source.Modify(p)
		}
		if rand.IntN(50) == 0 {
			source.ResetWatch()
		}
		if rand.IntN(10) == 0 {
			time.Sleep(time.Millisecond)
		}
	}
}

// churnHandlers adds and removes handlers. After a stop adding fails, which is fine.
func churnHandlers(t *testing.T, informer SharedIndexInformer) {
	for range 30 {
		h := &shadowHandler{t: t, objects: map[string]string{}}
		registration, err := informer.AddEventHandler(h)
		if err != nil {
			return
		}
		time.Sleep(time.Duration(rand.IntN(500)) * time.Microsecond)
		remove := informer.RemoveEventHandler
		if rand.IntN(2) == 0 {
			remove = func(r cache.ResourceEventHandlerRegistration) error { return ShutDownEventHandler(informer, r) }
		}
		if err := remove(registration); err != nil {
			t.Error(err)
		}
	}
}

func readAtRandom(informer SharedIndexInformer) {
	for range 300 {
		informer.GetStore().List()
		_, _ = informer.GetIndexer().ByIndex(NamespaceIndex, "n1")
		_ = informer.GetIndexer().ListIndexFuncValues(NamespaceIndex)
		informer.LastSyncResourceVersion()
		informer.HasSynced()
		time.Sleep(10 * time.Microsecond)
	}
}

// expectSettled waits until the handler's state equals the store's content.
func expectSettled(t *testing.T, informer SharedIndexInformer, h *shadowHandler) {
	t.Helper()
	equal := func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		list := informer.GetStore().List()
		for _, obj := range list {
			if p := obj.(*v1.Pod); h.objects[p.Name] != p.ResourceVersion {
				return false
			}
		}
		return len(list) == len(h.objects)
	}
	for range 3000 {
		if equal() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("the handler's state never equals the store's: %v, %v", h.objects, informer.GetStore().ListKeys())
}
