package fakeapiserver

import (
	"errors"
	"strconv"
	"strings"
	"syscall"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// I107: a restart resets watches; until the cache is initialised, all reads but a get and an unfiltered list with a limit get 429.
func TestReplicaRestart(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	w.create("default/a")
	w.settle()
	r := w.watch(metav1.ListOptions{ResourceVersion: "1001"})
	pending := &receiver{}
	w.do(func() {
		w.c.Replica(0).Hold()
		w.cl.List(w.pods, "", metav1.ListOptions{ResourceVersion: "1002"}, pending)
	})
	w.settle()
	w.do(func() { w.c.Replica(0).Restart() })
	w.settle()
	if !r.closed || !errors.Is(r.closeErr, syscall.ECONNRESET) {
		t.Errorf("the watch: closed %v, %v", r.closed, r.closeErr)
	}
	if !errors.Is(pending.err, syscall.ECONNRESET) {
		t.Errorf("the pending list: %v", pending.err)
	}
	for _, o := range []metav1.ListOptions{{ResourceVersion: "0"}, {}, {ResourceVersion: "0", Limit: 5}, {Limit: 5, LabelSelector: "a"}} {
		_, err := w.list("", o)
		if s, ok := apierrors.SuggestsClientDelay(err); !apierrors.IsTooManyRequests(err) || !ok || s < 1 || s > 30 {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if page, err := w.list("", metav1.ListOptions{Limit: 5}); err != nil || len(page.Items) != 1 {
		t.Errorf("an unfiltered list with a limit: %v", err)
	}
	for _, rv := range []string{"", "0", "1001"} {
		got := &receiver{}
		w.do(func() { w.cl.Get(w.pods, "default", "a", rv, "", got) })
		w.settle()
		if got.err != nil || got.page == nil || len(got.page.Items) != 1 {
			t.Errorf("a get at %q: %+v, %v", rv, got.page, got.err)
		}
	}
	if r := w.watch(metav1.ListOptions{ResourceVersion: "1001"}); !apierrors.IsTooManyRequests(r.openErr) {
		t.Errorf("a watch: %v", r.openErr)
	}
	w.do(func() { w.c.Replica(0).Release() })
	w.create("default/b")
	w.settle()
	// The new window starts at the revision at which the cache was initialised.
	if page, err := w.list("", metav1.ListOptions{ResourceVersion: "0"}); err != nil || len(page.Items) != 2 {
		t.Errorf("after initialisation: %+v, %v", page, err)
	}
	if r := w.watch(metav1.ListOptions{ResourceVersion: "1001"}); len(r.events) != 1 || r.events[0].Type != watch.Error {
		t.Errorf("a watch from before the window: %v", r.text())
	}
}

// Replicas lag independently: the same list gives different answers.
func TestReplicasLag(t *testing.T) {
	w := newWorld(t, ClusterOptions{Replicas: 2})
	w.do(func() { w.c.Replica(1).Hold() })
	w.create("default/a")
	w.settle()
	for i, want := range []int{1, 0} {
		w.c.Connect("a", Sticky(i))
		page, err := w.list("", metav1.ListOptions{ResourceVersion: "0"})
		if err != nil || len(page.Items) != want {
			t.Errorf("replica %d: %+v, %v", i, page, err)
		}
	}
	w.c.Connect("a", RoundRobin())
	var counts []string
	for range 4 {
		page, err := w.list("", metav1.ListOptions{ResourceVersion: "0"})
		if err != nil {
			t.Fatal(err)
		}
		counts = append(counts, strconv.Itoa(len(page.Items)))
	}
	if got := strings.Join(counts, ""); got != "1010" {
		t.Errorf("round robin gives %s", got)
	}
	w.c.Connect("a", ByChoice())
	seen := map[int]bool{}
	for range 50 {
		page, err := w.list("", metav1.ListOptions{ResourceVersion: "0"})
		if err != nil {
			t.Fatal(err)
		}
		seen[len(page.Items)] = true
	}
	if len(seen) != 2 {
		t.Errorf("by choice only saw %v", seen)
	}
}
