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
	// rounds is set for a loop that is run round by round: what follows a round is the caller's business.
	rounds *roundOptions
}

// roundOptions are for a puppeteer.
type roundOptions struct {
	// delay gives the wait before a watch is tried again within a round.
	delay func() time.Duration
	// announce is told each new resourceVersion; it may be nil.
	announce func(rv string)
}

// reflectorLoop carries out what informer's Reflector wants and tells it what happened: it is the goroutine, the requests and the
// timers of a reflector. One goroutine steps it; lastSyncResourceVersion may be called by any.
type reflectorLoop struct {
	core   *informer.Reflector
	o      loopOptions
	lw     ListerWatcherWithContext
	logger klog.Logger
	ctx    context.Context // of the step under way, for informer's callbacks

	stream watch.Interface // open, or nil
	shadow *shadow         // see reflector; nil until it is needed
	onTime bool            // the reflector is being told the time
	// For whoever runs round by round: whether the last step ended one, and with which error.
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

// random is the program-wide source, as client-go's is: a test run that seeds that one seeds this.
func random() float64 { return rand.Float64() }

// streamsLists says whether lists are to be streamed: the gate WatchListClient is on, and the client does not say that it
// cannot (I13).
func streamsLists(lw ListerWatcher) bool {
	return enabled(clientfeatures.WatchListClient) && !watchlist.DoesClientNotSupportWatchListSemantics(lw)
}

// checkConsistency panics if a LIST gives another result than the streaming list did; only where an environment variable
// asks for it (I24).
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

// logError logs what client-go logs. What the Reflector reports of a streaming list because time has passed is only a warning (I22).
func (l *reflectorLoop) logError(err error) {
	if l.onTime && l.core.StreamOpen() && !l.core.Watching() {
		l.logger.Info("Warning: event bookmark expired", "err", err)
		return
	}
	utilruntime.HandleErrorWithContext(l.ctx, err, "Reflector", "reflector", l.o.name, "type", l.core.TypeDescription())
}

// lastSyncResourceVersion is the reflector's.
func (l *reflectorLoop) lastSyncResourceVersion() string {
	l.rvMu.Lock()
	defer l.rvMu.Unlock()
	return l.rv
}

// publish lets others see how far the reflector has got.
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
		if !l.survives(ctx) {
			l.afterPanic()
		}
	}
}

// survives steps once. It returns false if the step panicked and the program is to live on.
func (l *reflectorLoop) survives(ctx context.Context) (returned bool) {
	defer utilruntime.HandleCrashWithContext(ctx)
	l.step(ctx)
	return true
}

// afterPanic treats what was under way as failed, so that a backoff follows.
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

// step does the one thing that the reflector wants: a request, the opening of a stream, a stream to its end, or a sleep. It
// returns early when the context ends.
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

// passTime tells the reflector what time it is.
func (l *reflectorLoop) passTime() {
	l.onTime = true
	l.core.OnTime(l.o.clock.Now())
	l.onTime = false
}

// eventsAtOnce is how many events are taken before the context and the timer are looked at again.
const eventsAtOnce = 64

// pump hands over the events of the open stream until it ends, the context does, or the initial events of a streaming list
// are complete.
func (l *reflectorLoop) pump(ctx context.Context) {
	events := l.stream.ResultChan()
	timer := loopTimer{clock: l.o.clock}
	defer timer.stop()
	initial := !l.core.Watching()
	for l.stream != nil {
		if timer.set(l.core.NextTime()) {
			seq := l.core.Seq()
			l.passTime()
			l.leftStream(seq, false)
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
			for n := 1; n < eventsAtOnce && l.stream != nil && len(events) > 0; n++ {
				e, open := <-events
				l.take(e, open)
			}
		}
		if initial && l.core.Watching() {
			return
		}
	}
}

// take hands over one event, or the end of the stream.
func (l *reflectorLoop) take(e watch.Event, open bool) {
	seq := l.core.Seq()
	if !open {
		l.core.SetTime(l.o.clock.Now())
		l.core.OnWatchClosed(nil)
		l.leftStream(seq, false)
		return
	}
	if e.Type == watch.Error || !l.core.Watching() {
		l.core.SetTime(l.o.clock.Now())
	}
	within := e.Type == watch.Error && isRetriable(apierrors.FromObject(e.Object))
	l.core.OnEvent(e)
	l.leftStream(seq, within)
	l.publish()
}

// leftStream closes the stream if the reflector has gone on to something else since seq. within says that a wait does not
// end the round.
func (l *reflectorLoop) leftStream(seq uint64, within bool) {
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

// sleep waits, and also when the context has ended: the reflector was told, and whether it still wants to is its decision
// (I18).
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
			l.passTime()
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

// pause waits, and returns false if the context ends first.
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
