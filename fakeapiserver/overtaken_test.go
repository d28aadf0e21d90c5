package fakeapiserver

import (
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/fakeapiserver/fault"
)

// A write is overtaken if there is an object to write, and a leader to write it; the fault waits for one that can be.
func TestWriteOvertaken(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	old := w.create("a/x")
	pod := func(name string, rv int64) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: name}}
		if rv > 0 {
			p.ResourceVersion = strconv.FormatInt(rv, 10)
		}
		return p
	}
	inject(w, fault.Fault{Kind: fault.WriteOvertaken, Count: 2})
	for _, step := range []struct {
		write Write
		is    func(error) bool
		left  int // of the fault
		at    int64
	}{
		{Write{Verb: Create, Object: pod("y", 0)}, nil, 2, old + 1},
		{Write{Verb: Update, Object: pod("none", 0)}, apierrors.IsNotFound, 2, old + 1},
		{Write{Verb: Delete, Namespace: "a", Name: "none"}, apierrors.IsNotFound, 2, old + 1},
		{Write{Verb: Update, Object: pod("x", old)}, apierrors.IsConflict, 1, old + 2},
		{Write{Verb: Update, Object: pod("x", old+2)}, nil, 1, old + 3}, // one of two gets through
		{Write{Verb: Update, Object: pod("x", old+3)}, apierrors.IsConflict, 0, old + 4},
	} {
		r := &receiver{}
		step.write.Resource = w.pods
		w.do(func() { w.cl.Write(step.write, r) })
		w.settle()
		if ok := r.writeErr == nil; step.is != nil && !step.is(r.writeErr) || step.is == nil && !ok {
			t.Errorf("%s: %v", step.write.describe(), r.writeErr)
		}
		left := 0
		for _, f := range w.c.Faults() {
			left += f.Left
		}
		if left != step.left || w.c.Store().Revision() != step.at {
			t.Errorf("%s: %d faults are left at %d, want %d at %d", step.write.describe(), left, w.c.Store().Revision(), step.left, step.at)
		}
	}

	w.do(func() { // nobody writes without a leader
		for _, k := range []fault.Kind{fault.LeaderLoss, fault.WriteOvertaken} {
			if err := w.c.Inject(fault.Fault{Kind: k}); err != nil {
				t.Error(err)
			}
		}
	})
	r := &receiver{}
	w.do(func() { w.cl.Write(Write{Verb: Update, Resource: w.pods, Object: pod("x", 0)}, r) })
	w.settle()
	if r.writeErr == nil || w.c.Store().Revision() != old+4 {
		t.Errorf("without a leader: %v at %d", r.writeErr, w.c.Store().Revision())
	}
}

// However often a client writes an object at one instant, there is an end to what overtakes it.
func TestWriteOvertakenHasAnEnd(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	first := w.create("a/x")
	inject(w, fault.Fault{Kind: fault.WriteOvertaken, Count: fault.Lasting})
	overtaken := func() (n int) {
		for range 4 * mostOvertaken {
			before := w.c.Store().Revision()
			r := &receiver{}
			w.do(func() {
				w.cl.Write(Write{Verb: Update, Resource: w.pods, Object: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "x", ResourceVersion: strconv.FormatInt(first, 10)}}}, r)
			})
			w.settle()
			if r.writeErr == nil {
				t.Fatal("an update of what has gone by got through")
			}
			if w.c.Store().Revision() > before {
				n++
			}
		}
		return n
	}
	if n := overtaken(); n != mostOvertaken {
		t.Errorf("%d writes were overtaken at one instant, want %d", n, mostOvertaken)
	}
	w.advance(time.Second)
	if n := overtaken(); n != mostOvertaken {
		t.Errorf("%d writes were overtaken a second later, want %d", n, mostOvertaken)
	}
}
