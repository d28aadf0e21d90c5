package controllers

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/sim"
)

type world struct {
	t          testing.TB
	k          *sim.Kernel
	c          *fakeapiserver.Cluster
	w          writer
	maps, pods store.ResourceID
	namespaces store.ResourceID
	id         sim.ActorID
	next       func()
}

var kindLine = sim.RegisterKind("line", sim.ClassScript)

func (*world) Name() string       { return "script" }
func (w *world) Apply(sim.Choice) { w.next() }

func newWorld(t testing.TB) *world {
	k := sim.NewKernel(sim.Options{Seed: 1, Strategy: sim.NewFIFO()})
	w := &world{t: t, k: k, c: fakeapiserver.NewCluster(k, fakeapiserver.ClusterOptions{})}
	w.w.cluster = w.c
	w.id = k.Register(w)
	w.maps = w.add(store.Resource{Version: "v1", Plural: "configmaps", Kind: "ConfigMap", Namespaced: true, New: func() runtime.Object { return &corev1.ConfigMap{} }})
	w.pods = w.add(store.Resource{Version: "v1", Plural: "pods", Kind: "Pod", Namespaced: true, New: func() runtime.Object { return &corev1.Pod{} }})
	w.namespaces = w.add(store.Resource{Version: "v1", Plural: "namespaces", Kind: "Namespace", New: func() runtime.Object { return &corev1.Namespace{} }})
	return w
}

func (w *world) add(r store.Resource) store.ResourceID {
	id, err := w.c.AddResource(r)
	if err != nil {
		w.t.Fatal(err)
	}
	return id
}

func (w *world) do(f func() error) {
	w.t.Helper()
	w.next = func() {
		if err := f(); err != nil {
			w.t.Error(err)
		}
	}
	w.k.Offer(w.id, kindLine, 0)
	w.k.Step()
	w.settle()
}

func (w *world) settle() {
	w.t.Helper()
	for i := 0; !w.k.Quiet() && w.k.Step(); i++ {
		if i > 100_000 {
			w.t.Fatal("the world does not settle")
		}
	}
	if err := w.k.Err(); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) advance(d time.Duration) {
	w.t.Helper()
	w.k.Clock().LimitTo(d)
	for i := 0; w.k.Step(); i++ {
		if i > 100_000 {
			w.t.Fatal("the world does not settle")
		}
	}
}

// owner returns an ownerReference to a configmap created with the test's uid.
func owner(name string, block bool) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: name, UID: types.UID("uid-" + name), BlockOwnerDeletion: &block}
}

func (w *world) create(name string, owners ...metav1.OwnerReference) {
	w.t.Helper()
	m := &corev1.ConfigMap{}
	m.Namespace, m.Name, m.UID, m.OwnerReferences = "x", name, types.UID("uid-"+name), owners
	w.do(func() error { _, err := w.c.Create(w.maps, m); return err })
}

func (w *world) object(name string) object { return object{res: w.maps, namespace: "x", name: name} }

func (w *world) delete(name string, policy metav1.DeletionPropagation) {
	w.t.Helper()
	w.do(func() error { return w.w.delete(w.object(name), policy) })
}

// left returns the existing configmaps, those that are being deleted with a minus.
func (w *world) left() string {
	var names []string
	if err := w.c.Store().Walk(w.maps, w.c.Store().Revision(), "", func(_ string, obj runtime.Object) bool {
		m := obj.(*corev1.ConfigMap)
		name := m.Name
		if m.DeletionTimestamp != nil {
			name += "-"
		}
		for _, ref := range m.OwnerReferences {
			name += "<" + ref.Name
		}
		names = append(names, name)
		return true
	}); err != nil {
		w.t.Fatal(err)
	}
	return strings.Join(names, " ")
}

func (w *world) want(left string) {
	w.t.Helper()
	if got := w.left(); got != left {
		w.t.Errorf("left are %q, want %q", got, left)
	}
}

// An object with one existing and one absent owner loses the reference to the second.
func TestOneOwnerOfTwo(t *testing.T) {
	w := newWorld(t)
	NewGarbageCollector(w.c, Options{})
	w.create("a")
	w.create("d", owner("a", true), owner("e", true))
	w.want("a d<a")
}

func TestDependentsAreDeletedWithTheirOwner(t *testing.T) {
	w := newWorld(t)
	g := NewGarbageCollector(w.c, Options{})
	w.create("a")
	w.create("e")
	w.create("b", owner("a", true))
	w.create("c", owner("b", false))
	w.create("d", owner("a", true), owner("e", true))
	w.want("a b<a c<b d<a<e e")
	w.delete("a", metav1.DeletePropagationBackground)
	w.want("d<e e")
	w.delete("e", metav1.DeletePropagationBackground)
	w.want("")
	if len(g.dependents) != 0 || len(g.owners) != 0 || !g.Idle() {
		t.Errorf("the collector still has %v and %v", g.dependents, g.owners)
	}
}

// References to an owner that never existed, has another uid, or was recreated, count as absent.
func TestAbsentOwner(t *testing.T) {
	w := newWorld(t)
	NewGarbageCollector(w.c, Options{})
	w.create("a", owner("nobody", false))
	w.want("")
	w.create("o")
	wrong := owner("o", false)
	wrong.UID = "another"
	w.create("b", wrong)
	w.want("o")
}

// An owner of a kind that is not served is not assumed to be absent.
func TestUnknownOwnerKind(t *testing.T) {
	w := newWorld(t)
	NewGarbageCollector(w.c, Options{})
	ref := owner("w", false)
	ref.APIVersion, ref.Kind = "probe.dev/v1", "Widget"
	w.create("a", ref)
	w.advance(10 * time.Minute)
	w.want("a<w")
	w.next = func() {
		w.add(store.Resource{Group: "probe.dev", Version: "v1", Plural: "widgets", Kind: "Widget", Namespaced: true})
	}
	w.k.Offer(w.id, kindLine, 0)
	w.k.Step()
	w.advance(time.Minute)
	w.want("")
}

func TestForegroundDeletion(t *testing.T) {
	w := newWorld(t)
	g := NewGarbageCollector(w.c, Options{})
	w.create("a")
	w.create("b", owner("a", true))
	w.create("c", owner("b", true))
	w.create("d", owner("a", false))
	g.Hold()
	w.delete("a", metav1.DeletePropagationForeground)
	w.want("a- b<a c<b d<a")
	w.do(func() error { g.Release(); return nil })
	w.want("")
	// Dependents went before their owners: c, then b, then a.
	var order []string
	if err := w.c.Store().Changes(w.maps, 1000, func(c store.Committed) bool {
		if c.Deleted {
			order = append(order, strings.TrimPrefix(c.Key, "x/"))
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for i, name := range order {
		at[name] = i
	}
	if at["c"] > at["b"] || at["b"] > at["a"] {
		t.Errorf("deleted in the order %v", order)
	}
}

// A finalizer on a dependent blocks a foreground deletion.
func TestForegroundWaitsForFinalizers(t *testing.T) {
	w := newWorld(t)
	NewGarbageCollector(w.c, Options{})
	w.create("a")
	w.create("b", owner("a", true))
	w.do(func() error {
		return w.w.change(w.object("b"), func(m metav1.Object) { m.SetFinalizers([]string{"probe.dev/hold"}) })
	})
	w.delete("a", metav1.DeletePropagationForeground)
	w.want("a- b-<a")
	w.do(func() error { return w.w.change(w.object("b"), func(m metav1.Object) { m.SetFinalizers(nil) }) })
	w.want("")
}

func TestOrphaningDeletion(t *testing.T) {
	w := newWorld(t)
	NewGarbageCollector(w.c, Options{})
	w.create("a")
	w.create("b", owner("a", true))
	w.create("c", owner("a", true))
	w.delete("a", metav1.DeletePropagationOrphan)
	w.want("b c")
}

// A collector that is slow, lagging or held is late, with the same result.
func TestSlowCollector(t *testing.T) {
	for name, o := range map[string]Options{"delay": {Delay: 10 * time.Second}, "lag": {Lag: 10 * time.Second}} {
		w := newWorld(t)
		NewGarbageCollector(w.c, o)
		w.create("a")
		w.create("b", owner("a", true))
		w.advance(time.Minute)
		w.delete("a", metav1.DeletePropagationBackground)
		w.advance(9 * time.Second)
		if got := w.left(); got != "b<a" {
			t.Errorf("%s: after 9 s left are %q", name, got)
		}
		w.advance(time.Minute)
		if got := w.left(); got != "" {
			t.Errorf("%s: finally left are %q", name, got)
		}
	}
}

// Garbage from before the collector's start is collected.
func TestCollectorStartsLate(t *testing.T) {
	w := newWorld(t)
	w.create("a", owner("gone", false))
	NewGarbageCollector(w.c, Options{})
	w.settle()
	w.want("")
}

func (w *world) namespace(name string, terminating bool, finalizers ...corev1.FinalizerName) {
	w.t.Helper()
	w.do(func() error {
		n := &corev1.Namespace{}
		n.Name, n.Spec.Finalizers = name, finalizers
		_, err := w.c.Create(w.namespaces, n)
		return err
	})
	if terminating {
		w.do(func() error {
			return w.w.delete(object{res: w.namespaces, name: name}, metav1.DeletePropagationBackground)
		})
	}
}

func TestNamespaceDeletion(t *testing.T) {
	w := newWorld(t)
	NewNamespaceController(w.c, Options{})
	w.namespace("x", false, corev1.FinalizerKubernetes)
	w.create("a")
	w.create("b")
	w.do(func() error {
		return w.w.change(w.object("b"), func(m metav1.Object) { m.SetFinalizers([]string{"probe.dev/hold"}) })
	})
	if obj, _ := w.c.Store().Get(w.namespaces, "", "x"); obj == nil || obj.(*corev1.Namespace).DeletionTimestamp != nil {
		t.Errorf("the namespace should not be terminating yet: %+v", obj)
	}
	w.do(func() error {
		return w.w.delete(object{res: w.namespaces, name: "x"}, metav1.DeletePropagationBackground)
	})
	w.want("b-")
	if obj, _ := w.c.Store().Get(w.namespaces, "", "x"); obj == nil || obj.(*corev1.Namespace).DeletionTimestamp == nil {
		t.Errorf("the namespace is not being deleted: %+v", obj)
	}
	w.do(func() error { return w.w.change(w.object("b"), func(m metav1.Object) { m.SetFinalizers(nil) }) })
	w.want("")
	if obj, _ := w.c.Store().Get(w.namespaces, "", "x"); obj != nil {
		t.Errorf("the namespace still exists: %+v", obj)
	}
}

// A namespace that is deleted at once takes its content along; a finalizer of another party blocks its deletion.
func TestNamespaceFinalizers(t *testing.T) {
	w := newWorld(t)
	NewNamespaceController(w.c, Options{})
	w.namespace("x", false)
	w.create("a")
	w.do(func() error {
		return w.w.delete(object{res: w.namespaces, name: "x"}, metav1.DeletePropagationBackground)
	})
	w.want("")
	w.namespace("y", true, corev1.FinalizerKubernetes, "probe.dev/mine")
	obj, _ := w.c.Store().Get(w.namespaces, "", "y")
	if obj == nil || fmt.Sprint(obj.(*corev1.Namespace).Spec.Finalizers) != "[probe.dev/mine]" {
		t.Errorf("the namespace is %+v", obj)
	}
}

// Pods live on for their grace period; the namespace waits, and retries.
func TestNamespaceWaitsForGrace(t *testing.T) {
	w := newWorld(t)
	NewNamespaceController(w.c, Options{GracePeriod: func(id store.ResourceID, _ runtime.Object) int64 {
		if id == w.pods {
			return 30
		}
		return 0
	}})
	w.namespace("x", false, corev1.FinalizerKubernetes)
	p := &corev1.Pod{}
	p.Namespace, p.Name = "x", "p"
	w.do(func() error { _, err := w.c.Create(w.pods, p); return err })
	w.do(func() error {
		return w.w.delete(object{res: w.namespaces, name: "x"}, metav1.DeletePropagationBackground)
	})
	obj, _ := w.c.Store().Get(w.pods, "x", "p")
	if obj == nil || obj.(*corev1.Pod).DeletionTimestamp == nil || *obj.(*corev1.Pod).DeletionGracePeriodSeconds != 30 {
		t.Fatalf("the pod is %+v", obj)
	}
	w.do(func() error { _, err := w.c.Delete(w.pods, "x", "p", nil); return err }) // like a kubelet
	if obj, _ := w.c.Store().Get(w.namespaces, "", "x"); obj != nil {
		t.Errorf("the namespace still exists: %+v", obj)
	}
}

// However owners and dependents are created and deleted, eventually no object is left whose owners are all gone, and no object
// was deleted that still had an owner.
func TestCollectorModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		g := NewGarbageCollector(w.c, Options{Lag: rapid.SampledFrom([]time.Duration{0, time.Second}).Draw(rt, "lag")})
		incarnation := map[string]int{}
		uid := func(name string) types.UID { return types.UID(fmt.Sprint(name, "-", incarnation[name])) }
		name := rapid.SampledFrom([]string{"a", "b", "c", "d", "e"})
		asked := map[types.UID]bool{} // objects deleted on request
		rt.Repeat(map[string]func(*rapid.T){
			"create": func(rt *rapid.T) {
				n := name.Draw(rt, "name")
				if obj, _ := w.c.Store().Get(w.maps, "x", n); obj != nil {
					return
				}
				incarnation[n]++
				m := &corev1.ConfigMap{}
				m.Namespace, m.Name, m.UID = "x", n, uid(n)
				for _, o := range rapid.SliceOfNDistinct(name, 0, 2, rapid.ID[string]).Draw(rt, "owners") {
					if obj, _ := w.c.Store().Get(w.maps, "x", o); obj != nil && o < n {
						ref := owner(o, rapid.Bool().Draw(rt, "block"))
						ref.UID = uid(o)
						m.OwnerReferences = append(m.OwnerReferences, ref)
					}
				}
				w.do(func() error { _, err := w.c.Create(w.maps, m); return err })
			},
			"delete": func(rt *rapid.T) {
				n := name.Draw(rt, "name")
				policy := rapid.SampledFrom([]metav1.DeletionPropagation{
					metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan,
				}).Draw(rt, "policy")
				asked[uid(n)] = true
				w.delete(n, policy)
			},
			"hold":    func(*rapid.T) { g.Hold() },
			"release": func(*rapid.T) { w.do(func() error { g.Release(); return nil }) },
			"advance": func(*rapid.T) { w.advance(time.Second) },
		})
		for range 100 {
			g.Release()
		}
		w.advance(time.Minute)
		live := map[types.UID]bool{}
		var all []*corev1.ConfigMap
		if err := w.c.Store().Walk(w.maps, w.c.Store().Revision(), "", func(_ string, obj runtime.Object) bool {
			all = append(all, obj.(*corev1.ConfigMap))
			live[all[len(all)-1].UID] = true
			return true
		}); err != nil {
			rt.Fatal(err)
		}
		for _, m := range all {
			if m.DeletionTimestamp != nil {
				rt.Errorf("%s is stuck in deletion: %v", m.UID, m.Finalizers)
			}
			for _, ref := range m.OwnerReferences {
				if !live[ref.UID] {
					rt.Errorf("%s still has the owner %s, which is gone", m.UID, ref.UID)
				}
			}
			if asked[m.UID] {
				rt.Errorf("%s exists, though its deletion was requested", m.UID)
			}
		}
		// Every object deleted without a request had lost an owner to a deletion.
		if err := w.c.Store().Changes(w.maps, w.c.Store().Compacted(), func(c store.Committed) bool {
			if m := c.Object.(*corev1.ConfigMap); c.Deleted && !asked[m.UID] {
				for _, ref := range m.OwnerReferences {
					if live[ref.UID] {
						rt.Errorf("%s was deleted, though its owner %s exists", m.UID, ref.UID)
					}
				}
				if len(m.OwnerReferences) == 0 {
					rt.Errorf("%s was deleted, though it never had an owner", m.UID)
				}
			}
			return true
		}); err != nil {
			rt.Fatal(err)
		}
	})
}

// fullJournal refuses every write while it is full.
type fullJournal struct{ full bool }

func (j *fullJournal) Write(store.ResourceID, string, int64, runtime.Object) error {
	if j.full {
		return &store.RefusedError{Full: true, Err: errors.New("no space left")}
	}
	return nil
}

func (*fullJournal) Restore(int64, int64) error { return nil }

// Controllers whose writes the Store refuses go on once it takes them.
func TestControllersOutliveAFullDisk(t *testing.T) {
	w := newWorld(t)
	NewGarbageCollector(w.c, Options{})
	NewNamespaceController(w.c, Options{})
	journal := &fullJournal{}
	w.c.Store().SetJournal(journal)
	w.create("a")
	w.create("b", owner("a", true))
	w.delete("a", metav1.DeletePropagationOrphan)
	w.want("b")
	w.create("c", owner("gone", false))
	w.want("b")
	w.namespace("x", false, corev1.FinalizerKubernetes)
	// The last write that fits makes work for both.
	w.next = func() {
		m := &corev1.ConfigMap{}
		m.Namespace, m.Name, m.OwnerReferences = "y", "d", []metav1.OwnerReference{owner("gone", false)}
		if _, err := w.c.Create(w.maps, m); err != nil {
			t.Error(err)
		}
		if err := w.w.delete(object{res: w.namespaces, name: "x"}, metav1.DeletePropagationBackground); err != nil {
			t.Error(err)
		}
		journal.full = true
	}
	w.k.Offer(w.id, kindLine, 0)
	w.k.Step()
	w.advance(10 * time.Second)
	if err := w.k.Err(); err != nil {
		t.Fatal(err)
	}
	w.want("b d<gone")
	journal.full = false
	w.advance(10 * time.Second)
	w.want("")
	if obj, _ := w.c.Store().Get(w.namespaces, "", "x"); obj != nil {
		t.Errorf("the namespace still exists: %+v", obj)
	}
}
