package library

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/informer"
	"github.com/informersim/informersim/informer/workqueue"
)

// takenTwice has a key taken twice before it is done, which who has called Done for a key that it never took can do. It is processed once, so that a drain
// waits for one Done.
func (c *check) takenTwice() {
	q := workqueue.NewQueue[string](nil)
	q.Add("a")
	c.is("Done of a key that is ready: it is ready again", true, q.Done("a"))
	for range 2 {
		key, _, _ := q.TryGet()
		c.is("TryGet of a key that is ready twice", "a", key)
		c.is("Processing of a key that is ready twice", 1, q.Processing())
	}
	q.ShutDownWithDrain()
	c.is("Done of a key that was taken twice", false, q.Done("a"))
	c.is("Processing and Draining after that", "0 false", fmt.Sprint(q.Processing(), " ", q.Draining()))
}

// cleared forgets all that waits, and has some of it wait again. However short a wait is, it is one.
func (c *check) cleared() {
	w := workqueue.NewWaiting[string]()
	for n, key := range keys {
		w.Add(key, start.Add(time.Duration(n)*time.Second))
	}
	w.Clear()
	c.is("Len of what waits after Clear", 0, w.Len())
	key := c.key()
	w.Add(key, start.Add(time.Hour))
	c.is("Len of what waits again after Clear", 1, w.Len())
	_, due := w.PopDue(start.Add(time.Hour - 1))
	c.is("PopDue a moment before what waits again", false, due)
	got, due := w.PopDue(start.Add(time.Hour))
	c.is("PopDue of what waits again", fmt.Sprint(key, " ", true), fmt.Sprint(got, " ", due))
	q := workqueue.NewDelayingQueue[string](nil)
	c.is("AddAfter 1 ns", workqueue.AddDelayed, q.AddAfter(start, "a", 1))
	c.is("Advance to the time that it was added", 0, q.Advance(start))
	c.is("Advance by 1 ns", 1, q.Advance(start.Add(1)))
}

// resyncFailsOnce has a resync fail between two watches with an error that leads to another watch. That error ends the first of them, and no other.
func (c *check) resyncFailsOnce() {
	q := &failsOnce{err: apierrors.NewTooManyRequests("busy", 1)}
	internal := c.oneIn(2)
	if internal {
		q.err = apierrors.NewInternalError(errors.New("broken"))
	}
	r := informer.NewReflector(informer.ReflectorOptions{Queue: q, ResyncPeriod: resyncPeriod, MaxInternalErrorRetryDuration: retried})
	r.Start(start)
	r.OnPage(nil, "10", "", nil)
	r.OnTime(start.Add(resyncPeriod))
	r.OnWatchOpened()
	if !internal {
		c.is("what it asks for once a watch is open, after a resync to which the server was too busy", informer.OpSleep, r.Want().Op)
		r.OnTime(r.Want().Until)
	}
	c.is("what it asks for after a resync that has failed", fmt.Sprint(informer.OpWatch, " 10"), fmt.Sprint(r.Want().Op, " ", r.Want().Options.ResourceVersion))
	r.OnWatchOpened()
	c.is("whether the watch after that stays open", true, r.Watching())
}

// failsOnce is the destination of a Reflector whose first resync fails.
type failsOnce struct {
	refusing
	err error
}

func (q *failsOnce) Resync() error {
	err := q.err
	q.err = nil
	return err
}

// listedTwice has a Controller process an atomic list that has an object twice, which the store may have: both are told as what they are to the store
// before the list.
func (c *check) listedTwice() {
	x := informer.NewIndexer(informer.IndexerOptions{})
	var got []string
	k := &informer.Controller{Store: x, Distribute: func(n informer.Notification) {
		got = append(got, fmt.Sprintf("%v %s -> %s", n.Type, text(n.Old), text(n.New)))
	}}
	obj, last := object("ns1/a", 2), object("ns1/a", 3)
	want := []string{fmt.Sprintf("%v <nil> -> ns1/a@2", informer.NotifyAdd), fmt.Sprintf("%v <nil> -> ns1/b@2", informer.NotifyAdd), fmt.Sprintf("%v <nil> -> ns1/a@3", informer.NotifyAdd)}
	if c.oneIn(2) {
		c.is("Add", nil, x.Add(object("ns1/a", 1)))
		want[0], want[2] = fmt.Sprintf("%v ns1/a@1 -> ns1/a@2", informer.NotifyUpdate), fmt.Sprintf("%v ns1/a@1 -> ns1/a@3", informer.NotifyUpdate)
	}
	list := cache.ReplacedAllInfo{ResourceVersion: "4", Objects: []any{obj, object("ns1/b", 2), last}}
	c.is("HandleDeltas of a list that has an object twice", nil, k.HandleDeltas(&informer.Popped{Deltas: cache.Deltas{{Type: cache.ReplacedAll, Object: list}}}))
	c.is("what is told of a list that has an object twice", strings.Join(want, ", "), strings.Join(got, ", "))
	c.is("List after that", "[ns1/a@3 ns1/b@2]", fmt.Sprint(texts(x.List())))
}

// indexedAtOnce adds several indices at once to an Indexer that has some objects. Each of them has all.
func (c *check) indexedAtOnce() {
	x := informer.NewIndexer(informer.IndexerOptions{})
	for _, key := range keys {
		c.is("Add", nil, x.Add(object(key, 1)))
	}
	names, added := []string{"x", "y", "z"}[:2+c.IntN(2)], cache.Indexers{}
	for _, name := range names {
		added[name] = func(any) ([]string, error) { return []string{"of " + name}, nil }
	}
	c.is("AddIndexers", nil, x.AddIndexers(added))
	for _, name := range names {
		of, err := x.IndexKeys(name, "of "+name)
		c.is("IndexKeys", nil, err)
		c.is(fmt.Sprintf("IndexKeys of %s, one of %d indices that were added at once", name, len(names)), fmt.Sprint(keys), fmt.Sprint(of))
	}
}

// indexedLate adds an index to an Indexer whose objects may be in none, and has one that repeats a value which is not beside itself. A tombstone deletes,
// and says of no revision.
func (c *check) indexedLate() {
	ends := func(obj any) ([]string, error) { // none, or one that comes first and last
		if rv := obj.(metav1.Object).GetResourceVersion(); rv != "1" {
			return []string{rv, "all", rv}, nil
		}
		return nil, nil
	}
	x := informer.NewIndexer(informer.IndexerOptions{Indexers: cache.Indexers{"ends": ends}})
	for n, key := range keys {
		c.is("Add", nil, x.Add(object(key, 1+n%2)))
	}
	c.is("AddIndexers beside an index that has not all", nil, x.AddIndexers(cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}))
	for _, namespace := range []string{"ns1", "ns2"} {
		of, err := x.IndexKeys(cache.NamespaceIndex, namespace)
		c.is("IndexKeys", nil, err)
		c.is("IndexKeys of an index that was added late, with "+namespace, fmt.Sprintf("[%[1]s/a %[1]s/b]", namespace), fmt.Sprint(of))
	}
	of, err := x.IndexKeys("ends", "2")
	c.is("IndexKeys", nil, err)
	c.is("IndexKeys of a value that an index function repeats", "[ns1/b ns2/b]", fmt.Sprint(of))
	key := keys[1+2*c.IntN(2)]
	c.is("Update to what is in no index", nil, x.Update(object(key, 1)))
	of, err = x.IndexKeys("ends", "2")
	c.is("IndexKeys", nil, err)
	c.is("IndexKeys of a value that an object had", fmt.Sprint(slices.DeleteFunc([]string{"ns1/b", "ns2/b"}, func(k string) bool { return k == key })), fmt.Sprint(of))
	x.Bookmark("7")
	x.DeleteKey(key, cache.DeletedFinalStateUnknown{Key: key, Obj: object(key, 3)})
	c.is("Len after a tombstone", len(keys)-1, x.Len())
	c.is("LastStoreSyncResourceVersion after a tombstone", "7", x.LastStoreSyncResourceVersion())
}
