package informer

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// bookmarkWarningPeriod is the interval of warnings about a watch-list's missing bookmark (I22).
const bookmarkWarningPeriod = 10 * time.Second

// initialEvents holds what a watch-list has received so far (I13 to I24). It stays out of the queue until it is complete,
// and each attempt starts empty (I15, I23).
type initialEvents struct {
	store     *Indexer
	rv        string    // of the last event other than ADDED
	lastEvent time.Time // zero: none yet
	warnAt    time.Time
}

// startWatchList requests a watch that begins with the current state, at least as new as what was seen, or the newest if
// that is unavailable (I14).
func (r *Reflector) startWatchList() {
	rv := r.lastSyncRV
	if r.unavailable {
		rv = ""
	}
	send := true
	r.initial = initialEvents{
		store:  NewIndexer(IndexerOptions{Transformer: r.o.Queue.Transformer()}),
		warnAt: r.now.Add(bookmarkWarningPeriod),
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

// watchListFailed decides what follows a failed attempt: a retry after a backoff (I18), a retry at once without a
// resourceVersion (I17), or a LIST, for this round only (I19, I21).
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
		r.stream.sawNonAdd = true
		err = in.store.Update(obj)
	case watch.Deleted:
		r.stream.sawNonAdd = true
		err = in.store.Delete(obj)
	case watch.Bookmark:
		r.stream.sawNonAdd = true
		end = endsInitialEvents(obj)
	default:
		r.report("reflector %s: unknown watch event type %q at resourceVersion %s", r.o.Name, t, rv)
	}
	if err != nil {
		r.report("reflector %s: %s event at resourceVersion %s not stored: %w", r.o.Name, t, rv, err)
	}
	r.stream.events++
	if r.stream.sawNonAdd {
		in.rv = rv
	}
	in.lastEvent = r.now
	if end {
		r.watchListCompleted()
	}
}

// endsInitialEvents reports whether a bookmark ends the initial events (I16).
func endsInitialEvents(obj runtime.Object) bool {
	m := metaOf(obj)
	return m != nil && m.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true"
}

// watchListCompleted hands everything to the queue at the bookmark's resourceVersion and continues with the same stream,
// whose lifetime restarts: it counts as very short if it ends within a second without further events (I16).
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

// warnMissingBookmark reports a missing bookmark, which has no other consequence (I22).
func (r *Reflector) warnMissingBookmark() {
	in := &r.initial
	if r.now.Before(in.warnAt) {
		return
	}
	for !r.now.Before(in.warnAt) {
		in.warnAt = in.warnAt.Add(bookmarkWarningPeriod)
	}
	if in.lastEvent.IsZero() {
		r.report("reflector %s: no events received for %v, the bookmark that ends the initial events is awaited",
			r.o.Name, r.now.Sub(r.stream.start))
	} else if quiet := r.now.Sub(in.lastEvent); quiet >= bookmarkWarningPeriod {
		r.report("reflector %s: the bookmark that ends the initial events has not come, the last event was %v ago",
			r.o.Name, quiet)
	}
}
