package informer

import (
	"errors"
	"strconv"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

var t0 = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// pod returns a pod with a key and resourceVersion.
func pod(key string, rv int) *v1.Pod {
	ns, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		panic(err)
	}
	return &v1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: ns, Name: name, ResourceVersion: strconv.Itoa(rv), UID: types.UID("uid-" + key),
	}}
}

func anys[T any](list ...T) []any {
	out := make([]any, len(list))
	for i, x := range list {
		out[i] = x
	}
	return out
}

func objects(list ...*v1.Pod) []runtime.Object {
	out := make([]runtime.Object, len(list))
	for i, x := range list {
		out[i] = x
	}
	return out
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// show prints an object as a test expects it: key@rv, or ~key(obj) for a tombstone.
func show(obj any) string {
	switch o := obj.(type) {
	case nil:
		return "nil"
	case cache.DeletedFinalStateUnknown:
		return "~" + o.Key + "(" + show(o.Obj) + ")"
	case *v1.Pod:
		key, _ := MetaNamespaceKey(o)
		return key + "@" + o.ResourceVersion
	case cache.ReplacedAllInfo:
		s := "all@" + o.ResourceVersion + "["
		for i, obj := range o.Objects {
			if i > 0 {
				s += " "
			}
			s += show(obj)
		}
		return s + "]"
	case cache.BookmarkInfo:
		return "bookmark@" + o.ResourceVersion
	case cache.SyncAllInfo:
		return "sync-all"
	}
	return "?"
}

func showDeltas(ds []cache.Delta) string {
	s := ""
	for i, d := range ds {
		if i > 0 {
			s += " "
		}
		s += string(d.Type) + ":" + show(d.Object)
	}
	return s
}

func showNote(n Notification) string {
	switch n.Type {
	case NotifyAdd:
		if n.IsInInitialList {
			return "add " + show(n.New) + " initial"
		}
		return "add " + show(n.New)
	case NotifyUpdate:
		return "update " + show(n.Old) + "→" + show(n.New)
	}
	return "delete " + show(n.Old)
}

// log is a handler that records its calls.
type log struct{ calls []string }

func (l *log) OnAdd(obj any, initial bool) {
	l.calls = append(l.calls, showNote(Notification{Type: NotifyAdd, New: obj, IsInInitialList: initial}))
}
func (l *log) OnUpdate(o, n any) {
	l.calls = append(l.calls, showNote(Notification{Type: NotifyUpdate, Old: o, New: n}))
}
func (l *log) OnDelete(obj any) {
	l.calls = append(l.calls, showNote(Notification{Type: NotifyDelete, Old: obj}))
}

func popAll(q Queue) []string {
	var out []string
	for p := (Popped{}); q.Pop(&p); {
		s := showDeltas(p.Deltas)
		if p.IsInInitialList {
			s += " initial"
		}
		out = append(out, s)
		q.Done()
	}
	return out
}

func equal(t testing.TB, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %d: %q\nwant %d: %q", len(got), got, len(want), want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("at %d got %q, want %q\nall: %q", i, got[i], want[i], got)
		}
	}
}

var errBoom = errors.New("boom")
