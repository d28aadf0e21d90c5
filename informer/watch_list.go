package informer

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// bookmarkWarning is how often a watch-list whose bookmark does not come is complained of (I22).
const bookmarkWarning = 10 * time.Second

// initialEvents is what a watch-list has received so far (I13 to I24). It is kept apart from the queue until it is
// complete, and each attempt begins with nothing (I15, I23).
type initialEvents struct {
	store     *Indexer
	rv        string    // of the last event other than ADDED
	lastEvent time.Time // zero: none yet
	warnAt    time.Time
}

// startWatchList asks for a watch that begins with the present state, at least as new as what was seen, or the newest if
// that is not available (I14).
func (r *Reflector) startWatchList() {
	rv := r.lastSyncRV
	if r.unavailable {
		rv = ""
	}
	send := true
	r.initial = initialEvents{
		store:  NewIndexer(IndexerOptions{Transformer: r.o.Queue.Transformer()}),
		warnAt: r.now.Add(bookmarkWarning),
	}
	r.stream = stream{start: r.now}
	r.await(phaseWatchListOpening, Want{Op: OpWatch, Options: metav1.ListOptions{
		ResourceVersion:      rv,
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
		SendInitialEvents:    &send,
		AllowWatchBookmarks:  true,
		TimeoutSeconds:       r.watchTimeout(),
	}})
}

// watchListFailed decides what follows an attempt that ended with an error: another one after a backoff (I18), another one
// at once without a resourceVersion (I17), or a LIST, for this round only (I19, I21).
func (r *Reflector) watchListFailed(err error) {
	switch {
	case isWatchRetriable(err):
		r.sleep(phaseWatchListBackoff)
	case isUnavailable(err):
		r.unavailable = true
		r.startWatchList()
	default:
		r.fallBackToList()
	}
}

func (r *Reflector) fallBackToList() {
	r.initial = initialEvents{}
	r.startList()
}

func (r *Reflector) onInitialEvent(t watch.EventType, obj runtime.Object, rv string) {
	in := &r.initial
	end := false
	var err error
	switch t {
	case watch.Added:
		err = in.store.Add(obj)
	case watch.Modified:
		r.stream.besidesAdd = true
		err = in.store.Update(obj)
	case watch.Deleted:
		r.stream.besidesAdd = true
		err = in.store.Delete(obj)
	case watch.Bookmark:
		r.stream.besidesAdd = true
		end = endsInitialEvents(obj)
	default:
		r.report("reflector %s: unknown watch event type %q at resourceVersion %s", r.o.Name, t, rv)
	}
	if err != nil {
		r.report("reflector %s: %s event at resourceVersion %s not stored: %w", r.o.Name, t, rv, err)
	}
	r.stream.events++
	if r.stream.besidesAdd {
		in.rv = rv
	}
	in.lastEvent = r.now
	if end {
		r.watchListCompleted()
	}
}

// endsInitialEvents says whether a bookmark is the one that ends the initial events (I16).
func endsInitialEvents(obj runtime.Object) bool {
	m := metaOf(obj)
	return m != nil && m.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true"
}

// watchListCompleted hands everything to the queue at the bookmark's resourceVersion and goes on with the same stream,
// whose life begins anew: it counts as very short if it ends within a second without events from here on (I16).
func (r *Reflector) watchListCompleted() {
	rv, items := r.initial.rv, r.initial.store.List()
	r.unavailable = false
	if r.o.WatchListCompleted != nil {
		r.o.WatchListCompleted(rv, items)
	}
	if err := r.o.Queue.Replace(items, rv); err != nil {
		r.report("reflector %s: unable to sync watch-list result, falling back to a list: %w", r.o.Name, err)
		r.fallBackToList()
		return
	}
	r.initial = initialEvents{}
	r.lastSyncRV = rv
	r.stream = stream{start: r.now, inRVOrder: true}
	r.phase = phaseWatching
	r.beginWatching()
}

// warnOfMissingBookmark is the only consequence of a bookmark that does not come (I22).
func (r *Reflector) warnOfMissingBookmark() {
	in := &r.initial
	if r.now.Before(in.warnAt) {
		return
	}
	for !r.now.Before(in.warnAt) {
		in.warnAt = in.warnAt.Add(bookmarkWarning)
	}
	if in.lastEvent.IsZero() {
		r.report("reflector %s: no events received for %v, the bookmark that ends the initial events is awaited",
			r.o.Name, r.now.Sub(r.stream.start))
	} else if quiet := r.now.Sub(in.lastEvent); quiet >= bookmarkWarning {
		r.report("reflector %s: the bookmark that ends the initial events has not come, the last event was %v ago",
			r.o.Name, quiet)
	}
}
