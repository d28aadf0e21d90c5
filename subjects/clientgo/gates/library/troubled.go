package library

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	clocktesting "k8s.io/utils/clock/testing"
)

// refusing is a source whose next list or watch may fail.
type refusing struct {
	source
	list1, watch1  error
	lists, watches []error        // what becomes of those that follow; then all goes well
	instead        runtime.Object // what the next list gives, nil for the list
	answers        chan struct{}  // what lists wait for, nil for nothing
}

// List implements cache.ListerWatcher.
func (s *refusing) List(options metav1.ListOptions) (runtime.Object, error) {
	list, err := s.source.List(options)
	if s.answers != nil {
		<-s.answers
	}
	if s.list1 != nil {
		list, err, s.list1 = nil, s.list1, nil
	} else if len(s.lists) > 0 {
		list, err, s.lists = nil, s.lists[0], s.lists[1:]
	} else if s.instead != nil {
		list, s.instead = s.instead, nil
	}
	return list, err
}

// Watch implements cache.ListerWatcher.
func (s *refusing) Watch(options metav1.ListOptions) (watch.Interface, error) {
	w, err := s.source.Watch(options)
	if s.watch1 != nil {
		w, err, s.watch1 = nil, s.watch1, nil
	} else if len(s.watches) > 0 {
		w, err, s.watches = nil, s.watches[0], s.watches[1:]
	}
	return w, err
}

// trouble is a reflector on a clock of the check, what it reads from, and where it writes to.
type trouble struct {
	*check
	from *refusing
	now  *clocktesting.FakeClock
	s    cache.Store
	r    *cache.Reflector
	// stop stops the reflector, and ended is closed once it has.
	stop  context.CancelFunc
	ended <-chan struct{}
}

// troubled goes through the ways in which the requests of a reflector fail, or give what they should not.
func troubled(c *check) {
	for _, way := range []func(*trouble) func(){(*trouble).throttled, (*trouble).internal, (*trouble).refusedList, (*trouble).withoutRevision, (*trouble).pagedAgain, (*trouble).ofAnotherKind,
		(*trouble).pagedWithout, (*trouble).busy, (*trouble).silent, (*trouble).asTheyCome, (*trouble).refusedEvent, (*trouble).refusedReplace, (*trouble).refusedResync, (*trouble).refusedResyncs, (*trouble).calm,
		(*trouble).stoppedInList, (*trouble).refusedWatch, (*trouble).unorderedTold, (*trouble).onlyForeign, (*trouble).foreignBookmark, (*trouble).pagedSecond, (*trouble).stillBusy,
		(*trouble).brief, (*trouble).unreachable, (*trouble).stoppedInResync} {
		c.trouble(way)
	}
	c.undetailed()
}

// trouble runs a reflector that gets into some.
func (c *check) trouble(way func(*trouble) func()) {
	t := &trouble{check: c, from: &refusing{source: *newSource(object("ns1/a", 1))}, now: clocktesting.NewFakeClock(time.Unix(1000, 0)), s: cache.NewStore(cache.MetaNamespaceKeyFunc)}
	t.reflects(&metav1.PartialObjectMetadata{}, 0)
	then := way(t)
	t.stop, t.ended = running(t.r.RunWithContext)
	c.quiesce()
	then()
	t.stop()
	c.quiesce()
	c.is("whether Run of a reflector returns that is stopped", true, closed(t.ended))
}

// reflects makes the reflector. Of its pauses only those of a watch are on its clock, so that the others have to take no time.
func (t *trouble) reflects(kind any, pause time.Duration) {
	t.r = cache.NewReflectorWithOptions(t.from, kind, t.s, cache.ReflectorOptions{Name: "r", Clock: t.now, Backoff: &wait.Backoff{Duration: pause}})
}

// requests compares how many lists and watches there were.
func (t *trouble) requests(when string, lists, watches int) {
	t.is("how many lists and watches there were "+when, [2]int{lists, watches}, [2]int{len(t.from.listed), len(t.from.watched)})
}

// throttled is a server that wants a watch to come later, when it is asked for or while it lasts. It is, from where it was.
func (t *trouble) throttled() func() {
	const pause = 10 * time.Second
	t.reflects(&metav1.PartialObjectMetadata{}, pause)
	later := apierrors.NewTooManyRequests("later", 0)
	opening, seen := t.IntN(2) == 0, "5"
	if opening {
		t.from.watch1 = later
	}
	return func() {
		if !opening {
			t.from.watch.Add(object("c", 6))
			t.from.watch.Error(&later.ErrStatus)
			t.quiesce()
			seen = "6"
		}
		t.requests("before a pause after a 429", 1, 1)
		if t.IntN(3) == 0 {
			t.stop()
			t.quiesce()
			t.is("whether Run of a reflector returns that is stopped in a pause after a 429", true, closed(t.ended))
			return
		}
		t.now.Step(pause)
		t.quiesce()
		t.requests("after a pause after a 429", 1, 2)
		if len(t.from.watched) == 2 {
			t.is("the revision of a watch after a 429", seen, t.from.watched[1].ResourceVersion)
		}
	}
}

// internal is a server whose watch ends with an internal error. For as long as the reflector is told to, it only watches again.
func (t *trouble) internal() func() {
	const longest = 30 * time.Second
	retries := t.IntN(2) == 0
	if retries {
		t.r.MaxInternalErrorRetryDuration = longest
	}
	return func() {
		lists, since, later, series := 1, time.Duration(0), 0, false
		for n, pause := range []time.Duration{0, time.Duration(t.IntN(2)) * longest / 3, longest * 2 / 3, longest * 2 / 3} {
			t.now.Step(pause)
			if since += pause; !series {
				since, series = 0, true
			}
			t.from.watch.Error(&apierrors.NewInternalError(errors.New("it is broken")).ErrStatus)
			t.quiesce()
			if !retries || since > longest {
				lists++
				series = false
			}
			t.requests(fmt.Sprintf("after internal error %d, %v after the first, whether they are met with another watch: %t", n+1, since, retries), lists, n+later+2)
			if t.IntN(3) == 0 { // a server that is busy is none that is broken: it is asked later, for a watch
				later++
				t.from.watch.Error(&apierrors.NewTooManyRequests("later", 0).ErrStatus)
				t.quiesce()
				t.now.Step(time.Millisecond)
				since += time.Millisecond
				t.quiesce()
				t.requests("after a 429 behind an internal error", lists, n+later+2)
			}
		}
	}
}

// refusedList is a server that does not know the revision of a list, and says so in one of the ways that there were. The next list, at once, has none.
func (t *trouble) refusedList() func() {
	timeout, next := apierrors.NewTimeoutError("try again", 1), ""
	switch t.IntN(7) {
	case 5: // no timeout, whatever it says
		t.from.list1, next = apierrors.NewInternalError(errors.New("Too large resource version")), "0"
	case 6: // a timeout of something else
		t.from.list1, next = timeout, "0"
	case 0:
		timeout.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge}}
		t.from.list1 = timeout
	case 1:
		timeout.ErrStatus.Details.Causes = []metav1.StatusCause{{Message: "other"}, {Message: "Too large resource version"}}
		t.from.list1 = timeout
	case 2:
		t.from.list1 = apierrors.NewTimeoutError("Too large resource version: 9, current: 5", 1)
	case 3:
		t.from.list1 = apierrors.NewResourceExpired("it has expired")
	default:
		t.from.list1 = apierrors.NewGone("it is gone")
	}
	said := t.from.list1
	return func() {
		t.requests(fmt.Sprintf("after a list that failed because %v", said), 2, 1)
		if len(t.from.listed) == 2 {
			t.is("the revisions of a list that failed, and of the next", [2]string{"0", next}, [2]string{t.from.listed[0].ResourceVersion, t.from.listed[1].ResourceVersion})
		}
	}
}

// withoutRevision is a server whose list has no revision of its own. What its watch begins with is in no order, so that none of it counts until something changes.
// The next watch begins where that one has ended, and is in order.
func (t *trouble) withoutRevision() func() {
	t.from.list.ResourceVersion = []string{"", "0"}[t.IntN(2)]
	of := t.from.list.ResourceVersion
	return func() {
		t.from.watch.Add(object("c", 6))
		t.quiesce()
		t.is("LastSyncResourceVersion after what a watch begins with that has no revision", of, t.r.LastSyncResourceVersion())
		what := []watch.EventType{watch.Modified, watch.Deleted, watch.Bookmark}[t.IntN(3)]
		t.from.watch.Action(what, object("c", 7))
		t.quiesce()
		t.is(fmt.Sprintf("LastSyncResourceVersion after an event %s", what), "7", t.r.LastSyncResourceVersion())
		t.from.watch.Add(object("ns1/b", 8))
		t.quiesce()
		t.is(fmt.Sprintf("LastSyncResourceVersion after an addition behind an event %s", what), "8", t.r.LastSyncResourceVersion())
		t.from.watch.Stop()
		t.quiesce()
		t.requests("after the end of a watch", 1, 2)
		t.from.watch.Add(object("ns2/a", 9))
		t.quiesce()
		t.is("LastSyncResourceVersion after an addition to the next watch", "9", t.r.LastSyncResourceVersion())
	}
}

// pagedAgain is a server without a watch cache: it pages lists from any revision, which a reflector remembers for all lists that follow, whether they are
// long enough for a second page or not.
func (t *trouble) pagedAgain() func() {
	t.from.paged = true
	limit := int64(500)
	if t.IntN(2) == 0 {
		limit = 7
		t.r.WatchListPageSize = limit
	}
	return func() {
		lists := 2
		for n := range 3 {
			t.from.paged = t.IntN(2) == 0
			t.from.watch.Error(&apierrors.NewResourceExpired("it has expired").ErrStatus)
			t.quiesce()
			first := lists
			lists += map[bool]int{true: 2, false: 1}[t.from.paged]
			t.requests(fmt.Sprintf("after expiry %d", n+1), lists, n+2)
			if first < len(t.from.listed) {
				t.is(fmt.Sprintf("the limit of the list after expiry %d, the first having come in pages", n+1), limit, t.from.listed[first].Limit)
			}
		}
		timeouts := map[int64]bool{}
		for _, o := range t.from.watched {
			timeouts[*o.TimeoutSeconds] = true
		}
		t.is(fmt.Sprintf("whether %d watches last as long as each other", len(t.from.watched)), false, len(timeouts) == 1) // by chance in one of 20 million runs
	}
}

// pagedWithout is a server that pages the list of no revision that follows one that has expired. Such a list comes from no watch cache, so that nothing
// is remembered of it.
func (t *trouble) pagedWithout() func() {
	t.from.lists = []error{apierrors.NewResourceExpired("it has expired"), errors.New("it is broken")}
	t.from.paged = true
	return func() {
		t.requests("after a list that expired, one that failed, and one in two pages", 4, 1)
		t.from.watch.Error(&apierrors.NewResourceExpired("it has expired").ErrStatus)
		t.quiesce()
		if len(t.from.listed) != 6 {
			t.requests("after another expiry", 6, 2)
			return
		}
		var asked [][2]string
		for _, n := range []int{0, 1, 2, 4} {
			o := t.from.listed[n]
			asked = append(asked, [2]string{o.ResourceVersion, fmt.Sprint(o.Limit)})
		}
		t.is("the revisions and limits of a list that expired, of one that failed, of one in pages, and of the next", [][2]string{{"0", "500"}, {"", "500"}, {"", "500"}, {"5", "0"}}, asked)
	}
}

// pagedSecond is a server that pages the list of no revision that is asked for when that of the first revision has expired. It is remembered as that of the first.
func (t *trouble) pagedSecond() func() {
	t.from.lists, t.from.paged = []error{apierrors.NewResourceExpired("it has expired")}, true
	return func() {
		t.requests("after a list that expired, and one in two pages", 3, 1)
		t.from.paged = false
		t.from.watch.Error(&apierrors.NewResourceExpired("it has expired").ErrStatus)
		t.quiesce()
		t.requests("after another expiry", 4, 2)
		if len(t.from.listed) == 4 {
			t.is("the revision and the limit of the next list", [2]string{"5", "500"}, [2]string{t.from.listed[3].ResourceVersion, fmt.Sprint(t.from.listed[3].Limit)})
		}
	}
}

// busy is a server that wants watches to come later, again and again. The reflector waits for longer each time, and never for as long as all others.
func (t *trouble) busy() func() {
	const refusals = 7
	for range refusals {
		t.from.watches = append(t.from.watches, apierrors.NewTooManyRequests("later", 0))
	}
	t.r = cache.NewReflectorWithOptions(t.from, &metav1.PartialObjectMetadata{}, t.s, cache.ReflectorOptions{Name: "r", Clock: t.now})
	return func() {
		pause := 800 * time.Millisecond
		for n := range refusals {
			t.now.Step(pause)
			t.quiesce()
			t.requests(fmt.Sprintf("%v after watch %d was to come later", pause, n+1), 1, n+1)
			t.now.Step(pause)
			t.quiesce()
			t.requests(fmt.Sprintf("%v after watch %d was to come later", 2*pause, n+1), 1, n+2)
			pause = min(2*pause, 30*time.Second)
		}
	}
}

// silent is a server that does not answer a list until its reflector is gone, which does not wait for it.
func (t *trouble) silent() func() {
	t.from.answers = make(chan struct{})
	return func() {
		t.stop()
		t.quiesce()
		t.is("whether Run of a reflector returns that is stopped while it lists", true, closed(t.ended))
		close(t.from.answers)
		t.quiesce()
		t.is("ListKeys of what a list has filled that was answered too late", []string{}, sorted(t.s.ListKeys()))
		t.is("LastSyncResourceVersion after that", "", t.r.LastSyncResourceVersion())
	}
}

// ofAnotherKind is a server whose watch has objects of a kind that was not asked for. They are left out.
func (t *trouble) ofAnotherKind() func() {
	unstruct := func(kind, key, revision string) *unstructured.Unstructured {
		namespace, name := split(key)
		o := &unstructured.Unstructured{}
		o.SetAPIVersion("v1")
		o.SetKind(kind)
		o.SetNamespace(namespace)
		o.SetName(name)
		o.SetResourceVersion(revision)
		return o
	}
	of := []struct {
		expected any
		said     string
		seen     string // the last revision before c, which is not unstructured
		want     []string
	}{
		{unstruct("Pod", "", ""), "/v1, Kind=Pod", "6", []string{"ns1/a", "ns2/a"}},
		{&unstructured.Unstructured{}, "*unstructured.Unstructured", "7", []string{"ns1/a", "ns1/b", "ns2/a"}},
		{nil, "<unspecified>", "7", []string{"c", "ns1/a", "ns1/b", "ns2/a"}},
	}[t.IntN(3)]
	t.from.list.Items = nil
	table := unstruct("Table", "ns2/b", "7")
	table.SetAPIVersion([]string{"meta.k8s.io/v1", "meta.k8s.io/v1beta1"}[t.IntN(2)])
	lists := 1
	if t.IntN(2) == 0 { // a list that is a table is none
		lists = 2
		t.from.instead = &unstructured.UnstructuredList{Object: table.Object}
	}
	o := cache.ReflectorOptions{Name: "r", Clock: t.now, Backoff: &wait.Backoff{}}
	if t.IntN(2) == 0 { // which says nothing of what comes
		of.said, o.TypeDescription = "a name of one's own", "a name of one's own"
	}
	t.r = cache.NewReflectorWithOptions(t.from, of.expected, t.s, o)
	t.is("TypeDescription of a reflector", of.said, t.r.TypeDescription())
	return func() {
		t.requests("at first, of which a list may have been a table", lists, 1)
		t.from.watch.Add(unstruct("Pod", "ns1/a", "6"))
		other := unstruct([]string{"Service", "Pod"}[t.IntN(2)], "ns1/b", "7")
		if other.GetKind() == "Pod" {
			other.SetAPIVersion("v2")
		}
		t.from.watch.Add(other)
		t.from.watch.Add(table)
		t.quiesce()
		t.is("LastSyncResourceVersion after a watch with objects of other kinds", of.seen, t.r.LastSyncResourceVersion())
		t.from.watch.Add(object("c", 8))
		t.from.watch.Add(unstruct("Pod", "ns2/a", "9"))
		t.quiesce()
		t.is("ListKeys after a watch with objects of other kinds", of.want, sorted(t.s.ListKeys()))
		t.is("LastSyncResourceVersion after an object behind those of other kinds", "9", t.r.LastSyncResourceVersion())
		t.requests("after a watch with objects of other kinds", lists, 1)
	}
}
