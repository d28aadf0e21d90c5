package fakeapiserver

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"pgregory.net/rapid"

	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/sim"
)

var (
	anyNamespace = rapid.SampledFrom([]string{"a", "a-1", "b"})
	anyName      = rapid.SampledFrom([]string{"x", "y", "z"})
)

// watchMachine opens watches and lists at any revision while pods are written, in any order of steps, and checks their results
// against the whole history.
type watchMachine struct {
	*world
	history []store.Committed
	watches []*modelWatch
	pages   []*modelPage
}

type modelWatch struct {
	receiver
	from      int64 // the revision it starts from, 0 for now
	namespace string
	selects   bool // only pods with in=1
}

type modelPage struct {
	receiver
	namespace string
	selects   bool
}

func newWatchMachine(t *rapid.T, tb testing.TB) *watchMachine {
	k := sim.NewKernel(sim.Options{Seed: 1, Strategy: sim.NewRandom(rapid.Uint64().Draw(t, "schedule"), nil)})
	m := &watchMachine{world: &world{t: tb, k: k, script: newScript(k)}}
	m.c = NewCluster(k, ClusterOptions{Replicas: 2, FirstRevision: 10})
	var err error
	if m.pods, err = m.c.AddResource(podResource()); err != nil {
		t.Fatal(err)
	}
	m.cl = m.c.Connect("a", ByChoice())
	k.Clock().Freeze()
	return m
}

// now runs f in a step of its own, as soon as the strategy picks it.
func (m *watchMachine) now(f func()) {
	done := false
	m.script.do = func() { f(); done = true }
	m.k.Offer(m.script.id, kindScript, 0)
	for !done && m.k.Step() {
	}
}

func (m *watchMachine) write(t *rapid.T) {
	ns, name := anyNamespace.Draw(t, "namespace"), anyName.Draw(t, "name")
	in, remove := rapid.SampledFrom([]string{"0", "1"}).Draw(t, "in"), rapid.IntRange(0, 3).Draw(t, "delete") == 0
	m.now(func() {
		var c store.Committed
		old, _ := m.c.Store().Get(m.pods, ns, name)
		obj, err := kobject(nil), error(nil)
		switch {
		case old == nil:
			obj, err = m.c.Create(m.pods, pod(ns+"/"+name, labelled("in", in)))
		case remove:
			obj, err = m.c.Delete(m.pods, ns, name, nil)
			c.Deleted = true
		default:
			obj, err = m.c.Update(m.pods, pod(ns+"/"+name, labelled("in", in)))
		}
		if err != nil {
			t.Fatal(err)
		}
		c.Key, c.Object, c.Old, c.Revision = ns+"/"+name, obj, old, mustRev(obj)
		m.history = append(m.history, c)
	})
}

func (m *watchMachine) watch(t *rapid.T) {
	w := &modelWatch{selects: rapid.Bool().Draw(t, "selects"), namespace: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "in namespace")}
	o := metav1.ListOptions{}
	if w.selects {
		o.LabelSelector = "in=1"
	}
	if back := rapid.Int64Range(-3, 8).Draw(t, "back"); back < 8 {
		w.from = max(9, m.c.Store().Revision()-back)
		o.ResourceVersion = strconv.FormatInt(w.from, 10)
	}
	m.watches = append(m.watches, w)
	m.now(func() { w.id = m.cl.Watch(m.pods, w.namespace, o, w) })
}

func (m *watchMachine) list(t *rapid.T) {
	p := &modelPage{selects: rapid.Bool().Draw(t, "selects"), namespace: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "in namespace")}
	o := metav1.ListOptions{ResourceVersion: "0"}
	if p.selects {
		o.LabelSelector = "in=1"
	}
	if back := rapid.Int64Range(0, 8).Draw(t, "back"); back < 8 {
		o.ResourceVersion = strconv.FormatInt(max(9, m.c.Store().Revision()-back), 10)
		o.ResourceVersionMatch = rapid.SampledFrom([]metav1.ResourceVersionMatch{"", metav1.ResourceVersionMatchExact}).Draw(t, "match")
	}
	m.pages = append(m.pages, p)
	m.now(func() { m.cl.List(m.pods, p.namespace, o, p) })
}

func (m *watchMachine) steps(t *rapid.T) {
	for range rapid.IntRange(1, 12).Draw(t, "steps") {
		if m.k.Quiet() {
			return
		}
		m.k.Step()
	}
}

func matches(obj kobject, namespace string, selects bool) bool {
	p := obj.(*corev1.Pod)
	return (namespace == "" || p.Namespace == namespace) && (!selects || p.Labels["in"] == "1")
}

// stateAt returns the list of a revision.
func (m *watchMachine) stateAt(rev int64, namespace string, selects bool) []string {
	last := map[string]store.Committed{}
	for _, c := range m.history {
		if c.Revision <= rev {
			last[c.Key] = c
		}
	}
	var keys []string
	for key, c := range last {
		if !c.Deleted && matches(c.Object, namespace, selects) {
			keys = append(keys, fmt.Sprintf("%s@%d", key, c.Revision))
		}
	}
	slices.Sort(keys)
	return keys
}

// since returns the events of a watch from a revision.
func (m *watchMachine) since(rev int64, namespace string, selects bool) []string {
	var events []string
	for _, c := range m.history {
		if c.Revision <= rev {
			continue
		}
		was := c.Old != nil && matches(c.Old, namespace, selects)
		is := !c.Deleted && matches(c.Object, namespace, selects)
		kind := ""
		switch {
		case was && is:
			kind = "MODIFIED"
		case is:
			kind = "ADDED"
		case was:
			kind = "DELETED"
		default:
			continue
		}
		events = append(events, fmt.Sprintf("%s %s@%d", kind, c.Key, c.Revision))
	}
	return events
}

// check compares the results so far: each watch has a prefix of its expected events.
func (m *watchMachine) check(t *rapid.T) {
	for _, w := range m.watches {
		m.checkWatch(t, w, false)
	}
	for _, p := range m.pages {
		if p.lists == 0 {
			continue
		}
		if p.err != nil {
			t.Fatal(p.err)
		}
		got := []string{}
		for i, key := range p.page.Keys {
			got = append(got, fmt.Sprintf("%s@%d", key, mustRev(p.page.Items[i])))
		}
		slices.Sort(got)
		if want := m.stateAt(p.page.Revision, p.namespace, p.selects); !slices.Equal(got, want) {
			t.Fatalf("a list at %d has\n %v, want\n %v", p.page.Revision, got, want)
		}
	}
}

func (m *watchMachine) checkWatch(t *rapid.T, w *modelWatch, whole bool) {
	got := w.text()
	want := m.since(w.from, w.namespace, w.selects)
	if w.from == 0 {
		want = m.fromState(t, w, got)
	}
	if len(got) > len(want) || !slices.Equal(got, want[:len(got)]) || whole && len(got) != len(want) {
		t.Fatalf("a watch from %d of %q, selecting %v, has\n %v, want\n %v", w.from, w.namespace, w.selects, got, want)
	}
}

// fromState returns the expected events of a watch without a revision, given those so far: the state at some revision in the
// order of keys, and then all later events.
func (m *watchMachine) fromState(t *rapid.T, w *modelWatch, got []string) []string {
	var closest []string
	for rev := int64(9); rev <= m.c.Store().Revision(); rev++ {
		want := []string{}
		for _, line := range m.stateAt(rev, w.namespace, w.selects) {
			want = append(want, "ADDED "+line)
		}
		want = append(want, m.since(rev, w.namespace, w.selects)...)
		if len(got) <= len(want) && slices.Equal(got, want[:len(got)]) {
			closest = want
			if len(got) == len(want) {
				return want
			}
		}
	}
	return closest
}

// Watches are reliable, ordered, unique and filtered, and lists show one revision, in whatever order steps are taken.
func TestWatchModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := newWatchMachine(rt, t)
		rt.Repeat(map[string]func(*rapid.T){
			"write": m.write, "write again": m.write, "watch": m.watch, "list": m.list, "steps": m.steps, "": m.check,
		})
		for !m.k.Quiet() && m.k.Step() {
		}
		if err := m.k.Err(); err != nil {
			rt.Fatal(err)
		}
		for _, w := range m.watches {
			if !w.opened || w.closed {
				rt.Fatalf("a watch is open %v, closed %v", w.opened, w.closed)
			}
			for _, e := range w.events {
				if e.Type == watch.Error {
					rt.Fatalf("a watch got %v", e.Object)
				}
			}
			m.checkWatch(rt, w, true)
		}
		for _, p := range m.pages {
			if p.lists != 1 {
				rt.Fatalf("a list was answered %d times", p.lists)
			}
		}
		m.check(rt)
	})
}
