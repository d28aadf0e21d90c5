package fakeapiserver

import (
	"fmt"
	"testing"
	"time"

	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/sim"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// world is a cluster with pods, nodes and a client, driven by fifo.
type world struct {
	t      testing.TB
	k      *sim.Kernel
	c      *Cluster
	pods   store.ResourceID
	nodes  store.ResourceID
	cl     *Client
	script *script
}

func podResource() store.Resource {
	return store.Resource{
		Version: "v1", Plural: "pods", Kind: "Pod", Namespaced: true,
		New: func() runtime.Object { return &corev1.Pod{} },
		Field: func(obj runtime.Object, field string) (string, bool) {
			if field != "spec.nodeName" {
				return "", false
			}
			return obj.(*corev1.Pod).Spec.NodeName, true
		},
	}
}

var kindScript = sim.RegisterKind("line", sim.ClassScript)

// script is the actor whose steps run the code of tests.
type script struct {
	k  *sim.Kernel
	id sim.ActorID
	do func()
}

func newScript(k *sim.Kernel) *script {
	s := &script{k: k}
	s.id = k.Register(s)
	return s
}

func (*script) Name() string       { return "script" }
func (s *script) Apply(sim.Choice) { s.do() }

// run calls do in a step of its own.
func (s *script) run(do func()) {
	s.do = do
	s.k.Offer(s.id, kindScript, 0)
	s.k.Step()
}

func newWorld(t testing.TB, o ClusterOptions) *world {
	t.Helper()
	k := sim.NewKernel(sim.Options{Seed: 1, Strategy: sim.NewFIFO()})
	w := &world{t: t, k: k, script: newScript(k), c: NewCluster(k, o)}
	var err error
	if w.pods, err = w.c.AddResource(podResource()); err != nil {
		t.Fatal(err)
	}
	w.nodes, err = w.c.AddResource(store.Resource{
		Version: "v1", Plural: "nodes", Kind: "Node",
		New: func() runtime.Object { return &corev1.Node{} },
	})
	if err != nil {
		t.Fatal(err)
	}
	w.cl = w.c.Connect("a", Sticky(0))
	return w
}

// do runs f in a step.
func (w *world) do(f func()) {
	w.t.Helper()
	w.script.run(f)
	if err := w.k.Err(); err != nil {
		w.t.Fatal(err)
	}
}

// must runs f in a step, and fails the test on an error.
func (w *world) must(f func() error) {
	w.t.Helper()
	w.do(func() {
		if err := f(); err != nil {
			w.t.Error(err)
		}
	})
}

// settle steps until the world is quiescent: only time could pass.
func (w *world) settle() {
	w.t.Helper()
	for i := 0; !w.k.Quiet(); i++ {
		if i > 1_000_000 {
			w.t.Fatal("the world does not settle")
		}
		if !w.k.Step() {
			break
		}
	}
	if err := w.k.Err(); err != nil {
		w.t.Fatal(err)
	}
}

// advance steps until d has passed.
func (w *world) advance(d time.Duration) {
	w.t.Helper()
	w.k.Clock().LimitTo(d)
	for i := 0; w.k.Step(); i++ {
		if i > 1_000_000 {
			w.t.Fatal("the world does not settle")
		}
	}
	if err := w.k.Err(); err != nil {
		w.t.Fatal(err)
	}
}

func pod(key string, edit ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{}
	p.Namespace, p.Name = splitKey(key)
	for _, e := range edit {
		e(p)
	}
	return p
}

func splitKey(key string) (namespace, name string) {
	for i := range key {
		if key[i] == '/' {
			return key[:i], key[i+1:]
		}
	}
	return "", key
}

func labelled(kv ...string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Labels = map[string]string{}
		for i := 0; i+1 < len(kv); i += 2 {
			p.Labels[kv[i]] = kv[i+1]
		}
	}
}

func onNode(name string) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Spec.NodeName = name } }

type kobject = runtime.Object

// create commits a pod and returns its revision.
func (w *world) create(key string, edit ...func(*corev1.Pod)) int64 {
	w.t.Helper()
	w.must(func() error { _, err := w.c.Create(w.pods, pod(key, edit...)); return err })
	return w.c.Store().Revision()
}

func (w *world) update(key string, edit ...func(*corev1.Pod)) int64 {
	w.t.Helper()
	w.must(func() error { _, err := w.c.Update(w.pods, pod(key, edit...)); return err })
	return w.c.Store().Revision()
}

func (w *world) delete(key string) int64 {
	w.t.Helper()
	ns, name := splitKey(key)
	w.must(func() error { _, err := w.c.Delete(w.pods, ns, name, nil); return err })
	return w.c.Store().Revision()
}

// list sends a list, settles, and returns the answer.
func (w *world) list(namespace string, o metav1.ListOptions) (*Page, error) {
	w.t.Helper()
	r := &receiver{}
	w.do(func() { w.cl.List(w.pods, namespace, o, r) })
	w.settle()
	if r.lists == 0 {
		w.advance(10 * time.Second)
	}
	if r.lists != 1 {
		w.t.Fatalf("a list was answered %d times", r.lists)
	}
	return r.page, r.err
}

// watch opens a watch and settles.
func (w *world) watch(o metav1.ListOptions) *receiver {
	w.t.Helper()
	r := &receiver{}
	w.do(func() { r.id = w.cl.Watch(w.pods, "", o, r) })
	w.settle()
	return r
}

// receiver records the calls that it gets.
type receiver struct {
	id        ReqID
	lists     int
	page      *Page
	err       error
	opened    bool
	openErr   error
	events    []Event
	closed    bool
	closeErr  error
	writes    int
	written   runtime.Object
	writeErr  error
	onEvent   func(Event)
	onOpening func()
}

func (r *receiver) OnList(_ ReqID, p *Page, err error) { r.lists++; r.page, r.err = p, err }
func (r *receiver) OnWatchOpened(ReqID) {
	r.opened = true
	if r.onOpening != nil {
		r.onOpening()
	}
}
func (r *receiver) OnWatchOpenError(_ ReqID, err error) { r.openErr = err }
func (r *receiver) OnEvent(_ ReqID, e Event) {
	r.events = append(r.events, e)
	if r.onEvent != nil {
		r.onEvent(e)
	}
}
func (r *receiver) OnWatchClosed(_ ReqID, err error) { r.closed, r.closeErr = true, err }
func (r *receiver) OnWrite(_ ReqID, obj runtime.Object, err error) {
	r.writes++
	r.written, r.writeErr = obj, err
}

// text prints the events as "TYPE key@rv".
func (r *receiver) text() []string {
	out := []string{}
	for _, e := range r.events {
		out = append(out, fmt.Sprintf("%s %s@%d", e.Type, e.Key, e.Rev))
	}
	return out
}

func wantEvents(t *testing.T, r *receiver, want ...string) {
	t.Helper()
	got := r.text()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("events are\n  %v\nwant\n  %v", got, want)
	}
}
