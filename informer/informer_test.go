package informer

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"pgregory.net/rapid"
)

var noResource = schema.GroupResource{Resource: "pods"}

// fakeServer holds the whole history of one resource; it serves lists at its newest revision and watches from any revision
// since the last compaction.
type fakeServer struct {
	rev       int
	log       []watch.Event // event n has revision n+1
	compacted int
	state     map[string]*v1.Pod
}

func newFakeServer() *fakeServer { return &fakeServer{state: map[string]*v1.Pod{}} }

func (s *fakeServer) write(key string, remove bool) {
	_, exists := s.state[key]
	if remove && !exists {
		return
	}
	s.rev++
	p := pod(key, s.rev)
	t := watch.Added
	switch {
	case remove:
		t = watch.Deleted
		delete(s.state, key)
	case exists:
		t = watch.Modified
		s.state[key] = p
	default:
		s.state[key] = p
	}
	s.log = append(s.log, watch.Event{Type: t, Object: p})
}

func (s *fakeServer) list() []runtime.Object {
	var out []runtime.Object
	for _, p := range s.state {
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b runtime.Object) int { return cmp.Compare(a.(*v1.Pod).Name, b.(*v1.Pod).Name) })
	return out
}

// world steps an Informer against a fakeServer, one inner step per call.
type world struct {
	t       *rapid.T
	s       *fakeServer
	inf     *Informer
	ls      []*Listener
	mirrors []map[string]string // the state that each handler's calls add up to
	now     time.Time
	at      int           // the open stream's revision
	initial []watch.Event // synthetic events that the stream begins with
	paging  []runtime.Object
	pageRV  int
}

// mirror is a handler that rebuilds the state and fails the test on a call that is impossible after the previous ones.
type mirror struct {
	t    *rapid.T
	have map[string]string
}

func (m mirror) OnAdd(obj any, _ bool) {
	p := obj.(*v1.Pod)
	if rv, had := m.have[p.Name]; had {
		m.t.Fatalf("add of %s, which already exists at %s", show(p), rv)
	}
	m.have[p.Name] = p.ResourceVersion
}

func (m mirror) OnUpdate(o, n any) {
	was, is := o.(*v1.Pod), n.(*v1.Pod)
	if m.have[is.Name] != was.ResourceVersion {
		m.t.Fatalf("update %s→%s of an object that was at %q", show(was), show(is), m.have[is.Name])
	}
	m.have[is.Name] = is.ResourceVersion
}

func (m mirror) OnDelete(obj any) {
	key, _ := MetaNamespaceKey(obj)
	if _, had := m.have[key]; !had {
		m.t.Fatalf("delete of %s, which does not exist", show(obj))
	}
	delete(m.have, key)
}

func (w *world) addHandler(d *time.Duration) {
	m := mirror{w.t, map[string]string{}}
	l, err := w.inf.AddHandler(m, ListenerOptions{ResyncPeriod: d}, w.now)
	if err != nil {
		w.t.Fatal(err)
	}
	w.ls = append(w.ls, l)
	w.mirrors = append(w.mirrors, m.have)
}

// step pops an entry and processes it, or processes one popped before.
func (w *world) step() (stepped bool) {
	var err error
	if w.inf.Controller.Processing() {
		stepped, err = true, w.inf.Controller.ProcessPopped()
	} else {
		stepped, err = w.inf.Controller.Step()
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return stepped
}

// answer carries out the Reflector's want, wholly or in part, unless the queue is locked.
func (w *world) answer(fail bool) {
	r := w.inf.Reflector
	if w.inf.Queue.Locked() {
		return
	}
	want := r.Want()
	switch {
	case want.Op == OpSleep:
		w.pass(want.Until.Sub(w.now))
	case want.Op == OpList && fail:
		r.OnListError(expired)
	case want.Op == OpList:
		w.page(want.Options)
	case r.StreamOpen():
		w.stream(fail)
	case fail:
		r.OnWatchOpenError(tooMany)
	default:
		w.at, _ = strconv.Atoi(want.Options.ResourceVersion)
		w.initial = nil
		if want.Options.SendInitialEvents != nil {
			w.sendInitial()
		}
		r.OnWatchOpened()
	}
}

func (w *world) sendInitial() {
	w.at = w.s.rev
	for _, obj := range w.s.list() {
		w.initial = append(w.initial, watch.Event{Type: watch.Added, Object: obj})
	}
	w.initial = append(w.initial, watch.Event{Type: watch.Bookmark, Object: endBookmark(w.s.rev)})
}

func (w *world) page(o metav1.ListOptions) {
	if o.Continue == "" {
		w.paging, w.pageRV = w.s.list(), w.s.rev
	}
	n := len(w.paging)
	if o.Limit > 0 {
		n = min(n, int(o.Limit))
	}
	items, cont := w.paging[:n], ""
	if w.paging = w.paging[n:]; len(w.paging) > 0 {
		cont = "more"
	}
	w.inf.Reflector.OnPage(items, fmt.Sprint(w.pageRV), cont, nil)
}

func (w *world) stream(fail bool) {
	r := w.inf.Reflector
	switch {
	case fail:
		r.OnWatchClosed(nil)
	case len(w.initial) > 0:
		r.OnEvent(w.initial[0])
		w.initial = w.initial[1:]
	case w.at < w.s.compacted:
		r.OnEvent(watch.Event{Type: watch.Error, Object: &expired.ErrStatus})
	case w.at < len(w.s.log):
		r.OnEvent(w.s.log[w.at])
		w.at++
	}
}

func (w *world) pass(d time.Duration) {
	if w.inf.Queue.Locked() {
		return // a resync would write
	}
	w.now = w.now.Add(d)
	w.inf.Reflector.OnTime(w.now)
}

func (w *world) settle() {
	for range 10_000 {
		w.answer(false)
		stepped := w.step()
		for _, l := range w.ls {
			stepped = l.Deliver() || stepped
		}
		if !stepped && w.inf.Reflector.Watching() && w.at == len(w.s.log) && w.at >= w.s.compacted {
			return
		}
	}
	w.t.Fatal("the stack does not settle")
}

// TestInformerConvergesInEveryOrderOfSteps: whatever the order of the inner steps and the faults between them, the settled
// stack and the state of each handler equal the server's, and no handler receives an impossible call.
func TestInformerConvergesInEveryOrderOfSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { runWorld(t, nil, false) })
}

func runWorld(t *rapid.T, newQueue func(*Indexer) Queue, watchList bool) {
	w := &world{t: t, s: newFakeServer(), now: t0}
	w.inf = NewInformer(InformerOptions{
		Reflector: ReflectorOptions{
			ExpectedType:      &v1.Pod{},
			WatchListPageSize: int64(rapid.IntRange(0, 2).Draw(t, "pageSize")),
			Random:            func() float64 { return 0.25 },
			WatchList:         watchList,
		},
		NewQueue:     newQueue,
		ResyncPeriod: rapid.SampledFrom([]time.Duration{0, 2 * time.Second}).Draw(t, "resync"),
	})
	w.addHandler(nil)
	w.addHandler(period(0))
	w.inf.Start(w.now)
	keys := rapid.SampledFrom([]string{"a", "b", "c", "d"})
	t.Repeat(map[string]func(*rapid.T){
		"write":   func(t *rapid.T) { w.s.write(keys.Draw(t, "key"), false) },
		"remove":  func(t *rapid.T) { w.s.write(keys.Draw(t, "key"), true) },
		"answer":  func(*rapid.T) { w.answer(false) },
		"answer2": func(*rapid.T) { w.answer(false) },
		"fail":    func(*rapid.T) { w.answer(true) },
		"compact": func(*rapid.T) { w.s.compacted = w.s.rev },
		"step":    func(t *rapid.T) { w.step() },
		"pop":     func(*rapid.T) { w.inf.Controller.Pop() },
		"deliver": func(t *rapid.T) { w.ls[rapid.IntRange(0, len(w.ls)-1).Draw(t, "listener")].Deliver() },
		"time":    func(t *rapid.T) { w.pass(time.Duration(rapid.IntRange(1, 3000).Draw(t, "ms")) * time.Millisecond) },
		"late": func(*rapid.T) {
			if len(w.ls) < 4 {
				w.addHandler(nil)
			}
		},
	})
	w.settle()
	want := map[string]string{}
	for key, p := range w.s.state {
		want[key] = p.ResourceVersion
	}
	have := map[string]string{}
	for _, obj := range w.inf.Indexer.List() {
		have[obj.(*v1.Pod).Name] = obj.(*v1.Pod).ResourceVersion
	}
	if fmt.Sprint(have) != fmt.Sprint(want) {
		t.Fatalf("the Indexer has %v, the server %v", have, want)
	}
	for i, m := range w.mirrors {
		if fmt.Sprint(m) != fmt.Sprint(want) || !w.ls[i].HasSynced() {
			t.Fatalf("handler %d has %v, synced %v; the server has %v", i, m, w.ls[i].HasSynced(), want)
		}
	}
}
