package library

import (
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// refusingStore is what a reflector writes to; its next call of each kind may fail.
type refusingStore struct {
	cache.Store
	change1, replace1, resync1 error
	always                     bool // each resync fails
	resyncs                    int
}

// Add implements cache.ReflectorStore.
func (s *refusingStore) Add(obj any) error { return s.change(s.Store.Add, obj) }

// Update implements cache.ReflectorStore.
func (s *refusingStore) Update(obj any) error { return s.change(s.Store.Update, obj) }

// Delete implements cache.ReflectorStore.
func (s *refusingStore) Delete(obj any) error { return s.change(s.Store.Delete, obj) }

func (s *refusingStore) change(call func(any) error, obj any) error {
	if err := s.change1; err != nil {
		s.change1 = nil
		return err
	}
	return call(obj)
}

// Replace implements cache.ReflectorStore.
func (s *refusingStore) Replace(list []any, revision string) error {
	if err := s.replace1; err != nil {
		s.replace1 = nil
		return err
	}
	return s.Store.Replace(list, revision)
}

// Resync implements cache.ReflectorStore.
func (s *refusingStore) Resync() error {
	s.resyncs++
	err := s.resync1
	if !s.always {
		s.resync1 = nil
	}
	return err
}

// refuses has the reflector write to a store that refuses what is said of it, and resync once in a minute.
func (t *trouble) refuses(s *refusingStore, pause time.Duration) {
	s.Store = t.s
	t.r = cache.NewReflectorWithOptions(t.from, &metav1.PartialObjectMetadata{}, s, cache.ReflectorOptions{
		Name: "r", Clock: t.now, Backoff: &wait.Backoff{Duration: pause}, ResyncPeriod: time.Minute,
	})
}

var errRefused = errors.New("the store refuses it")

// refusedEvent is a store that does not take an object that a watch brings. The watch goes on behind it.
func (t *trouble) refusedEvent() func() {
	t.refuses(&refusingStore{change1: errRefused}, 0)
	what := []watch.EventType{watch.Added, watch.Modified, watch.Deleted}[t.IntN(3)]
	return func() {
		t.from.watch.Action(what, object("c", 6))
		t.quiesce()
		t.is(fmt.Sprintf("LastSyncResourceVersion after an event %s that the store has refused", what), "6", t.r.LastSyncResourceVersion())
		t.requests("after an event that the store has refused", 1, 1)
		t.from.watch.Add(object("ns1/b", 7))
		t.quiesce()
		t.is("ListKeys after an event that the store has refused, and another one", []string{"ns1/a", "ns1/b"}, sorted(t.s.ListKeys()))
	}
}

// noted is a store that notes which of its functions are called.
type noted struct {
	cache.Store
	calls []string
}

// Add implements cache.ReflectorStore.
func (s *noted) Add(obj any) error {
	s.calls = append(s.calls, "Add "+text(obj))
	return s.Store.Add(obj)
}

// Update implements cache.ReflectorStore.
func (s *noted) Update(obj any) error {
	s.calls = append(s.calls, "Update "+text(obj))
	return s.Store.Update(obj)
}

// UpdateResourceVersion implements cache.ResourceVersionUpdater.
func (s *noted) UpdateResourceVersion(revision string) {
	s.calls = append(s.calls, "revision "+revision)
}

// Delete implements cache.ReflectorStore.
func (s *noted) Delete(obj any) error {
	s.calls = append(s.calls, "Delete "+text(obj))
	return s.Store.Delete(obj)
}

// asTheyCome is a store that has a function for each kind of event. An event of a kind that nobody knows is passed over.
func (t *trouble) asTheyCome() func() {
	s := &noted{Store: t.s}
	t.r = cache.NewReflectorWithOptions(t.from, &metav1.PartialObjectMetadata{}, s, cache.ReflectorOptions{Name: "r", Clock: t.now, Backoff: &wait.Backoff{}})
	return func() {
		t.from.watch.Add(object("c", 6))
		t.from.watch.Modify(object("ns1/a", 7))
		t.from.watch.Delete(object("c", 8))
		t.from.watch.Action("UNKNOWN", object("c", 9))
		t.quiesce()
		t.is("what a store is told of an addition, an update, a deletion, and something unknown",
			[]string{"Add c@6", "revision 6", "Update ns1/a@7", "revision 7", "Delete c@8", "revision 8", "revision 9"}, s.calls)
		t.requests("after something unknown in a watch", 1, 1)
	}
}

// refusedReplace is a store that does not take a list. The server had its revision all the same, so that the next list need not be the newest.
func (t *trouble) refusedReplace() func() {
	t.from.list1 = apierrors.NewResourceExpired("it has expired")
	t.refuses(&refusingStore{replace1: errRefused}, 0)
	return func() {
		t.requests("after a list that expired, and one that the store has refused", 3, 1)
		revisions := make([]string, len(t.from.listed))
		for n, o := range t.from.listed {
			revisions[n] = o.ResourceVersion
		}
		t.is("the revisions of a list that expired, of one that the store has refused, and of the next", []string{"0", "", "0"}, revisions)
	}
}

// refusedResyncs is a store that cannot resync while a watch is to be opened again later. It is asked once, for the watch will end of that, and no more
// when the reflector is stopped.
func (t *trouble) refusedResyncs() func() {
	s := &refusingStore{resync1: errRefused, always: true}
	t.refuses(s, time.Hour)
	t.from.watch1 = apierrors.NewTooManyRequests("later", 0)
	return func() {
		for range 4 {
			t.now.Step(time.Minute)
			t.quiesce()
		}
		t.is("how often a store is to resync that has failed to, before a watch is open", 1, s.resyncs)
		t.requests("while a watch is to be opened later", 1, 1)
	}
}

// refusedResync is a store that cannot resync. The reflector begins anew.
func (t *trouble) refusedResync() func() {
	t.refuses(&refusingStore{resync1: errRefused}, 0)
	return func() {
		t.now.Step(time.Minute)
		t.quiesce()
		t.from.watch.Add(object("c", 6)) // a watch under way notices when it has something to do
		t.quiesce()
		t.requests("after a resync that has failed", 2, 2)
	}
}
