package fakeapiserver

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// After Cancel the receiver is not called again, at whatever stage the request is.
func TestCancel(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	w.create("default/a")
	for steps := range 8 {
		r := &receiver{}
		w.do(func() {
			r.id = w.cl.Watch(w.pods, "", metav1.ListOptions{}, r)
		})
		for n := 0; n < steps && !w.k.Quiet(); n++ {
			w.k.Step()
		}
		w.do(func() { w.cl.Cancel(r.id) })
		events := len(r.events)
		w.update("default/a")
		w.settle()
		if len(r.events) != events || r.closed || w.cl.InFlight() != 0 {
			t.Errorf("after %d steps: heard %v, closed %v, in flight %d", steps, r.text(), r.closed, w.cl.InFlight())
		}
	}
	w.do(func() { w.cl.Cancel(4711) })
	r := &receiver{}
	r.onOpening = func() { w.cl.Cancel(r.id) }
	w.do(func() { r.id = w.cl.Watch(w.pods, "", metav1.ListOptions{}, r) })
	w.settle()
	if len(r.events) != 0 || w.k.Clock().Timers() != 0 {
		t.Errorf("canceled in OnWatchOpened: %v, %d timers", r.text(), w.k.Clock().Timers())
	}
}

// A write is served by one choice and answered by another.
func TestWrites(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	write := func(x Write) *receiver {
		r := &receiver{}
		x.Resource = w.pods
		w.do(func() { w.cl.Write(x, r) })
		w.settle()
		if r.writes != 1 {
			t.Fatalf("%s: answered %d times", x.describe(), r.writes)
		}
		return r
	}
	mine := pod("default/a")
	r := write(Write{Verb: Create, Object: mine})
	if r.writeErr != nil || mine.ResourceVersion != "" {
		t.Fatalf("create: %v; the client's object has rv %q", r.writeErr, mine.ResourceVersion)
	}
	made := r.written.(*corev1.Pod)
	if made.UID == "" || made.ResourceVersion != "1001" || !made.CreationTimestamp.Equal(ptr(metav1.NewTime(w.k.Clock().Now()))) {
		t.Errorf("created %+v", made.ObjectMeta)
	}
	if r := write(Write{Verb: Create, Object: mine}); !apierrors.IsAlreadyExists(r.writeErr) {
		t.Errorf("second create: %v", r.writeErr)
	}
	next := made.DeepCopy()
	if r := write(Write{Verb: Update, Object: next}); r.writeErr != nil {
		t.Errorf("update: %v", r.writeErr)
	}
	if r := write(Write{Verb: Update, Object: next}); !apierrors.IsConflict(r.writeErr) {
		t.Errorf("stale update: %v", r.writeErr)
	}
	if r := write(Write{Verb: Update, Object: pod("default/b")}); !apierrors.IsNotFound(r.writeErr) {
		t.Errorf("update of a missing object: %v", r.writeErr)
	}
	if r := write(Write{Verb: Delete, Namespace: "default", Name: "a", Preconditions: metav1.NewUIDPreconditions("x")}); !apierrors.IsConflict(r.writeErr) {
		t.Errorf("delete with another uid: %v", r.writeErr)
	}
	if r := write(Write{Verb: Delete, Namespace: "default", Name: "a", Preconditions: metav1.NewRVDeletionPrecondition("1").Preconditions}); !apierrors.IsConflict(r.writeErr) {
		t.Errorf("delete of another revision: %v", r.writeErr)
	}
	if r := write(Write{Verb: Delete, Namespace: "default", Name: "a"}); r.writeErr != nil {
		t.Errorf("delete: %v", r.writeErr)
	}
	if r := write(Write{Verb: Delete, Namespace: "default", Name: "a"}); !apierrors.IsNotFound(r.writeErr) {
		t.Errorf("second delete: %v", r.writeErr)
	}
	for _, bad := range []Write{{Verb: Create}, {Verb: Create, Object: pod("noname/")}, {Verb: Create, Object: pod("nonamespace")}, {Verb: "paint"}, {Verb: Create, Object: (*corev1.Pod)(nil)}} {
		if r := write(bad); !apierrors.IsBadRequest(r.writeErr) {
			t.Errorf("%+v: %v", bad, r.writeErr)
		}
	}
}
