package library

import (
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/informer"
	"github.com/informersim/informersim/informer/workqueue"
)

// untaken is done with a key that nobody has taken. It is ready twice then, as in client-go, and a key like any other once both are done.
func (c *check) untaken() {
	q := workqueue.NewQueue[string](nil)
	others := c.IntN(3)
	for n := range others {
		q.Add(fmt.Sprint("k", n))
	}
	q.Add("a")
	c.is("Done of a key that is ready: it is ready again", true, q.Done("a"))
	c.is("Len after that", others+2, q.Len())
	for q.Len() > 0 {
		left := q.Len()
		key, _, _ := q.TryGet()
		if left <= 2 {
			c.is("TryGet of the key that is ready twice", "a", key)
		}
		c.is("Done of "+key, false, q.Done(key))
		c.is("Processing after that", 0, q.Processing())
	}
	c.is("Add of a key that was ready twice", workqueue.AddReady, q.Add("a"))
	c.is("Add of another one", workqueue.AddReady, q.Add("b"))
	c.is("Len of both", 2, q.Len())
}

// doubtful is a store that fails for a key, and has none.
type doubtful struct{ known }

func (doubtful) ListKeys() []string { return []string{"ns1/a"} }

func (doubtful) GetByKey(string) (any, bool, error) {
	return nil, false, errors.New("it cannot be read")
}

// doubts has a queue look at a store that cannot give what it names. The object may be there: a deletion of it is told. So is its end by a list that does
// not have it, without the object. A resync leaves it out.
func (c *check) doubts(byKey bool) {
	q := informer.Queue(informer.NewRealFIFO(informer.RealFIFOOptions{KnownObjects: doubtful{}}))
	if byKey {
		q = informer.NewDeltaFIFO(informer.DeltaFIFOOptions{KnownObjects: doubtful{}})
	}
	var want string
	switch c.IntN(3) {
	case 0:
		c.is("Delete of what may be in the store", nil, q.Delete(object("ns1/a", 1)))
		want = queued(cache.Deleted, "ns1/a", object("ns1/a", 1))
	case 1:
		c.is("Replace of what may be in the store", nil, q.Replace(nil, "1"))
		want = queued(cache.Deleted, "ns1/a", cache.DeletedFinalStateUnknown{Key: "ns1/a"})
	default:
		c.is("Resync of what may be in the store", nil, q.Resync())
	}
	var p informer.Popped
	got := ""
	if q.Pop(&p) {
		got = queued(p.Deltas[0].Type, p.Key, p.Deltas[0].Object)
	}
	c.is("Pop of what may be in the store", want, got)
}

// told is a limiter that notes what it is told. It counts nothing.
type told struct{ calls []string }

func (l *told) When(_ time.Time, key string) time.Duration {
	l.calls = append(l.calls, "when "+key)
	return time.Hour
}

func (l *told) Forget(key string) { l.calls = append(l.calls, "forget "+key) }

func (l *told) NumRequeues(string) int { return 0 }

// passedOn has a rate limited queue pass on to its limiter whatever it is told, if it is shut down, too.
func (c *check) passedOn() {
	l := &told{}
	q := workqueue.NewRateLimitingQueue[string](nil, l)
	var want []string
	for n := range 8 {
		if n == 4 {
			q.ShutDown()
		}
		key := c.key()
		if c.oneIn(2) {
			q.AddRateLimited(start, key)
			want = append(want, "when "+key)
		} else {
			q.Forget(key)
			want = append(want, "forget "+key)
		}
	}
	c.is("what the limiter of a queue is told", want, l.calls)
}

// renames is an Indexer whose transform changes the names of objects: those are under the keys that they came with.
func (c *check) renames() {
	x := informer.NewIndexer(informer.IndexerOptions{Transformer: func(obj any) (any, error) {
		o := obj.(*metav1.PartialObjectMetadata).DeepCopy()
		o.Name = "b"
		return o, nil
	}})
	obj := object("ns2/a", 1)
	if c.oneIn(2) {
		c.is("Add of what is renamed", nil, x.Add(obj))
	} else {
		c.is("Replace by what is renamed", nil, x.Replace([]any{obj}, "1"))
	}
	c.is("ListKeys and List of what was renamed", "[ns2/a] [ns2/b@1]", fmt.Sprint(x.ListKeys(), texts(x.List())))
}
