package informer

import (
	"reflect"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// veryShortWatch is the duration below which a watch without events counts as failed (I32).
const veryShortWatch = time.Second

// stream is the open watch.
type stream struct {
	start     time.Time // when it was requested: some proxies hold the answer back until the first event
	events    int
	inRVOrder bool // it was requested at a resourceVersion, so no synthetic ADDED events come first (I26)
	sawNonAdd bool // something other than ADDED has come, so those are over
}

// openWatch requests a watch from where the last watch or list ended.
func (r *Reflector) openWatch() {
	rv := r.lastSyncRV
	r.stream = stream{start: r.now, inRVOrder: rv != "" && rv != "0"}
	r.await(phaseOpening, Want{Op: OpWatch, Options: metav1.ListOptions{
		ResourceVersion:     rv,
		TimeoutSeconds:      r.watchTimeout(),
		AllowWatchBookmarks: true,
	}})
}

// OnWatchOpened answers an OpWatch: the stream is open.
func (r *Reflector) OnWatchOpened() {
	switch r.phase {
	case phaseWatchListOpening:
		r.phase = phaseWatchListing
	case phaseOpening:
		r.phase = phaseWatching
		if r.resyncErr != nil {
			r.watchEnded(r.resyncErr)
		}
	}
}

// OnWatchOpenError answers an OpWatch: there is no stream. If the server is busy or unreachable, the watch is retried later
// from the same resourceVersion; any other error ends the round (I33).
func (r *Reflector) OnWatchOpenError(err error) {
	switch {
	case r.phase == phaseWatchListOpening:
		r.watchListFailed(err)
	case r.phase != phaseOpening:
	case isWatchRetriable(err):
		r.sleep(phaseWatchBackoff)
	default:
		r.endRound(err)
	}
}

// OnEvent hands over an event of the open stream.
func (r *Reflector) OnEvent(e watch.Event) { r.OnObject(e.Type, e.Object, "") }

// OnObject is OnEvent for callers that know the object's resourceVersion, which saves the lookup. rv "" means unknown.
func (r *Reflector) OnObject(t watch.EventType, obj runtime.Object, rv string) {
	r.OnKeyed(t, "", obj, rv)
}

// OnKeyed is OnObject for callers that also know the object's key, as MetaNamespaceKey returns it. key "" means unknown.
func (r *Reflector) OnKeyed(t watch.EventType, key string, obj runtime.Object, rv string) {
	if !r.StreamOpen() {
		return
	}
	if t == watch.Error {
		r.streamFailed(apierrors.FromObject(obj))
		return
	}
	if !r.accepts(obj) {
		return
	}
	if rv == "" {
		m := metaOf(obj)
		if m == nil {
			r.report("reflector %s: skipped a %s event: %T has no metadata", r.o.Name, t, obj)
			return
		}
		rv = m.GetResourceVersion()
	}
	if r.phase == phaseWatchListing {
		r.onInitialEvent(t, obj, rv)
		return
	}
	if err := r.write(t, key, obj, rv); err != nil {
		r.report("reflector %s: %s event at resourceVersion %s not queued: %w", r.o.Name, t, rv, err) // I30
	}
	r.stream.events++
	// The watch continues from the event's resourceVersion, whether greater or not (I27).
	if r.stream.inRVOrder || r.stream.sawNonAdd {
		r.lastSyncRV = rv
		if r.o.OnResourceVersion != nil {
			r.o.OnResourceVersion(rv)
		}
	}
}

// write enqueues the event.
func (r *Reflector) write(t watch.EventType, key string, obj runtime.Object, rv string) error {
	keyed := r.keyed != nil && key != ""
	switch t {
	case watch.Added:
		if keyed {
			return r.keyed.WriteKeyed(cache.Added, key, obj)
		}
		return r.o.Queue.Add(obj)
	case watch.Modified:
		r.stream.sawNonAdd = true
		if keyed {
			return r.keyed.WriteKeyed(cache.Updated, key, obj)
		}
		return r.o.Queue.Update(obj)
	case watch.Deleted:
		r.stream.sawNonAdd = true
		if keyed {
			return r.keyed.WriteKeyed(cache.Deleted, key, obj)
		}
		return r.o.Queue.Delete(obj)
	case watch.Bookmark:
		r.stream.sawNonAdd = true
		return r.o.Queue.Bookmark(rv) // I28
	}
	// Of an unknown event only the resourceVersion is used, as client-go does.
	r.report("reflector %s: unknown watch event type %q at resourceVersion %s", r.o.Name, t, rv)
	return nil
}

// accepts reports whether the object is of the expected type and not a Table. Other objects are skipped, and the
// resourceVersion does not advance (I29).
func (r *Reflector) accepts(obj runtime.Object) bool {
	if r.expectedType != nil && reflect.TypeOf(obj) != r.expectedType {
		r.report("reflector %s: skipped a watch event: expected an object of type %v, got %T", r.o.Name, r.expectedType, obj)
		return false
	}
	if r.expectedGVK != nil {
		if got := obj.GetObjectKind().GroupVersionKind(); got != *r.expectedGVK {
			r.report("reflector %s: skipped a watch event: expected %v, got %v", r.o.Name, *r.expectedGVK, got)
			return false
		}
	}
	if u, ok := obj.(*unstructured.Unstructured); ok && isTableObject(u) {
		r.report("reflector %s: skipped a watch event: a Table is not an object of the resource", r.o.Name)
		return false
	}
	return true
}

// OnWatchClosed reports that the open stream ended: nil or an EOF for a stream that was closed or cut, which a client
// cannot tell apart; anything else for a frame that could not be decoded, which a client turns into an ERROR event (I37).
func (r *Reflector) OnWatchClosed(err error) {
	switch {
	case !r.StreamOpen():
	case !isSilentClose(err):
		r.streamFailed(decodingError(err))
	case r.tooShort():
		r.streamFailed(&cache.VeryShortWatchError{Name: r.o.Name})
	case r.phase == phaseWatchListing:
		r.startWatchList() // I20
	default:
		r.openWatch() // I31
	}
}

func (r *Reflector) streamFailed(err error) {
	if r.phase == phaseWatchListing {
		r.watchListFailed(err)
	} else {
		r.watchEnded(err)
	}
}

func (r *Reflector) tooShort() bool {
	return r.stream.events == 0 && r.now.Sub(r.stream.start) < veryShortWatch
}

// watchEnded decides what follows a watch that ended with an error: a new watch after a backoff (429), a new watch at once
// (internal errors, for a while), or the end of the round without calling the error handler (I34).
func (r *Reflector) watchEnded(err error) {
	r.resyncErr = nil
	internal := apierrors.IsInternalError(err)
	if internal {
		r.retry.onError(r.now)
	}
	switch {
	case IsExpired(err):
		// The resourceVersion is not marked unavailable: a list may still be served at it (I35).
		r.endRound(nil)
	case apierrors.IsTooManyRequests(err):
		r.sleep(phaseWatchBackoff)
	case internal && r.retry.mayRetry(r.now):
		r.openWatch()
	default:
		r.endRound(nil)
	}
}
