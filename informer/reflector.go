package informer

import (
	"fmt"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// defaultMinWatchTimeout is also the lower bound of ReflectorOptions.MinWatchTimeout (I25).
const defaultMinWatchTimeout = 5 * time.Minute

// ReflectorOptions configures a Reflector. Queue must be set; the zero value of the rest gives the defaults of client-go's
// Reflector, without a resync.
type ReflectorOptions struct {
	// Queue is the destination.
	Queue QueueWriter
	// Name appears in errors.
	Name string
	// TypeDescription names the type in errors. "" means the expected type's name.
	TypeDescription string
	// ExpectedType is an example of the accepted objects, nil for any. An *unstructured.Unstructured with apiVersion and
	// kind must match in those too (I29).
	ExpectedType any
	// ResyncPeriod is the time between resyncs while watching; 0 disables them (I38).
	ResyncPeriod time.Duration
	// ShouldResync decides after each ResyncPeriod whether to resync. nil means always.
	ShouldResync func(now time.Time) bool
	// WatchListPageSize is the limit of lists; 0 means client-go's choice (I5).
	WatchListPageSize int64
	// MinWatchTimeout is the shortest timeout requested for a watch, at least 5 minutes; the longest is twice that (I25).
	MinWatchTimeout time.Duration
	// MaxInternalErrorRetryDuration is how long in-stream internal errors lead to a new watch instead of a new list (I34).
	MaxInternalErrorRetryDuration time.Duration
	// WatchList starts each round with a streaming list, falling back to a LIST if that fails (I13). client-go does so
	// unless the client declares that it cannot.
	WatchList bool
	// WatchListCompleted receives the result of a streaming list, in ascending key order, before the queue does: the place
	// for CheckConsistency (I24). It must not retain the slice.
	WatchListCompleted func(resourceVersion string, items []any)
	// Backoff configures the delay between attempts (I12).
	Backoff BackoffOptions
	// Random returns a number in [0,1) for jitter and watch timeouts. nil means always 0.
	Random func() float64
	// WatchErrorHandler is called with the error of a failed ListAndWatch, before the backoff (I11). It may be nil.
	WatchErrorHandler func(err error)
	// HandleError is called with the errors that client-go only logs: skipped events and queue errors (I29, I30). It may be
	// nil.
	HandleError func(err error)
	// OnResourceVersion is called with each resourceVersion that the watch reaches, like client-go's
	// ResourceVersionUpdater.
	OnResourceVersion func(resourceVersion string)
}

// phase is the state of a Reflector.
type phase uint8

const (
	phaseNew              phase = iota
	phaseWatchListOpening       // a WATCH that begins with the initial events is in flight
	phaseWatchListing           // its initial events are coming
	phaseWatchListBackoff       // busy server: the watch-list is retried later (I18)
	phaseListing                // a LIST is in flight
	phaseOpening                // a WATCH is in flight, its stream not open yet
	phaseWatching               // the stream is open
	phaseWatchBackoff           // busy server: the watch is retried later, without a list (I33)
	phaseBackoff                // ListAndWatch returned, another follows (I12)
	phaseStopped
)

// Reflector keeps a queue up to date with a server: it lists, then watches, and starts over when that ends (I1 to I39). It
// performs no I/O. Want says what it is waiting for; the On methods report what happened, and are ignored if they do not
// answer the current want. Its clock is set by Start, SetTime and OnTime: call one of them first when time has passed.
//
// It is not safe for concurrent use.
type Reflector struct {
	o            ReflectorOptions
	keyed        KeyedWriter // the queue, if it is one
	expectedType reflect.Type
	expectedGVK  *schema.GroupVersionKind
	minTimeout   time.Duration
	backoff      *Backoff

	now   time.Time
	phase phase
	want  Want

	lastSyncRV    string
	unavailable   bool // the last LIST at lastSyncRV got a 410 or too-large (I2)
	paginatedList bool // the server pages even lists at "0" (I6)

	initial  initialEvents // of the current watch-list
	stopping bool          // Stop was called during a backoff that ignores it (I18)

	pager     pager
	listedRV  string // requested by the first attempt of this list
	relisting bool   // the list is being retried at "" (I3)

	stream    stream
	retry     retryDeadline
	resyncAt  time.Time // zero: the resync timer is not running
	resyncErr error     // of a resync while no stream was open (I39)
}

// NewReflector returns a Reflector that waits for Start.
func NewReflector(o ReflectorOptions) *Reflector {
	r := &Reflector{o: o, minTimeout: max(o.MinWatchTimeout, defaultMinWatchTimeout)}
	r.keyed, _ = o.Queue.(KeyedWriter)
	if o.ExpectedType != nil {
		r.expectedType = reflect.TypeOf(o.ExpectedType)
	}
	if u, ok := o.ExpectedType.(*unstructured.Unstructured); ok {
		if gvk := u.GroupVersionKind(); !gvk.Empty() {
			r.expectedGVK = &gvk
		}
	}
	if r.o.TypeDescription == "" {
		r.o.TypeDescription = describeType(r.expectedType, r.expectedGVK)
	}
	return r
}

func describeType(t reflect.Type, gvk *schema.GroupVersionKind) string {
	switch {
	case gvk != nil:
		return gvk.String()
	case t != nil:
		return t.String()
	}
	return "<unspecified>"
}

// Name returns the Reflector's name.
func (r *Reflector) Name() string { return r.o.Name }

// TypeDescription returns the name of the expected type.
func (r *Reflector) TypeDescription() string { return r.o.TypeDescription }

// LastSyncResourceVersion returns the resourceVersion of the last list or accepted event (I10, I27), or "" before the first
// list.
func (r *Reflector) LastSyncResourceVersion() string { return r.lastSyncRV }

// Watching reports whether a watch stream is open and past its initial events, if it has any.
func (r *Reflector) Watching() bool { return r.phase == phaseWatching }

// StreamOpen reports whether a watch stream is open, so that OnEvent and OnWatchClosed apply.
func (r *Reflector) StreamOpen() bool {
	return r.phase == phaseWatching || r.phase == phaseWatchListing
}

// Stopped reports whether Stop has taken effect.
func (r *Reflector) Stopped() bool { return r.phase == phaseStopped }

// Want returns what the Reflector is waiting for. It belongs to the Reflector: do not modify it, and read it again when Seq
// changes.
func (r *Reflector) Want() *Want { return &r.want }

// Seq returns Want().Seq.
func (r *Reflector) Seq() uint64 { return r.want.Seq }

// NextResync returns when the resync timer fires and whether it is running, which it is only while watching (I38).
func (r *Reflector) NextResync() (at time.Time, running bool) {
	return r.resyncAt, !r.resyncAt.IsZero()
}

// NextTime returns when OnTime is next due: the end of a sleep, the resync timer or the warning about a missing bookmark,
// whichever is first.
func (r *Reflector) NextTime() (at time.Time, any bool) {
	at, any = r.NextResync()
	if r.want.Op == OpSleep && (!any || r.want.Until.Before(at)) {
		at, any = r.want.Until, true
	}
	if r.phase == phaseWatchListing && r.o.HandleError != nil && (!any || r.initial.warnAt.Before(at)) {
		at, any = r.initial.warnAt, true
	}
	return at, any
}

// Start begins the first list. A second Start is a no-op.
func (r *Reflector) Start(now time.Time) {
	if r.phase != phaseNew {
		return
	}
	r.now = now
	r.backoff = NewBackoff(r.o.Backoff, now)
	r.listAndWatch()
}

// Stop ends everything: a list in flight is dropped without a Replace (I9), a stream is closed. Only the backoff before a
// watch-list's next attempt runs to its end (I18).
func (r *Reflector) Stop() {
	switch r.phase {
	case phaseStopped:
	case phaseWatchListBackoff:
		r.stopping = true
	default:
		r.stop()
	}
}

func (r *Reflector) stop() {
	r.resyncAt = time.Time{}
	r.pager = pager{}
	r.initial = initialEvents{}
	r.await(phaseStopped, Want{Op: OpNone})
}

// SetTime advances the time to now and leaves what has become due to the next OnTime: a timer and an answer that are both
// ready can be handled in either order.
func (r *Reflector) SetTime(now time.Time) { r.now = now }

// OnTime advances the time to now and handles what has become due: a resync, then the end of a sleep.
func (r *Reflector) OnTime(now time.Time) {
	r.now = now
	if !r.resyncAt.IsZero() && !now.Before(r.resyncAt) {
		r.resync()
	}
	if r.want.Op == OpSleep && !now.Before(r.want.Until) {
		r.wake()
	}
	if r.phase == phaseWatchListing {
		r.warnMissingBookmark()
	}
}

func (r *Reflector) wake() {
	if r.stopping {
		r.stop()
		return
	}
	switch r.phase {
	case phaseWatchListBackoff:
		r.startWatchList()
	case phaseBackoff:
		r.listAndWatch()
	case phaseWatchBackoff:
		r.openWatch()
	}
}

func (r *Reflector) await(p phase, w Want) {
	w.Seq = r.want.Seq + 1
	r.phase = p
	r.want = w
}

// sleep waits for the next backoff delay. Delays within a watch and between attempts share one Backoff (I12).
func (r *Reflector) sleep(p phase) {
	r.await(p, Want{Op: OpSleep, Until: r.now.Add(r.backoff.Next(r.now, r.random()))})
}

func (r *Reflector) random() float64 {
	if r.o.Random == nil {
		return 0
	}
	return r.o.Random()
}

func (r *Reflector) report(format string, args ...any) {
	if r.o.HandleError != nil {
		r.o.HandleError(fmt.Errorf(format, args...))
	}
}

// listAndWatch begins one round.
func (r *Reflector) listAndWatch() {
	if r.o.WatchList {
		r.startWatchList()
	} else {
		r.startList()
	}
}

// endRound ends a round: it reports the error, if any, and the next round follows after the backoff either way (I11, I12).
func (r *Reflector) endRound(err error) {
	r.resyncAt = time.Time{}
	if err != nil && r.o.WatchErrorHandler != nil {
		r.o.WatchErrorHandler(err)
	}
	r.sleep(phaseBackoff)
}

// beginWatching begins the watching part of a round. The resync timer restarts each time, so rounds shorter than
// ResyncPeriod never resync (I38).
func (r *Reflector) beginWatching() {
	r.retry = retryDeadline{max: r.o.MaxInternalErrorRetryDuration}
	r.resyncErr = nil
	if r.o.ResyncPeriod > 0 {
		r.resyncAt = r.now.Add(r.o.ResyncPeriod)
	}
}

// resync fires the timer. An error stops it and ends the watch: the open one, or the next to open (I39).
func (r *Reflector) resync() {
	r.resyncAt = r.now.Add(r.o.ResyncPeriod)
	if r.o.ShouldResync != nil && !r.o.ShouldResync(r.now) {
		return
	}
	if err := r.o.Queue.Resync(); err != nil {
		r.resyncAt = time.Time{}
		r.resyncErr = err
		if r.phase == phaseWatching {
			r.watchEnded(err)
		}
	}
}

// watchTimeout returns a uniform random timeout between the minimum and twice that, in whole seconds (I25).
func (r *Reflector) watchTimeout() *int64 {
	least := r.minTimeout.Seconds()
	seconds := int64(least + r.random()*least)
	return &seconds
}

// isTable reports whether gvk is one of the Table kinds, which clients can request by mistake and which hold no objects
// (k132926).
func isTable(gvk schema.GroupVersionKind) bool {
	return gvk.Kind == "Table" && gvk.Group == metav1.GroupName && (gvk.Version == "v1" || gvk.Version == "v1beta1")
}

func isTableObject(u *unstructured.Unstructured) bool {
	return u.GetKind() == "Table" && isTable(u.GroupVersionKind())
}
