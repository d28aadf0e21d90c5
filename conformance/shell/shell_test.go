package shell

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/features"
	"k8s.io/client-go/rest"

	apiruntime "k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/conformance/realserver"
	"github.com/informersim/informersim/informer/dropin"
	"github.com/informersim/informersim/informer/dropin/workqueue"
)

var gizmos = schema.GroupVersionResource{Group: "conformance.informersim.dev", Version: "v1", Resource: "gizmos"}

// gates sets some of client-go's feature gates.
type gates map[features.Feature]bool

// Enabled implements features.Gates.
func (g gates) Enabled(f features.Feature) bool { return g[f] }

// world is a server with a client that always reaches it, and the existing keys.
type world struct {
	t      *testing.T
	server *realserver.Server
	direct dynamic.ResourceInterface
	ns     string
}

func (w *world) create(names ...string) {
	w.t.Helper()
	for _, name := range names {
		obj := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "conformance.informersim.dev/v1", "kind": "Gizmo", "metadata": map[string]any{"name": name}, "spec": map[string]any{"size": int64(1)},
		}}
		if _, err := w.direct.Create(w.t.Context(), obj, metav1.CreateOptions{}); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) update(name string) {
	w.t.Helper()
	patch := fmt.Sprintf(`{"metadata":{"annotations":{"at":%q}}}`, time.Now())
	if _, err := w.direct.Patch(w.t.Context(), name, "application/merge-patch+json", []byte(patch), metav1.PatchOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) delete(name string) {
	w.t.Helper()
	if err := w.direct.Delete(w.t.Context(), name, metav1.DeleteOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

// wants returns the server's objects by key.
func (w *world) wants() map[string]string {
	w.t.Helper()
	l, err := w.direct.List(w.t.Context(), metav1.ListOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	have := map[string]string{}
	for _, o := range l.Items {
		have[w.ns+"/"+o.GetName()] = o.GetResourceVersion()
	}
	return have
}

// cached complains until the server's watch cache, which serves a first list, has n objects.
func (w *world) cached(n int) func() string {
	return func() string {
		l, err := w.direct.List(w.t.Context(), metav1.ListOptions{ResourceVersion: "0"})
		if err != nil {
			return err.Error()
		}
		if len(l.Items) != n {
			return fmt.Sprintf("the watch cache has %d objects, want %d", len(l.Items), n)
		}
		return ""
	}
}

// eventually waits until f returns "".
func eventually(t *testing.T, f func() string) {
	t.Helper()
	deadline := time.Now().Add(90 * time.Second)
	for {
		msg := f()
		if msg == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(msg)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// seen is a handler's state according to its notifications, with the inconsistent ones.
type seen struct {
	mu      sync.Mutex
	held    map[string]string
	unknown int // deletions without the final state
	initial int
	wrong   []string
	queue   workqueue.TypedRateLimitingInterface[string]
}

func (s *seen) told(what string, obj any, initial bool) {
	if t, ok := obj.(dropin.DeletedFinalStateUnknown); ok {
		s.unknown++
		obj = t.Obj
	}
	o := obj.(*unstructured.Unstructured)
	key := o.GetNamespace() + "/" + o.GetName()
	_, known := s.held[key]
	if known == (what == "add") {
		s.wrong = append(s.wrong, fmt.Sprintf("%s of %s, present: %v", what, key, known))
	}
	if initial {
		s.initial++
	}
	if what == "delete" {
		delete(s.held, key)
	} else {
		s.held[key] = o.GetResourceVersion()
	}
	s.queue.Add(key)
}

// OnAdd implements informer.ResourceEventHandler.
func (s *seen) OnAdd(obj any, initial bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told("add", obj, initial)
}

// OnUpdate implements informer.ResourceEventHandler.
func (s *seen) OnUpdate(_, obj any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told("update", obj, false)
}

// OnDelete implements informer.ResourceEventHandler.
func (s *seen) OnDelete(obj any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told("delete", obj, false)
}

// reconciled is the state that a worker found in the store when it last handled a key.
type reconciled struct {
	mu sync.Mutex
	rv map[string]string
}

func (r *reconciled) run(q workqueue.TypedRateLimitingInterface[string], store dropin.Store) {
	for {
		key, shutdown := q.Get()
		if shutdown {
			return
		}
		rv := ""
		if obj, ok, err := store.GetByKey(key); err == nil && ok {
			rv = obj.(*unstructured.Unstructured).GetResourceVersion()
		}
		r.mu.Lock()
		if rv == "" {
			delete(r.rv, key)
		} else {
			r.rv[key] = rv
		}
		r.mu.Unlock()
		q.Forget(key)
		q.Done(key)
	}
}

func diff(what string, have, want map[string]string) string {
	for key, rv := range want {
		if have[key] != rv {
			return fmt.Sprintf("%s: %s is at %q, but at %q on the server", what, key, have[key], rv)
		}
	}
	for key := range have {
		if _, ok := want[key]; !ok {
			return fmt.Sprintf("%s: %s exists, but not on the server", what, key)
		}
	}
	return ""
}

// rig is one informer with a handler and workers, in its own namespace, with a connection that can be cut.
type rig struct {
	*world
	name      string
	streaming bool
	line      *outage
	transport *http.Transport
	inf       dropin.SharedIndexInformer
	reg       dropin.ResourceEventHandlerRegistration
	told      *seen
	work      *reconciled
	cancel    context.CancelFunc
	running   sync.WaitGroup
}

// newRig creates four objects and starts an informer with the gates of that queue, which are read when it is created and started.
func newRig(t *testing.T, server *realserver.Server, ns, queue string, streaming bool) *rig {
	atomic := queue == "atomic"
	features.ReplaceFeatureGates(gates{
		features.InOrderInformers: queue != "delta", features.AtomicFIFO: atomic, features.WatchListClient: streaming,
		features.InOrderInformersBatchProcess: true, features.UnlockWhileProcessingFIFO: atomic,
	})
	client, err := dynamic.NewForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{
		world: &world{t: t, server: server, direct: client.Resource(gizmos).Namespace(ns), ns: ns},
		name:  fmt.Sprintf("queue %s, streaming %v", queue, streaming), streaming: streaming, transport: &http.Transport{},
		work: &reconciled{rv: map[string]string{}},
	}
	r.create("a", "b", "c", "d")
	eventually(t, r.cached(4))
	r.line = &outage{next: r.transport, bodies: map[*cutBody]bool{}}
	through, err := dynamic.NewForConfig(&rest.Config{Host: server.URL, Transport: r.line, QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	lw := dropin.ToListWatcherWithWatchListSemantics(&dropin.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (apiruntime.Object, error) {
			return through.Resource(gizmos).Namespace(ns).List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return through.Resource(gizmos).Namespace(ns).Watch(ctx, o)
		},
	}, through)
	r.inf = dropin.NewSharedIndexInformer(lw, &unstructured.Unstructured{}, 0, dropin.Indexers{dropin.NamespaceIndex: dropin.MetaNamespaceIndexFunc})
	r.told = &seen{held: map[string]string{}, queue: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())}
	if r.reg, err = r.inf.AddEventHandler(r.told); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r.cancel = cancel
	r.running.Go(func() { r.inf.RunWithContext(ctx) })
	for range 2 {
		r.running.Go(func() { r.work.run(r.told.queue, r.inf.GetStore()) })
	}
	if !dropin.WaitForCacheSync(ctx.Done(), r.inf.HasSynced, r.reg.HasSynced) {
		t.Fatalf("%s: the informer does not sync", r.name)
	}
	return r
}

// converged returns how the store, the handler or the workers differ from the server.
func (r *rig) converged() string {
	want, have := r.wants(), map[string]string{}
	for _, obj := range r.inf.GetStore().List() {
		o := obj.(*unstructured.Unstructured)
		have[o.GetNamespace()+"/"+o.GetName()] = o.GetResourceVersion()
	}
	r.told.mu.Lock()
	defer r.told.mu.Unlock()
	r.work.mu.Lock()
	defer r.work.mu.Unlock()
	return cmp.Or(diff(r.name+": the store", have, want), diff(r.name+": the handler", r.told.held, want), diff(r.name+": the workers", r.work.rv, want))
}

// synced checks the requests and notifications of an informer that has synced.
func (r *rig) synced(t *testing.T) {
	eventually(t, r.converged)
	r.told.mu.Lock()
	defer r.told.mu.Unlock()
	if r.told.initial != 4 {
		t.Errorf("%s: got %d notifications for the initial list, want 4", r.name, r.told.initial)
	}
	asked, _ := r.line.take()
	if want := map[bool][]string{false: {"list", "watch"}, true: {"watch"}}[r.streaming]; !slices.Equal(asked, want) {
		t.Errorf("%s: requests before the sync: %q, want %q", r.name, asked, want)
	}
}

// healed checks that the informer noticed that its last revision was compacted away.
func (r *rig) healed(t *testing.T) {
	eventually(t, r.converged)
	if asked, expired := r.line.take(); expired == 0 {
		t.Errorf("%s: no request was too old after the compaction; requests: %q", r.name, asked)
	}
	r.told.mu.Lock()
	defer r.told.mu.Unlock()
	if r.told.unknown != 1 {
		t.Errorf("%s: got %d deletions without final state, want only that of c", r.name, r.told.unknown)
	}
}

func (r *rig) stop(t *testing.T) {
	r.cancel()
	r.told.queue.ShutDown()
	r.running.Wait()
	r.transport.CloseIdleConnections()
	for _, msg := range r.told.wrong {
		t.Errorf("%s: inconsistent notification: %s", r.name, msg)
	}
}

// The shell lists, watches, and recovers from an outage, a compaction and a restart.
func TestShellAgainstRealServer(t *testing.T) {
	server, err := realserver.Start(t.Context(), realserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	before := features.FeatureGates()
	defer features.ReplaceFeatureGates(before)
	rigs := []*rig{
		newRig(t, server, "delta", "delta", false), newRig(t, server, "inorder", "inorder", true),
		newRig(t, server, "atomic", "atomic", false), newRig(t, server, "streaming", "atomic", true),
	}
	each := func(do func(*rig)) {
		t.Helper()
		for _, r := range rigs {
			do(r)
		}
	}
	each(func(r *rig) { r.synced(t) })
	each(func(r *rig) {
		r.update("a")
		r.delete("b")
		r.create("e")
	})
	each(func(r *rig) { eventually(t, r.converged) })

	// An outage with a compaction and a restart meanwhile, after which no cache has the compacted history.
	each(func(r *rig) {
		r.line.set(true)
		r.delete("c")
		r.create("f")
		r.update("a")
	})
	if err := server.Compact(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	each(func(r *rig) {
		r.update("f")
		r.line.take()
		r.line.set(false)
	})
	each(func(r *rig) { r.healed(t) })

	// A restart alone.
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	each(func(r *rig) {
		r.delete("d")
		r.create("g")
	})
	each(func(r *rig) { eventually(t, r.converged) })
	each(func(r *rig) { r.stop(t) })
	eventually(t, leftOver)
}

// leftOver returns a goroutine that still runs code of package dropin, or "".
func leftOver() string {
	buf := make([]byte, 1<<22)
	for _, g := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		if strings.Contains(g, "informersim/informer/dropin.") || strings.Contains(g, "informersim/informer/dropin/workqueue.") {
			return "a goroutine leaked: " + g
		}
	}
	return ""
}
