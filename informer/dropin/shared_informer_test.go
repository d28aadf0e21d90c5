package dropin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	fcache "k8s.io/client-go/tools/cache/testing"

	"k8s.io/utils/clock"

	"github.com/informersim/informersim/informer"
)

// world is an informer with a server, in a bubble: time advances when everything waits.
type world struct {
	t        *testing.T
	source   *fcache.FakeControllerSource
	informer SharedIndexInformer
	cancel   context.CancelFunc
	stopped  chan struct{} // closed when RunWithContext has returned
}

func inWorld(t *testing.T, run func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, source: fcache.NewFakeControllerSource(), stopped: make(chan struct{})}
		w.informer = NewSharedIndexInformer(w.source, &v1.Pod{}, 0, byNamespace())
		run(w)
		w.stop()
		w.source.Shutdown()
	})
}

func (w *world) start() {
	var ctx context.Context
	ctx, w.cancel = context.WithCancel(context.Background())
	go func() {
		defer close(w.stopped)
		w.informer.RunWithContext(ctx)
	}()
	synctest.Wait()
}

func (w *world) stop() {
	if w.cancel != nil {
		w.cancel()
		<-w.stopped
	}
}

func pod(name string) *v1.Pod {
	return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "n1", Name: name}}
}

// recorder records its calls.
type recorder struct {
	mu    sync.Mutex
	calls []string
	block chan struct{} // if not nil, each call waits for it
	panic string        // the object at which to panic
}

func (r *recorder) note(format string, args ...any) {
	r.mu.Lock()
	r.calls = append(r.calls, fmt.Sprintf(format, args...))
	r.mu.Unlock()
	if r.block != nil {
		<-r.block
	}
	if r.panic != "" && strings.Contains(fmt.Sprint(args...), r.panic) {
		panic("the handler panicked at " + r.panic)
	}
}

func nameOf(obj any) string {
	if d, ok := obj.(DeletedFinalStateUnknown); ok {
		return "unknown:" + d.Key
	}
	return obj.(*v1.Pod).Name
}

func (r *recorder) OnAdd(obj any, initial bool) { r.note("add %s %v", nameOf(obj), initial) }
func (r *recorder) OnUpdate(_, obj any)         { r.note("update %s", nameOf(obj)) }
func (r *recorder) OnDelete(obj any)            { r.note("delete %s", nameOf(obj)) }

func (r *recorder) got() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.calls)
}

func (r *recorder) expect(t *testing.T, want ...string) {
	t.Helper()
	if got := r.got(); !slices.Equal(got, want) {
		t.Errorf("the handler was called with\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func (w *world) add(h ResourceEventHandler) ResourceEventHandlerRegistration {
	w.t.Helper()
	r, err := w.informer.AddEventHandler(h)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func TestI62StoreIsAheadOfTheHandler(t *testing.T) {
	inWorld(t, func(w *world) {
		var seen []bool
		w.add(ResourceEventHandlerFuncs{
			AddFunc: func(obj any) {
				_, exists, _ := w.informer.GetStore().Get(obj)
				seen = append(seen, exists)
			},
			DeleteFunc: func(obj any) {
				_, exists, _ := w.informer.GetStore().Get(obj)
				seen = append(seen, exists)
			},
		})
		w.start()
		w.source.Add(pod("a"))
		synctest.Wait()
		w.source.Delete(pod("a"))
		synctest.Wait()
		if fmt.Sprint(seen) != "[true false]" {
			t.Errorf("the store held the object at its add and its delete: %v, want [true false]", seen)
		}
	})
}

func TestI79LateHandlerGetsTheStoreAsInitialAdds(t *testing.T) {
	inWorld(t, func(w *world) {
		w.source.Add(pod("a"))
		early, late := &recorder{}, &recorder{}
		w.add(early)
		w.start()
		w.source.Add(pod("b"))
		synctest.Wait()
		registration := w.add(late)
		synctest.Wait()
		if !registration.HasSynced() {
			t.Error("the late handler has seen everything but has not synced")
		}
		w.source.Add(pod("c"))
		synctest.Wait()
		early.expect(t, "add a true", "add b false", "add c false")
		got := late.got()
		slices.Sort(got[:2]) // the store is unordered
		if fmt.Sprint(got) != "[add a true add b true add c false]" {
			t.Errorf("the late handler was called with %v", got)
		}
	})
}

func TestI80AfterStop(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start()
		if w.informer.IsStopped() {
			t.Error("IsStopped is true for a running informer")
		}
		w.stop()
		if !w.informer.IsStopped() {
			t.Error("IsStopped is false for a stopped informer")
		}
		if _, err := w.informer.AddEventHandler(&recorder{}); !errors.Is(err, informer.ErrStopped) {
			t.Errorf("AddEventHandler after stop: %v", err)
		}
		if err := w.informer.AddIndexers(Indexers{"late": labelIndex}); !errors.Is(err, informer.ErrStopped) {
			t.Errorf("AddIndexers after stop: %v", err)
		}
		w.informer.Run(nil) // a second run returns at once, though its channel is never closed
	})
}

func TestI81RemoveDropsTheBacklogAndLetsTheCallFinish(t *testing.T) {
	inWorld(t, func(w *world) {
		slow, other := &recorder{block: make(chan struct{})}, &recorder{}
		registration := w.add(slow)
		w.add(other)
		w.start()
		for _, name := range []string{"a", "b", "c"} {
			w.source.Add(pod(name))
		}
		synctest.Wait()
		for range 2 { // idempotent
			if err := w.informer.RemoveEventHandler(registration); err != nil {
				t.Fatal(err)
			}
		}
		close(slow.block)
		w.source.Add(pod("d"))
		synctest.Wait()
		slow.expect(t, "add a false")
		other.expect(t, "add a false", "add b false", "add c false", "add d false")
		if err := w.informer.RemoveEventHandler(foreignHandle{}); err == nil {
			t.Error("a handle of another implementation was accepted")
		}
	})
}

type foreignHandle struct {
	ResourceEventHandlerRegistration
}

func TestI81RemoveBeforeStart(t *testing.T) {
	inWorld(t, func(w *world) {
		gone := &recorder{}
		registration := w.add(gone)
		if err := ShutDownEventHandler(w.informer, registration); err != nil { // does not wait: it never ran
			t.Fatal(err)
		}
		w.source.Add(pod("a"))
		w.start()
		gone.expect(t)
	})
}

func TestI82ShutDownWaitsForTheCall(t *testing.T) {
	inWorld(t, func(w *world) {
		slow := &recorder{block: make(chan struct{})}
		registration := w.add(slow)
		w.start()
		w.source.Add(pod("a"))
		synctest.Wait()
		done := make(chan error, 1)
		go func() { done <- ShutDownEventHandler(w.informer, registration) }()
		synctest.Wait()
		select {
		case <-done:
			t.Fatal("ShutDownEventHandler returned while the handler was running")
		default:
		}
		close(slow.block)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	})
}

func TestI83StalledHandlerHoldsNobodyUp(t *testing.T) {
	inWorld(t, func(w *world) {
		stalled, other := &recorder{block: make(chan struct{})}, &recorder{}
		w.add(stalled)
		w.add(other)
		w.start()
		const n = 3000 // more than any buffer
		for i := range n {
			w.source.Add(pod(fmt.Sprint(i)))
		}
		synctest.Wait()
		if got := len(other.got()); got != n {
			t.Errorf("the other handler got %d of %d", got, n)
		}
		if got := len(w.informer.GetStore().ListKeys()); got != n {
			t.Errorf("the store has %d of %d", got, n)
		}
		close(stalled.block)
		synctest.Wait()
		got := stalled.got()
		for i := range n { // in order (I84)
			if got[i] != fmt.Sprintf("add %d false", i) {
				t.Fatalf("call %d of the stalled handler is %s", i, got[i])
			}
		}
	})
}

func TestI85PanicSkipsTheItemAndRestsASecond(t *testing.T) {
	defer setReallyCrash(false)()
	inWorld(t, func(w *world) {
		bad := &recorder{panic: "boom"}
		w.add(bad)
		w.start()
		w.source.Add(pod("boom"))
		w.source.Add(pod("b"))
		w.source.Add(pod("c"))
		synctest.Wait()
		bad.expect(t, "add boom false")
		time.Sleep(time.Second)
		synctest.Wait()
		bad.expect(t, "add boom false", "add b false", "add c false")
	})
}

func setReallyCrash(crash bool) (restore func()) {
	was, handlers := utilruntime.ReallyCrash, utilruntime.PanicHandlers
	utilruntime.ReallyCrash, utilruntime.PanicHandlers = crash, nil
	return func() { utilruntime.ReallyCrash, utilruntime.PanicHandlers = was, handlers }
}

func TestI86I87RegistrationSyncsAfterItsHandlerHasSeenTheInitialList(t *testing.T) {
	inWorld(t, func(w *world) {
		slow := &recorder{block: make(chan struct{})}
		w.source.Add(pod("a"))
		w.source.Add(pod("b"))
		registration := w.add(slow)
		w.start()
		if !w.informer.HasSynced() {
			t.Error("the informer has not synced, but must not wait for handlers (I87)")
		}
		slow.block <- struct{}{}
		synctest.Wait()
		if registration.HasSynced() {
			t.Error("the registration has synced before the handler returned from the second add")
		}
		slow.block <- struct{}{}
		synctest.Wait()
		if !registration.HasSynced() {
			t.Error("the registration has not synced though the handler has returned from every add")
		}
		if name := registration.HasSyncedChecker().Name(); !strings.HasPrefix(name, "SharedIndexInformer *v1.Pod + event handler ") {
			t.Errorf("the checker's name is %q", name)
		}
	})
}

func TestI86HandlerThatPanickedNeverSyncs(t *testing.T) {
	defer setReallyCrash(false)()
	inWorld(t, func(w *world) {
		w.source.Add(pod("boom"))
		registration := w.add(&recorder{panic: "boom"})
		w.start()
		time.Sleep(time.Minute)
		if registration.HasSynced() {
			t.Error("the registration has synced though its handler panicked at the only add")
		}
	})
}

func TestI88HandlersStopAfterTheController(t *testing.T) {
	inWorld(t, func(w *world) {
		slow := &recorder{block: make(chan struct{})}
		w.add(slow)
		w.start()
		w.source.Add(pod("a"))
		synctest.Wait()
		w.cancel()
		synctest.Wait()
		select {
		case <-w.stopped:
			t.Fatal("RunWithContext returned while a handler was running")
		default:
		}
		if !w.informer.IsStopped() {
			t.Error("the controller has not stopped before the handlers")
		}
		close(slow.block)
		<-w.stopped
	})
}

func TestI89SettersFailAfterStart(t *testing.T) {
	inWorld(t, func(w *world) {
		transform := func(obj any) (any, error) {
			p := obj.(*v1.Pod).DeepCopy()
			p.Labels = map[string]string{"transformed": "yes"}
			return p, nil
		}
		if err := w.informer.SetTransform(transform); err != nil {
			t.Fatal(err)
		}
		w.source.Add(pod("a"))
		w.start()
		if err := w.informer.SetTransform(transform); err == nil {
			t.Error("SetTransform after start succeeded")
		}
		if err := w.informer.SetWatchErrorHandler(func(*Reflector, error) {}); err == nil {
			t.Error("SetWatchErrorHandler after start succeeded")
		}
		got, _, _ := w.informer.GetStore().GetByKey("n1/a")
		if got.(*v1.Pod).Labels["transformed"] != "yes" {
			t.Errorf("the store holds %v, which was not transformed", got)
		}
	})
}

func TestI78ResyncPeriods(t *testing.T) {
	inWorld(t, func(w *world) {
		w.informer = NewSharedIndexInformer(w.source, &v1.Pod{}, time.Minute, nil)
		every2s, late, never := &recorder{}, &recorder{}, &recorder{}
		if _, err := w.informer.AddEventHandlerWithResyncPeriod(every2s, 2*time.Second); err != nil {
			t.Fatal(err)
		}
		if _, err := w.informer.AddEventHandlerWithResyncPeriod(never, 0); err != nil {
			t.Fatal(err)
		}
		w.source.Add(pod("a"))
		w.start()
		if _, err := w.informer.AddEventHandlerWithResyncPeriod(late, time.Millisecond); err != nil { // raised to 2s
			t.Fatal(err)
		}
		time.Sleep(7 * time.Second)
		synctest.Wait()
		every2s.expect(t, "add a true", "update a", "update a", "update a")
		late.expect(t, "add a true", "update a", "update a", "update a")
		never.expect(t, "add a true")
	})
}

// brokenSource fails to list until it is fixed.
type brokenSource struct {
	*fcache.FakeControllerSource
	mu    sync.Mutex
	fails []error
}

// IsWatchListSemanticsUnSupported disables streaming lists, which would need a failure of their own.
func (s *brokenSource) IsWatchListSemanticsUnSupported() bool { return true }

func (s *brokenSource) List(options metav1.ListOptions) (k8sruntime.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.fails) > 0 {
		err := s.fails[0]
		s.fails = s.fails[1:]
		return nil, err
	}
	return s.FakeControllerSource.List(options)
}

func (s *brokenSource) Watch(options metav1.ListOptions) (watch.Interface, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.fails) > 0 {
		err := s.fails[0]
		s.fails = s.fails[1:]
		return nil, err
	}
	return s.FakeControllerSource.Watch(options)
}

func TestI11WatchErrorHandlerIsToldWhoFailed(t *testing.T) {
	inWorld(t, func(w *world) {
		source := &brokenSource{FakeControllerSource: w.source, fails: []error{errors.New("first"), errors.New("second")}}
		w.source.Add(pod("a"))
		w.informer = NewSharedIndexInformer(source, &v1.Pod{}, 0, nil)
		var told []string
		err := w.informer.SetWatchErrorHandler(func(r *cache.Reflector, err error) {
			told = append(told, fmt.Sprintf("%s rv=%q %v", r.TypeDescription(), r.LastSyncResourceVersion(), err))
		})
		if err != nil {
			t.Fatal(err)
		}
		w.start()
		time.Sleep(time.Minute)
		synctest.Wait()
		want := []string{
			`*v1.Pod rv="" failed to list *v1.Pod: first`,
			`*v1.Pod rv="" failed to list *v1.Pod: second`,
		}
		if !slices.Equal(told, want) {
			t.Errorf("the handler got\n%s\nwant\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
		}
		rv := w.informer.LastSyncResourceVersion()
		source.mu.Lock()
		source.fails = []error{errors.New("third"), errors.New("fourth")}
		source.mu.Unlock()
		w.source.ResetWatch()
		time.Sleep(time.Minute)
		synctest.Wait()
		if last := told[len(told)-1]; !strings.HasPrefix(last, fmt.Sprintf("*v1.Pod rv=%q ", rv)) {
			t.Errorf("after a list at %s the handler got %q", rv, last)
		}
		if !w.informer.HasSynced() {
			t.Error("the informer has not synced after the server was fixed")
		}
	})
}

// TestI67ReadersSeeAllOfABatchOrNothing: while updates of a and b arrive in one batch, no reader sees only one of them.
func TestI67ReadersSeeAllOfABatchOrNothing(t *testing.T) {
	s := newStore(MetaNamespaceKeyFunc, Indexers{})
	var notified []string
	p := newDeltaProcessor(s, func(n informer.Notification) {
		if s.mu.TryLock() { // notifications are sent without the lock
			s.mu.Unlock()
		} else {
			t.Error("a notification came while the store was locked")
		}
		notified = append(notified, fmt.Sprintf("%s %d", n.Key, len(s.ListKeys())))
	})
	batch := &informer.Popped{
		Deltas: Deltas{{Type: Added, Object: pod("a")}, {Type: Added, Object: pod("b")}, {Type: Deleted, Object: pod("c")}},
		Keys:   []string{"n1/a", "n1/b", "n1/c"},
	}
	if err := p.process(batch); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(notified); got != "[n1/a 2 n1/b 2 n1/c 2]" {
		t.Errorf("notifications with the number of stored objects: %s, want all writes to come first", got)
	}
	failing := &informer.Popped{Deltas: Deltas{{Type: Bookmark}, {Type: Bookmark}}, Keys: []string{"", ""}}
	if err := p.process(failing); err == nil {
		t.Error("a batch of deltas that cannot be batched succeeded")
	}
	if !s.mu.TryLock() {
		t.Error("the store is locked after a failed batch")
	}
}

func TestI90MutationDetector(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed := make(chan error, 9)
		d := newMutationDetector("test", clock.RealClock{}, func(err error) { failed <- err })
		stop := make(chan struct{})
		defer close(stop)
		object := pod("a")
		d.AddObject(object)
		if wait := d.check(); wait != time.Second {
			t.Errorf("the next check is in %v, want 1s", wait)
		}
		object.Labels = map[string]string{"changed": "in place"}
		go d.Run(stop)
		select {
		case err := <-failed:
			if !strings.Contains(err.Error(), "cache test modified") {
				t.Error(err)
			}
		case <-time.After(2 * time.Second):
			t.Error("the detector missed an object that was changed in place")
		}
	})
	if _, off := NewCacheMutationDetector("off").(noMutationDetector); !off && !mutationDetectorEnabled {
		t.Error("the detector is on though KUBE_CACHE_MUTATION_DETECTOR is not set")
	}
}
