package dropin

import (
	"context"
	"fmt"
	"math/rand"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	clientfeatures "k8s.io/client-go/features"
	"k8s.io/client-go/util/consistencydetector"
	"k8s.io/client-go/util/watchlist"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/informersim/informersim/informer"
)

// loopOptions configures a reflectorLoop. listerWatcher and store must be set.
type loopOptions struct {
	name              string
	listerWatcher     ListerWatcher
	expectedType      any
	typeDescription   string
	store             ReflectorStore
	resyncPeriod      time.Duration
	minWatchTimeout   time.Duration
	watchListPageSize int64
	streamLists       bool
	maxInternalRetry  time.Duration
	shouldResync      func(now time.Time) bool
	watchErrorHandler WatchErrorHandlerWithContext // nil: DefaultWatchErrorHandler
	backoff           informer.BackoffOptions
	clock             clock.Clock
	// rounds is set for a loop that is run round by round, whose caller decides what follows a round.
	rounds *roundOptions
}

// roundOptions configures a loop for a puppeteer.
type roundOptions struct {
	// delay returns the delay before a watch is retried within a round.
	delay func() time.Duration
	// announce is called with each new resourceVersion; it may be nil.
	announce func(rv string)
}

// reflectorLoop carries out what informer's Reflector wants and reports what happened: it provides a reflector's goroutine,
// requests and timers. One goroutine steps it; any may call lastSyncResourceVersion.
type reflectorLoop struct {
	core   *informer.Reflector
	o      loopOptions
	lw     ListerWatcherWithContext
	logger klog.Logger
	ctx    context.Context // of the current step, for informer's callbacks

	stream watch.Interface // open, or nil
	shadow *shadow         // see reflector; nil until it is needed
	onTime bool            // within the reflector's OnTime
	// For callers that run round by round: whether the last step ended a round, and with which error.
	roundEnded bool
	roundErr   error

	rvMu sync.Mutex
	rv   string
}

func newReflectorLoop(ctx context.Context, o loopOptions) *reflectorLoop {
	if o.watchErrorHandler == nil {
		o.watchErrorHandler = DefaultWatchErrorHandler
	}
	l := &reflectorLoop{o: o, lw: ToListerWatcherWithContext(o.listerWatcher), logger: klog.FromContext(ctx), ctx: ctx}
	l.core = informer.NewReflector(informer.ReflectorOptions{
		Queue:                         storeWriter(o.store),
		Name:                          o.name,
		TypeDescription:               o.typeDescription,
		ExpectedType:                  o.expectedType,
		ResyncPeriod:                  o.resyncPeriod,
		ShouldResync:                  o.shouldResync,
		WatchListPageSize:             o.watchListPageSize,
		MinWatchTimeout:               o.minWatchTimeout,
		MaxInternalErrorRetryDuration: o.maxInternalRetry,
		WatchList:                     o.streamLists,
		WatchListCompleted:            l.checkConsistency,
		Backoff:                       o.backoff,
		Random:                        random,
		WatchErrorHandler:             l.onRoundError,
		HandleError:                   l.logError,
		OnResourceVersion:             resourceVersionObserver(o.store),
	})
	return l
}

// random uses the program-wide source, as client-go does: a test run that seeds it covers both.
func random() float64 { return rand.Float64() }

// streamsLists reports whether to stream lists: the gate WatchListClient is on, and the client does not declare that it
// cannot (I13).
func streamsLists(lw ListerWatcher) bool {
	return enabled(clientfeatures.WatchListClient) && !watchlist.DoesClientNotSupportWatchListSemantics(lw)
}

// checkConsistency panics if a LIST differs from the streaming list, if enabled by an environment variable (I24).
func (l *reflectorLoop) checkConsistency(resourceVersion string, items []any) {
	if !consistencydetector.IsDataConsistencyDetectionForWatchListEnabled() {
		return
	}
	var transformer TransformFunc
	if t, ok := l.o.store.(TransformingStore); ok {
		transformer = t.Transformer()
	}
	consistencydetector.CheckDataConsistency(l.ctx, l.o.name, resourceVersion, l.lw.ListWithContext,
		consistencydetector.TransformFunc(transformer),
		metav1.ListOptions{}, func() []any { return items })
}

func (l *reflectorLoop) onRoundError(err error) {
	if l.roundErr = err; l.o.rounds == nil {
		l.o.watchErrorHandler(l.ctx, l.reflector(), err)
	}
}

// logError logs what client-go logs. Reports about a streaming list that result from passing time are only warnings (I22).
func (l *reflectorLoop) logError(err error) {
	if l.onTime && l.core.StreamOpen() && !l.core.Watching() {
		l.logger.Info("Warning: event bookmark expired", "err", err)
		return
	}
	utilruntime.HandleErrorWithContext(l.ctx, err, "Reflector", "reflector", l.o.name, "type", l.core.TypeDescription())
}

// lastSyncResourceVersion returns that of the reflector.
func (l *reflectorLoop) lastSyncResourceVersion() string {
	l.rvMu.Lock()
	defer l.rvMu.Unlock()
	return l.rv
}

// publish makes the reflector's progress visible to other goroutines.
func (l *reflectorLoop) publish() {
	rv := l.core.LastSyncResourceVersion()
	l.rvMu.Lock()
	changed := l.rv != rv
	l.rv = rv
	l.rvMu.Unlock()
	if changed && l.o.rounds != nil && l.o.rounds.announce != nil {
		l.o.rounds.announce(rv)
	}
}

// run lists and watches, again and again, until the context ends.
func (l *reflectorLoop) run(ctx context.Context) {
	l.logger.V(3).Info("Starting reflector", "type", l.core.TypeDescription(), "resyncPeriod", l.o.resyncPeriod, "reflector", l.o.name)
	defer l.logger.V(3).Info("Stopping reflector", "type", l.core.TypeDescription(), "reflector", l.o.name)
	l.core.Start(l.o.clock.Now())
	for {
		if ctx.Err() != nil {
			l.core.Stop()
			l.closeStream()
		}
		if l.core.Stopped() {
			return
		}
		if !l.stepRecovering(ctx) {
			l.afterPanic()
		}
	}
}

// stepRecovering steps once. It returns false if the step panicked and the program survives.
func (l *reflectorLoop) stepRecovering(ctx context.Context) (returned bool) {
	defer utilruntime.HandleCrashWithContext(ctx)
	l.step(ctx)
	return true
}

// afterPanic treats the operation in progress as failed, so that a backoff follows.
func (l *reflectorLoop) afterPanic() {
	err := fmt.Errorf("reflector %s: panic while listing or watching", l.o.name)
	l.closeStream()
	l.core.SetTime(l.o.clock.Now())
	if l.core.StreamOpen() {
		l.core.OnWatchClosed(err)
		return
	}
	l.core.OnListError(err)
	l.core.OnWatchOpenError(err)
}

// step performs the operation that the reflector wants: a request, opening a stream, reading a stream to its end, or a
// sleep. It returns early when the context ends.
func (l *reflectorLoop) step(ctx context.Context) {
	l.ctx = ctx
	l.roundEnded, l.roundErr = false, nil
	switch want := l.core.Want(); want.Op {
	case informer.OpList:
		l.list(ctx, want.Options)
	case informer.OpWatch:
		if l.stream == nil {
			l.open(ctx, want.Options)
		} else {
			l.pump(ctx)
		}
	case informer.OpSleep:
		l.sleep(ctx)
	}
	l.publish()
}

// tick passes the current time to the reflector.
func (l *reflectorLoop) tick() {
	l.onTime = true
	l.core.OnTime(l.o.clock.Now())
	l.onTime = false
}

// maxEventsPerCheck is how many events are handled between checks of the context and the timer.
const maxEventsPerCheck = 64

// pump passes on the events of the open stream until the stream or the context ends, or the initial events of a streaming
// list are complete.
func (l *reflectorLoop) pump(ctx context.Context) {
	events := l.stream.ResultChan()
	timer := loopTimer{clock: l.o.clock}
	defer timer.stop()
	initial := !l.core.Watching()
	for l.stream != nil {
		if timer.set(l.core.NextTime()) {
			seq := l.core.Seq()
			l.tick()
			l.closeStaleStream(seq, false)
			continue
		}
		select {
		case <-ctx.Done():
			l.closeStream()
			return
		case <-timer.c():
			timer.stop()
		case e, open := <-events:
			l.take(e, open)
			for n := 1; n < maxEventsPerCheck && l.stream != nil && len(events) > 0; n++ {
				e, open := <-events
				l.take(e, open)
			}
		}
		if initial && l.core.Watching() {
			return
		}
	}
}

// take passes on one event, or the end of the stream.
func (l *reflectorLoop) take(e watch.Event, open bool) {
	seq := l.core.Seq()
	if !open {
		l.core.SetTime(l.o.clock.Now())
		l.core.OnWatchClosed(nil)
		l.closeStaleStream(seq, false)
		return
	}
	if e.Type == watch.Error || !l.core.Watching() {
		l.core.SetTime(l.o.clock.Now())
	}
	within := e.Type == watch.Error && isRetriable(apierrors.FromObject(e.Object))
	l.core.OnEvent(e)
	l.closeStaleStream(seq, within)
	l.publish()
}

// closeStaleStream closes the stream if the reflector's want has changed since seq. If within is set, a sleep does not end
// the round.
func (l *reflectorLoop) closeStaleStream(seq uint64, within bool) {
	if l.core.Seq() == seq {
		return
	}
	l.closeStream()
	l.roundEnded = l.core.Want().Op == informer.OpSleep && !within
}

func (l *reflectorLoop) closeStream() {
	if l.stream != nil {
		l.stream.Stop()
		l.stream = nil
	}
}

// sleep waits even if the context has ended: the reflector knows, and decides whether to sleep (I18).
func (l *reflectorLoop) sleep(ctx context.Context) {
	timer := loopTimer{clock: l.o.clock}
	defer timer.stop()
	done := ctx.Done()
	if ctx.Err() != nil {
		done = nil
	}
	if l.o.rounds != nil && !l.pause(ctx, l.o.rounds.delay()) {
		return
	}
	for seq := l.core.Seq(); l.core.Seq() == seq; {
		at, _ := l.core.NextTime()
		if timer.set(at, true) {
			l.tick()
			continue
		}
		select {
		case <-done:
			return
		case <-timer.c():
			timer.stop()
		}
	}
}

// pause waits for d. It returns false if the context ends first.
func (l *reflectorLoop) pause(ctx context.Context, d time.Duration) bool {
	timer := l.o.clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C():
		return true
	}
}
