package library

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	clocktesting "k8s.io/utils/clock/testing"
)

// resynced is a store that counts its resyncs.
type resynced struct {
	cache.Store
	n int
}

// Resync implements cache.ReflectorStore.
func (s *resynced) Resync() error {
	s.n++
	return nil
}

// reflectors fill a store of their own: one list, one watch, and a resync after each period unless somebody says that none is due. The time is a
// clock's of the check.
func reflectors(c *check) {
	from := &source{list: &metav1.PartialObjectMetadataList{}, watch: watch.NewFakeWithChanSize(8, false)}
	from.list.ResourceVersion, from.paged = "5", c.IntN(2) == 0
	from.list.Items = append(from.list.Items, *object("ns1/a", 1))
	m := model{"ns1/a": object("ns1/a", 1), "c": object("c", 6)}
	now := clocktesting.NewFakeClock(time.Unix(1000, 0))
	shortest, period := time.Duration(c.IntN(15))*time.Minute, time.Duration(c.IntN(3))*time.Minute
	s := &resynced{Store: cache.NewStore(cache.MetaNamespaceKeyFunc)}
	r := cache.NewReflectorWithOptions(from, &metav1.PartialObjectMetadata{}, s, cache.ReflectorOptions{Name: "r", ResyncPeriod: period, MinWatchTimeout: shortest, Clock: now, Backoff: &wait.Backoff{}})
	c.inside("the longest timeout of a watch", 2*max(shortest, 5*time.Minute), r, "maxWatchTimeout")
	due := true
	if c.IntN(2) == 0 {
		r.ShouldResync = func() bool { return due }
	}
	cancel, ended := running(r.RunWithContext)
	c.quiesce()
	c.asked(from, shortest)
	from.watch.Add(object("c", 6))
	c.quiesce()
	c.holds(" of a reflector", s, m)
	c.is("LastSyncResourceVersion", "6", r.LastSyncResourceVersion())
	want := 0
	for range 4 {
		if period > 0 && due {
			want++
		}
		now.Step(max(period, time.Minute))
		c.quiesce()
		c.is("how many resyncs there were", want, s.n)
		due = r.ShouldResync == nil || c.IntN(2) == 0
	}
	c.relists(from, r)
	cancel()
	c.quiesce()
	select {
	case <-ended:
	default:
		c.is("Run of a reflector that is stopped", "it returns", "it does not")
	}
	c.reflectorTimers()
}

// asked compares the first list and the first watch with what a reflector has to ask for (I5, I25).
func (c *check) asked(from *source, shortest time.Duration) {
	pages := 1
	if from.paged {
		pages = 2
	}
	if len(from.listed) != pages || len(from.watched) != 1 {
		c.is("how many lists and watches there were", [2]int{pages, 1}, [2]int{len(from.listed), len(from.watched)})
		return
	}
	list, w := from.listed[0], from.watched[0]
	c.is("the resourceVersion of the first list", "0", list.ResourceVersion)
	c.is("the limit of the first list", int64(500), list.Limit)
	c.is("the resourceVersion of the watch", "5", w.ResourceVersion)
	c.is("whether the watch asks for bookmarks", true, w.AllowWatchBookmarks)
	shortest = max(shortest, 5*time.Minute)
	timeout := time.Duration(0)
	if w.TimeoutSeconds != nil {
		timeout = time.Duration(*w.TimeoutSeconds) * time.Second
	}
	c.is("whether the timeout of the watch is "+shortest.String()+" to twice that", true, timeout >= shortest && timeout <= 2*shortest)
}

// relists has the watch of a reflector expire. The list that follows asks for pages only if the first list, from a watch cache, came in pages (I5, I6). It may be
// older, since a server can be restored.
func (c *check) relists(from *source, r *cache.Reflector) {
	before, now := len(from.listed), []string{"9", "3", "12", ""}[c.IntN(4)]
	from.list.ResourceVersion = now
	from.watch.Error(&apierrors.NewResourceExpired("it has expired").ErrStatus)
	c.quiesce()
	if len(from.listed) == before {
		c.is("whether there is a list after a watch that has expired", true, false)
		return
	}
	limit := int64(0)
	if from.paged {
		limit = 500
	}
	c.is("the limit of a list after a first one in pages, or in one", limit, from.listed[before].Limit)
	c.is("the resourceVersion of a list after a watch that has expired", "6", from.listed[before].ResourceVersion)
	c.is("LastSyncResourceVersion after that list", now, r.LastSyncResourceVersion())
	c.is("the resourceVersion of the watch after that list", now, from.watched[len(from.watched)-1].ResourceVersion)
}

// controllers process what is queued with a function of their own, which fails once. No object waits for another one because of that.
func controllers(c *check) {
	from := newSource()
	for n, key := range keys {
		from.list.Items = append(from.list.Items, *object(key, n+1))
	}
	var q cache.Queue = cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{KnownObjects: cache.NewStore(cache.MetaNamespaceKeyFunc)})
	if c.IntN(2) == 0 {
		q = cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KnownObjects: cache.NewStore(cache.MetaNamespaceKeyFunc), EmitDeltaTypeReplaced: true})
	}
	processed, fails := 0, 1+c.IntN(len(keys))
	page := int64(c.IntN(2) * 7)
	control := cache.New(&cache.Config{Queue: q, ListerWatcher: from, ObjectType: &metav1.PartialObjectMetadata{}, WatchListPageSize: page, Process: func(any, bool) error {
		if processed++; processed == fails {
			return errors.New("it cannot be processed")
		}
		return nil
	}})
	ctx, cancel := context.WithCancel(context.Background())
	go control.RunWithContext(ctx)
	c.quiesce()
	c.is(fmt.Sprintf("how many objects are processed, of which number %d fails", fails), len(keys), processed)
	c.is("HasSynced of a controller with a function that has failed once", true, control.HasSynced())
	if page == 0 {
		page = 500
	}
	if len(from.listed) > 0 {
		c.is("the limit of a controller's first list", page, from.listed[0].Limit)
	}
	cancel()
	c.quiesce()
	c.is("LastSyncResourceVersion of a controller that has ended", "5", control.LastSyncResourceVersion())
	c.configuredErrorHandler()
	c.panicsInProcess()
}

// configuredErrorHandler is a controller of somebody's own, whose configuration says whom its reflector tells of a list that fails. Of two handlers it is the
// one without a context.
func (c *check) configuredErrorHandler() {
	failure := errors.New("it is broken")
	from := &refusing{source: *newSource(), list1: failure}
	var told []string
	tell := func(whom string, err error) {
		told = append(told, fmt.Sprint(whom, ", whether that is why: ", errors.Is(err, failure)))
	}
	o := &cache.Config{
		Queue: cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{KnownObjects: cache.NewStore(cache.MetaNamespaceKeyFunc)}), ListerWatcher: from,
		ObjectType: &metav1.PartialObjectMetadata{}, Process: func(any, bool) error { return nil },
	}
	has, whom := c.IntN(3), "the handler without a context"
	if has < 2 {
		o.WatchErrorHandler = func(_ *cache.Reflector, err error) { tell("the handler without a context", err) }
	}
	if has > 0 {
		o.WatchErrorHandlerWithContext = func(_ context.Context, _ *cache.Reflector, err error) { tell("the handler with a context", err) }
	}
	if has == 2 {
		whom = "the handler with a context"
	}
	ctx, cancel := context.WithCancel(context.Background())
	go cache.New(o).RunWithContext(ctx)
	c.quiesce()
	c.is("whom a controller tells of a list that failed", []string{whom + ", whether that is why: true"}, told)
	cancel()
	c.quiesce()
}
