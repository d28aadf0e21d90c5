package persistence

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/sim"
)

// memory is a KV in memory.
type memory struct {
	content replay
	fail    error
	syncs   int
}

func newMemory() *memory { return &memory{content: replay{pairs: map[string]Change{}}} }

func (m *memory) Write(c Change) error {
	if m.fail != nil {
		return &store.RefusedError{Err: m.fail}
	}
	return m.content.take(c)
}

func (m *memory) Sync() error { m.syncs++; return m.fail }

func (m *memory) Rewrite(content func(func(Change) error) error) error {
	if m.fail != nil {
		return &store.RefusedError{Err: m.fail}
	}
	m.content = newMemory().content
	return content(m.content.take)
}

func (*memory) WantsRewrite() bool { return false }
func (m *memory) Check() error     { return m.fail }
func (*memory) Close() error       { return nil }

// with returns a copy with one more pair.
func (m *memory) with(rev int64, key, value string) *memory {
	more := newMemory()
	more.content.revision, more.content.pairs = m.content.revision, maps.Clone(m.content.pairs)
	more.content.pairs[key] = Change{Revision: rev, Key: []byte(key), Value: []byte(value)}
	return more
}

// world is a cluster in which each call of do is a step.
type world struct {
	t             testing.TB
	k             *sim.Kernel
	c             *fakeapiserver.Cluster
	maps, widgets store.ResourceID
	id            sim.ActorID
	next          func() error
	err           error
}

var kindLine = sim.RegisterKind("line", sim.ClassScript)

func (*world) Name() string       { return "script" }
func (w *world) Apply(sim.Choice) { w.err = w.next() }

func newWorld(t testing.TB, without ...string) *world {
	t.Helper()
	k := sim.NewKernel(sim.Options{Seed: 1, Strategy: sim.NewFIFO()})
	w := &world{t: t, k: k, c: fakeapiserver.NewCluster(k, fakeapiserver.ClusterOptions{})}
	w.id = k.Register(w)
	var err error
	w.maps, err = w.c.AddResource(store.Resource{
		Version: "v1", Plural: "configmaps", Kind: "ConfigMap", Namespaced: true,
		New: func() runtime.Object { return &corev1.ConfigMap{} },
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(without, "widgets") {
		w.widgets, err = w.c.AddResource(store.Resource{Group: "example.dev", Version: "v1", Plural: "widgets", Kind: "Widget"})
		if err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func (w *world) do(f func() error) error {
	w.next = f
	w.k.Offer(w.id, kindLine, 0)
	w.k.Step()
	return w.err
}

func (w *world) must(f func() error) {
	w.t.Helper()
	if err := w.do(f); err != nil {
		w.t.Fatal(err)
	}
	if err := w.k.Err(); err != nil {
		w.t.Fatal(err)
	}
}

func configMap(name, value string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: name}, Data: map[string]string{"k": value}}
}

func widget(name string, size int64) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.dev/v1", "kind": "Widget", "metadata": map[string]any{"name": name}, "spec": map[string]any{"size": size, "share": 0.5},
	}}
}

// load loads kv into a new world.
func (w *world) load(kv *memory) error {
	w.t.Helper()
	state, err := kv.content.state()
	if err != nil {
		return err
	}
	return w.do(func() error { return Load(w.c, state) })
}

// state prints all objects.
func state(t testing.TB, c *fakeapiserver.Cluster) string {
	t.Helper()
	var lines []string
	s := c.Store()
	for id := store.ResourceID(0); s.Resource(id) != nil; id++ {
		if err := s.Walk(id, s.Revision(), "", func(key string, obj runtime.Object) bool {
			data, err := json.Marshal(obj)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, fmt.Sprintf("%s %T %s", key, obj, data))
			return true
		}); err != nil {
			t.Fatal(err)
		}
	}
	return strings.Join(lines, "\n")
}

func TestSurvivesRestart(t *testing.T) {
	kv := newMemory()
	a := newWorld(t)
	recorder := Record(a.c, kv)
	a.must(func() error { _, err := a.c.Create(a.maps, configMap("a", "1")); return err })
	a.must(func() error { _, err := a.c.Create(a.widgets, widget("w", 3)); return err })
	a.must(func() error { _, err := a.c.Create(a.maps, configMap("b", "1")); return err })
	a.must(func() error { _, err := a.c.Update(a.maps, configMap("a", "2")); return err })
	a.must(func() error { _, err := a.c.Delete(a.maps, "x", "b", nil); return err }) // 1005
	a.must(recorder.Sync)

	b := newWorld(t)
	if err := b.load(kv); err != nil {
		t.Fatal(err)
	}
	if got, want := state(t, b.c), state(t, a.c); got != want {
		t.Errorf("loaded\n%s\nwant\n%s", got, want)
	}
	if got := b.c.Store().Revision(); got != 1005 || b.c.Store().Compacted() != 1005 {
		t.Errorf("at revision %d, compacted at %d", got, b.c.Store().Compacted())
	}
	// The session continues with the same file.
	recorder = Record(b.c, kv)
	b.must(func() error { _, err := b.c.Create(b.maps, configMap("c", "1")); return err })
	b.must(recorder.Sync)
	if obj, rev := b.c.Store().Get(b.maps, "x", "c"); obj == nil || rev != 1006 {
		t.Errorf("the next write has revision %d", rev)
	}
	c := newWorld(t)
	if err := c.load(kv); err != nil {
		t.Fatal(err)
	}
	if got, want := state(t, c.c), state(t, b.c); got != want {
		t.Errorf("loaded again\n%s\nwant\n%s", got, want)
	}
}

// Everything up to a Sync costs one; without changes there is none.
func TestSyncIsShared(t *testing.T) {
	kv := newMemory()
	w := newWorld(t)
	recorder := Record(w.c, kv)
	w.must(func() error {
		for i := range 10 {
			if _, err := w.c.Create(w.maps, configMap(fmt.Sprint(i), "")); err != nil {
				return err
			}
		}
		return nil
	})
	w.must(recorder.Sync)
	w.must(recorder.Sync)
	if kv.syncs != 1 || len(kv.content.pairs) != 10 {
		t.Errorf("%d syncs, %d pairs", kv.syncs, len(kv.content.pairs))
	}
}

// A sync that fails ends the run: what was written may or may not be there.
func TestSyncFails(t *testing.T) {
	kv := newMemory()
	w := newWorld(t)
	recorder := Record(w.c, kv)
	w.must(func() error { _, err := w.c.Create(w.maps, configMap("a", "")); return err })
	kv.fail = errors.New("input/output error")
	for range 2 {
		if err := recorder.Sync(); err == nil || !strings.Contains(err.Error(), "input/output error") {
			t.Errorf("Sync: %v", err)
		}
	}
	if err := w.k.Err(); err == nil || !strings.Contains(err.Error(), "input/output error") {
		t.Errorf("the run did not end with the error: %v", err)
	}
}

// After a restore of the Store the file has the restored state.
func TestRestoreIsSaved(t *testing.T) {
	kv := newMemory()
	a := newWorld(t)
	recorder := Record(a.c, kv)
	a.must(func() error { _, err := a.c.Create(a.maps, configMap("a", "1")); return err })
	a.must(func() error { _, err := a.c.Create(a.maps, configMap("b", "1")); return err })
	a.must(func() error { _, err := a.c.Update(a.maps, configMap("a", "2")); return err })
	a.must(recorder.Sync)
	a.must(func() error { return a.c.Restore(1001, 0) })
	a.must(recorder.Sync)
	b := newWorld(t)
	if err := b.load(kv); err != nil {
		t.Fatal(err)
	}
	if got, want := state(t, b.c), state(t, a.c); got != want || b.c.Store().Revision() != 1001 {
		t.Errorf("loaded at revision %d\n%s\nwant\n%s", b.c.Store().Revision(), got, want)
	}
}

func TestLoadFails(t *testing.T) {
	good := newMemory()
	a := newWorld(t)
	recorder := Record(a.c, good)
	a.must(func() error { _, err := a.c.Create(a.maps, configMap("a", "1")); return err })
	a.must(func() error { _, err := a.c.Create(a.widgets, widget("w", 1)); return err })
	a.must(recorder.Sync)
	for want, kv := range map[string]*memory{
		"unknown key \"colour\"": good.with(7, "colour", "blue"),
		"configmaps x/a":         good.with(7, "object/configmaps/x/a", "{"),
		"was written at 7":       good.with(7, "object/configmaps/x/a", `{"revision":5,"version":"v1","object":{}}`),
		"is stored in version v0, want the storage version v1": good.with(5, "object/configmaps/x/a", `{"revision":5,"version":"v0","object":{}}`),
		"load into an empty store":                             good.with(5, "object/configmaps/x/a", `{"revision":5,"version":"v1","object":{"metadata":{"name":"a","namespace":"x","resourceVersion":"5"}}}`),
		"has no name":                                          good.with(1001, "object/configmaps/x/a", `{"revision":1001,"version":"v1","object":{"metadata":{"namespace":"x","resourceVersion":"1001"}}}`),
		"its resourceVersion differs":                          good.with(1001, "object/configmaps/x/a", `{"revision":1001,"version":"v1","object":{"metadata":{"name":"a","namespace":"x","resourceVersion":"7"}}}`),
		"has revision 1002":                                    good.with(1002, "object/configmaps/x/a", `{"revision":1002,"version":"v1","object":{}}`),
		"needs a version":                                      good.with(1003, "object/gadgets.x.dev/g", `{"revision":1003}`),
	} {
		w := newWorld(t)
		if err := w.load(kv); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
	w := newWorld(t)
	if err := w.load(newMemory()); err != nil || w.c.Store().Revision() != 1000 {
		t.Errorf("an empty file: %v, at revision %d", err, w.c.Store().Revision())
	}
}

// Objects of a resource that is no longer served survive.
func TestUnservedObjectsSurvive(t *testing.T) {
	kv := newMemory()
	a := newWorld(t)
	recorder := Record(a.c, kv)
	a.must(func() error { _, err := a.c.Create(a.widgets, widget("w", 3)); return err })
	a.must(recorder.Sync)
	b := newWorld(t, "widgets")
	if err := b.load(kv); err != nil {
		t.Fatal(err)
	}
	if got, want := state(t, b.c), state(t, a.c); got != want {
		t.Errorf("loaded\n%s\nwant\n%s", got, want)
	}
}

// After any writes, compactions and restores the file has the Store's state.
func TestFileHasTheState(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		kv := newMemory()
		w := newWorld(t)
		recorder := Record(w.c, kv)
		name := rapid.SampledFrom([]string{"a", "b", "c"})
		exists := func(n string) bool { obj, _ := w.c.Store().Get(w.maps, "x", n); return obj != nil }
		rt.Repeat(map[string]func(*rapid.T){
			"write": func(rt *rapid.T) {
				n, value := name.Draw(rt, "name"), rapid.String().Draw(rt, "value")
				w.must(func() error {
					if exists(n) {
						_, err := w.c.Update(w.maps, configMap(n, value))
						return err
					}
					_, err := w.c.Create(w.maps, configMap(n, value))
					return err
				})
			},
			"delete": func(rt *rapid.T) {
				if n := name.Draw(rt, "name"); exists(n) {
					w.must(func() error { _, err := w.c.Delete(w.maps, "x", n, nil); return err })
				}
			},
			"restore": func(rt *rapid.T) {
				s := w.c.Store()
				rev, bump := rapid.Int64Range(s.Compacted(), s.Revision()).Draw(rt, "revision"), rapid.SampledFrom([]int64{0, 50}).Draw(rt, "bump")
				w.must(func() error { return w.c.Restore(rev, bump) })
			},
			"": func(rt *rapid.T) {
				if !rapid.Bool().Draw(rt, "sync") {
					return
				}
				w.must(recorder.Sync)
				again := newWorld(t)
				if err := again.load(kv); err != nil {
					rt.Fatal(err)
				}
				if got, want := state(t, again.c), state(t, w.c); got != want {
					rt.Fatalf("the file has\n%s\nthe store\n%s", got, want)
				}
				if kv.content.revision > 0 && again.c.Store().Revision() != w.c.Store().Revision() {
					rt.Fatalf("the file is at %d, the store at %d", again.c.Store().Revision(), w.c.Store().Revision())
				}
			},
		})
	})
}
