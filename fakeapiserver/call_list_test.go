package fakeapiserver

import (
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// S6: order is by the bytes of "namespace/name".
func TestListOrder(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	for _, key := range []string{"ns0/a", "ns/b", "ns-1/a", "ns/a"} {
		w.create(key)
	}
	page, err := w.list("", metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(page.Keys, " "); got != "ns-1/a ns/a ns/b ns0/a" {
		t.Errorf("order is %s", got)
	}
	page, err = w.list("ns", metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(page.Keys, " "); got != "ns/a ns/b" {
		t.Errorf("the list of namespace ns is %s", got)
	}
}

// I108, S9: the meaning of a list's resourceVersion, match and limit.
func TestListVersions(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	w.create("default/a") // 1001
	w.create("default/b") // 1002
	w.create("default/c") // 1003
	w.settle()
	w.do(func() { w.c.Replica(0).Hold() })
	w.create("default/d") // 1004, not in the watch cache yet
	exact, notOlder := metav1.ResourceVersionMatchExact, metav1.ResourceVersionMatchNotOlderThan
	tests := []struct {
		name    string
		o       metav1.ListOptions
		release bool // release the replica while the list waits
		keys    string
		rv      string
		more    bool
	}{
		{"any, from the cache", metav1.ListOptions{ResourceVersion: "0"}, false, "a b c", "1003", false},
		{"any ignores limit (S9)", metav1.ListOptions{ResourceVersion: "0", Limit: 1}, false, "a b c", "1003", false},
		{"not older than", metav1.ListOptions{ResourceVersion: "1002"}, false, "a b c", "1003", false},
		{"not older than, explicit", metav1.ListOptions{ResourceVersion: "1002", ResourceVersionMatch: notOlder}, false, "a b c", "1003", false},
		{"not older than, with limit", metav1.ListOptions{ResourceVersion: "1001", ResourceVersionMatch: notOlder, Limit: 2}, false, "a b", "1003", true},
		{"limit + N means exact (S9)", metav1.ListOptions{ResourceVersion: "1002", Limit: 10}, false, "a b", "1002", false},
		{"exact", metav1.ListOptions{ResourceVersion: "1001", ResourceVersionMatch: exact}, false, "a", "1001", false},
		{"negative limit means none", metav1.ListOptions{ResourceVersion: "1003", ResourceVersionMatch: exact, Limit: -1}, false, "a b c", "1003", false},
		{"consistent, waits", metav1.ListOptions{}, true, "a b c d", "1004", false},
		{"future N, waits", metav1.ListOptions{ResourceVersion: "1004"}, true, "a b c d", "1004", false},
		{"consistent with limit", metav1.ListOptions{Limit: 3}, true, "a b c", "1004", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.release {
				w.do(func() { w.c.Replica(0).Release() })
			}
			page, err := w.list("", tt.o)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.ReplaceAll(strings.Join(page.Keys, " "), "default/", "")
			if got != tt.keys || page.ResourceVersion != tt.rv || (page.Continue != "") != tt.more {
				t.Errorf("got %q at %s, more %v; want %q at %s, more %v", got, page.ResourceVersion, page.Continue != "", tt.keys, tt.rv, tt.more)
			}
		})
	}
}

// S5, I103: a list at a future revision waits 3 s, and fails with Timeout, ResourceVersionTooLarge, Retry-After 1.
func TestListFuture(t *testing.T) {
	for _, o := range []metav1.ListOptions{
		{ResourceVersion: "5000"},
		{ResourceVersion: "5000", ResourceVersionMatch: metav1.ResourceVersionMatchExact},
		{ResourceVersion: "5000", Limit: 1},
		{Continue: encodeContinue(5000, "default/a\x00")},
	} {
		w := newWorld(t, ClusterOptions{})
		w.create("default/a")
		r := &receiver{}
		w.do(func() { w.cl.List(w.pods, "", o, r) })
		w.advance(2999 * time.Millisecond)
		if r.lists != 0 {
			t.Fatalf("%+v was answered before 3 s: %v", o, r.err)
		}
		w.advance(time.Millisecond)
		if !apierrors.IsTimeout(r.err) || !apierrors.HasStatusCause(r.err, metav1.CauseTypeResourceVersionTooLarge) {
			t.Fatalf("%+v failed with %v, want a Timeout with cause ResourceVersionTooLarge", o, r.err)
		}
		if s, ok := apierrors.SuggestsClientDelay(r.err); !ok || s != 1 {
			t.Errorf("Retry-After is %d, want 1", s)
		}
	}
}

// A consistent read whose watch cache does not catch up within 3 s is answered by the Store.
func TestConsistentListFallsBack(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	w.do(func() { w.c.Replica(0).Hold() })
	w.create("default/a")
	page, err := w.list("", metav1.ListOptions{})
	if err != nil || len(page.Items) != 1 || page.ResourceVersion != "1001" {
		t.Fatalf("got %+v, %v", page, err)
	}
	if at := w.k.Elapsed(); at < 3*time.Second {
		t.Errorf("answered after %v", at)
	}
}

// A get without a resourceVersion does not ask the watch cache, however far that is behind; one with a resourceVersion waits for it.
func TestGetOfLatestDoesNotWait(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	w.do(func() { w.c.Replica(0).Hold() })
	w.create("default/a")
	get := func(rv string) *receiver {
		got := &receiver{}
		w.do(func() { w.cl.Get(w.pods, "default", "a", rv, "", got) })
		w.settle()
		return got
	}
	if got := get(""); got.err != nil || got.page == nil || len(got.page.Items) != 1 || w.k.Elapsed() != 0 {
		t.Errorf("got %+v, %v after %v", got.page, got.err, w.k.Elapsed())
	}
	late := get("1001")
	if late.page != nil || late.err != nil {
		t.Errorf("a get with a resourceVersion that the cache has not seen: %+v, %v", late.page, late.err)
	}
	if w.advance(10 * time.Second); !apierrors.IsTimeout(late.err) {
		t.Errorf("a get with a resourceVersion that the cache never sees: %+v, %v", late.page, late.err)
	}
}

// A consistent list of an idle resource covers writes of other resources: the cache requests progress.
func TestConsistentListOfIdleResource(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	w.must(func() error { _, err := w.c.Create(w.nodes, pod("n")); return err })
	page, err := w.list("", metav1.ListOptions{})
	if err != nil || page.ResourceVersion != "1001" || w.k.Elapsed() != 0 {
		t.Fatalf("got %+v, %v after %v", page, err, w.k.Elapsed())
	}
}

// Pages of one list show the state at one revision, despite concurrent writes; remainingItemCount counts the rest (S8).
func TestPaging(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	for i := range 5 {
		w.create(fmt.Sprintf("default/%d", i))
	}
	o := metav1.ListOptions{Limit: 2}
	var keys []string
	for n := 0; ; n++ {
		page, err := w.list("", o)
		if err != nil {
			t.Fatal(err)
		}
		if page.ResourceVersion != "1005" {
			t.Errorf("page %d is at %s, want 1005", n, page.ResourceVersion)
		}
		keys = append(keys, page.Keys...)
		if page.Continue == "" {
			if page.RemainingItemCount != nil {
				t.Errorf("the last page has remainingItemCount %d", *page.RemainingItemCount)
			}
			break
		}
		if want := int64(5 - len(keys)); page.RemainingItemCount == nil || *page.RemainingItemCount != want {
			t.Errorf("remainingItemCount is %v, want %d", page.RemainingItemCount, want)
		}
		o.Continue = page.Continue
		w.delete(fmt.Sprintf("default/%d", 4-n))
		w.create(fmt.Sprintf("default/%dx", n))
	}
	if got := strings.Join(keys, " "); got != "default/0 default/1 default/2 default/3 default/4" {
		t.Errorf("the pages have %s", got)
	}
}

// S8: remainingItemCount is absent with selectors. A page may be followed by an empty one.
func TestPagingWithSelector(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	for i := range 4 {
		w.create(fmt.Sprintf("default/%d", i), labelled("even", fmt.Sprint(i%2 == 0)))
	}
	o := metav1.ListOptions{Limit: 1, LabelSelector: "even=true"}
	var keys []string
	for {
		page, err := w.list("default", o)
		if err != nil {
			t.Fatal(err)
		}
		if page.RemainingItemCount != nil {
			t.Error("remainingItemCount is set in spite of a selector")
		}
		keys = append(keys, page.Keys...)
		if o.Continue = page.Continue; o.Continue == "" {
			break
		}
	}
	if got := strings.Join(keys, " "); got != "default/0 default/2" {
		t.Errorf("the pages have %s", got)
	}
}

// I109, S10: a compacted continue token gets 410 with a new token; its page has a fresh revision, and the next page is
// consistent with that.
func TestContinueAfterCompaction(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	for i := range 6 {
		w.create(fmt.Sprintf("default/%d", i))
	}
	first, err := w.list("", metav1.ListOptions{Limit: 2})
	if err != nil {
		t.Fatal(err)
	}
	w.create("default/3x")
	w.settle()
	w.must(func() error { return w.c.Compact(0) })
	_, err = w.list("", metav1.ListOptions{Limit: 2, Continue: first.Continue})
	if !apierrors.IsResourceExpired(err) {
		t.Fatalf("got %v, want Expired", err)
	}
	token := err.(apierrors.APIStatus).Status().ListMeta.Continue
	if token == "" {
		t.Fatal("the 410 carries no token")
	}
	second, err := w.list("", metav1.ListOptions{Limit: 2, Continue: token})
	if err != nil || second.ResourceVersion != "1007" || strings.Join(second.Keys, " ") != "default/2 default/3" {
		t.Fatalf("got %+v, %v", second, err)
	}
	w.delete("default/3x")
	third, err := w.list("", metav1.ListOptions{Limit: 2, Continue: second.Continue})
	if err != nil || third.ResourceVersion != "1007" || strings.Join(third.Keys, " ") != "default/3x default/4" {
		t.Fatalf("got %+v, %v", third, err)
	}
}

// S11: compaction of the Store alone is invisible, and the compacted revision itself stays readable.
func TestCompaction(t *testing.T) {
	exact := func(rv string) metav1.ListOptions {
		return metav1.ListOptions{ResourceVersion: rv, ResourceVersionMatch: metav1.ResourceVersionMatchExact}
	}
	w := newWorld(t, ClusterOptions{})
	for i := range 4 {
		w.create(fmt.Sprintf("default/%d", i))
	}
	w.settle()
	w.must(func() error { return w.c.CompactStore(1003) })
	if page, err := w.list("", exact("1001")); err != nil || len(page.Items) != 1 {
		t.Errorf("the cache does not serve an exact list that the Store cannot: %v", err)
	}
	if r := w.watch(metav1.ListOptions{ResourceVersion: "1001"}); len(r.events) != 3 {
		t.Errorf("a watch from the cache's window has %v", r.text())
	}
	if err := w.c.Store().Walk(w.pods, 1003, "", func(string, kobject) bool { return true }); err != nil {
		t.Errorf("the compacted revision itself: %v", err)
	}
	if err := w.c.Store().Walk(w.pods, 1002, "", func(string, kobject) bool { return true }); err == nil {
		t.Error("the Store serves a compacted revision")
	}
	w.must(func() error { return w.c.Compact(1004) })
	if page, err := w.list("", exact("1004")); err != nil || len(page.Items) != 4 {
		t.Errorf("the compacted revision itself: %v", err)
	}
	if _, err := w.list("", exact("1003")); !apierrors.IsResourceExpired(err) {
		t.Errorf("a compacted revision: %v, want Expired", err)
	}
	for _, rev := range []int64{1004, 9999} {
		w.do(func() {
			if err := w.c.Compact(rev); err == nil {
				t.Errorf("compacting to %d succeeds", rev)
			}
		})
	}
}

// Requests that the real server refuses.
func TestListRefused(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	yes := true
	tests := []struct {
		name string
		o    metav1.ListOptions
		is   func(error) bool
	}{
		{"garbage revision", metav1.ListOptions{ResourceVersion: "abc"}, apierrors.IsBadRequest},
		{"negative revision", metav1.ListOptions{ResourceVersion: "-1"}, apierrors.IsBadRequest},
		{"match without revision", metav1.ListOptions{ResourceVersionMatch: metav1.ResourceVersionMatchExact}, apierrors.IsInvalid},
		{"exact 0", metav1.ListOptions{ResourceVersion: "0", ResourceVersionMatch: metav1.ResourceVersionMatchExact}, apierrors.IsInvalid},
		{"unknown match", metav1.ListOptions{ResourceVersion: "1", ResourceVersionMatch: "About"}, apierrors.IsInvalid},
		{"sendInitialEvents", metav1.ListOptions{SendInitialEvents: &yes}, apierrors.IsInvalid},
		{"garbage continue", metav1.ListOptions{Continue: "%%%"}, apierrors.IsBadRequest},
		{"continue out of the prefix", metav1.ListOptions{Continue: encodeContinue(1001, "../../secrets")}, apierrors.IsBadRequest},
		{"continue with a revision (I109)", metav1.ListOptions{Continue: encodeContinue(1001, "a"), ResourceVersion: "1001"}, apierrors.IsBadRequest},
		{"label selector", metav1.ListOptions{LabelSelector: "a=("}, apierrors.IsBadRequest},
		{"field selector", metav1.ListOptions{FieldSelector: "a"}, apierrors.IsBadRequest},
		{"unknown field", metav1.ListOptions{FieldSelector: "spec.colour=x"}, apierrors.IsBadRequest},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := w.list("", tt.o); !tt.is(err) {
				t.Errorf("got %v", err)
			}
		})
	}
	r := &receiver{}
	w.do(func() { w.cl.List(w.nodes, "", metav1.ListOptions{FieldSelector: "metadata.namespace=x"}, r) })
	w.settle()
	if !apierrors.IsBadRequest(r.err) {
		t.Errorf("metadata.namespace of a cluster-scoped resource (S12): %v", r.err)
	}
	w.do(func() { w.cl.List(99, "", metav1.ListOptions{}, r) })
	w.settle()
	if !apierrors.IsBadRequest(r.err) {
		t.Errorf("unknown resource: %v", r.err)
	}
}

func TestFieldSelectors(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	w.create("default/a")
	w.create("other/a", onNode("n1"))
	w.create("other/b")
	for selector, want := range map[string]string{
		"metadata.name=a":                            "default/a other/a",
		"metadata.namespace=other":                   "other/a other/b",
		"metadata.name!=a":                           "other/b",
		"metadata.name=a,metadata.namespace=default": "default/a",
		"spec.nodeName=n1":                           "other/a",
		"spec.nodeName=":                             "default/a other/b", // S12
	} {
		page, err := w.list("", metav1.ListOptions{FieldSelector: selector})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(page.Keys, " "); got != want {
			t.Errorf("%s: got %s, want %s", selector, got, want)
		}
	}
}
