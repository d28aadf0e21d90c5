package dropin

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/util/consistencydetector"

	"github.com/informersim/informersim/informer"
)

// puppeteer makes a client-go Reflector, the puppet, mirror a reflectorLoop. It is the puppet's lister-watcher. When the
// puppet lists, or requests a streaming list, the loop lists or streams, with its own requests, into the real store, and
// the puppet gets an empty list at the resulting resourceVersion. When the puppet watches, the loop watches, and the puppet
// gets a bookmark for each resourceVersion. So callers see the fields, methods and errors they know, the puppet's
// LastSyncResourceVersion is right, and its rounds begin and end with the loop's.
type puppeteer struct {
	puppet  *Reflector
	options loopOptions

	// mu is held by the goroutine that steps the loop. The puppet does not wait for a list whose context has ended.
	mu        sync.Mutex
	loop      *reflectorLoop
	listErr   error // of the round, for the puppet's next list
	relistErr error // after this error the puppet relists at once, which the loop has already done
	watchErr  error // of the round, for the puppet's next watch
	over      bool  // the round ended without an error as soon as the store was filled
}

var (
	errNoRound  = errors.New("watch without a list: use ListAndWatch or Run")
	errAskLists = errors.New("the round has ended: list to see why") // makes the puppet fall back to a list
)

// IsWatchListSemanticsUnSupported makes the puppet stream lists if the loop does: it waits for a stream to end, but
// abandons a list as soon as its context ends. The consistency detector belongs to the loop.
func (p *puppeteer) IsWatchListSemanticsUnSupported() bool {
	return !p.options.streamLists || consistencydetector.IsDataConsistencyDetectionForWatchListEnabled()
}

// List implements ListerWatcher.
func (p *puppeteer) List(options metav1.ListOptions) (runtime.Object, error) {
	return p.ListWithContext(context.Background(), options)
}

// Watch implements ListerWatcher.
func (p *puppeteer) Watch(options metav1.ListOptions) (watch.Interface, error) {
	return p.WatchWithContext(context.Background(), options)
}

// ListWithContext lets the loop list. It returns when the store is filled or the round has ended.
func (p *puppeteer) ListWithContext(ctx context.Context, _ metav1.ListOptions) (runtime.Object, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.relistErr; err != nil {
		p.relistErr = nil
		return nil, err
	}
	err := p.listErr
	p.listErr = nil
	if err == nil {
		err = p.fill(ctx)
	}
	if err != nil {
		err = withoutListPrefix(err)
		if informer.IsExpired(err) || informer.IsTooLargeResourceVersion(err) {
			p.relistErr = err
		}
		return nil, err
	}
	rv := ""
	if p.loop != nil {
		rv = p.loop.lastSyncResourceVersion()
	}
	return emptyList(rv), nil
}

// fill runs a round until the store is filled. It also returns nil if the context ends: the puppet checks that itself.
func (p *puppeteer) fill(ctx context.Context) error {
	p.watchErr, p.over = nil, false
	p.beginRound(ctx)
	for !p.listed() {
		ended, err := p.step(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if ended {
			p.over = err == nil
			return err
		}
	}
	return nil
}

// withoutListPrefix removes the prefix that the puppet will add again.
func withoutListPrefix(err error) error {
	if inner := errors.Unwrap(err); inner != nil && strings.HasPrefix(err.Error(), "failed to list ") {
		return inner
	}
	return err
}

// beginRound starts the loop, or resumes it at the end of the last round.
func (p *puppeteer) beginRound(ctx context.Context) {
	now := p.options.clock.Now()
	if p.loop != nil {
		if want := p.loop.core.Want(); want.Op == informer.OpSleep {
			p.loop.core.OnTime(want.Until)
		}
		p.loop.core.SetTime(now)
		return
	}
	// Callers set the puppet's exported fields between creating and running it.
	o := p.options
	o.watchListPageSize = p.puppet.WatchListPageSize
	o.maxInternalRetry = p.puppet.MaxInternalErrorRetryDuration
	o.shouldResync = func(time.Time) bool { return p.puppet.ShouldResync == nil || p.puppet.ShouldResync() }
	p.loop = newReflectorLoop(ctx, o)
	p.loop.core.Start(now)
}

// listed reports whether the loop has filled the store and continues with a watch.
func (p *puppeteer) listed() bool {
	want := p.loop.core.Want()
	streaming := want.Options.SendInitialEvents != nil && !p.loop.core.Watching()
	return want.Op == informer.OpWatch && !streaming
}

// step steps the loop. It reports whether the round has ended and with which error; the end of the context also ends it.
func (p *puppeteer) step(ctx context.Context) (ended bool, err error) {
	p.loop.step(ctx)
	if !p.loop.roundEnded && ctx.Err() != nil {
		p.abandonRound()
		return true, ctx.Err()
	}
	return p.loop.roundEnded, p.loop.roundErr
}

// abandonRound fails everything that the loop waits for until the round is over: the loop and its state are needed again.
func (p *puppeteer) abandonRound() {
	l := p.loop
	l.closeStream()
	l.core.SetTime(p.options.clock.Now())
	failed := apierrors.NewBadRequest("the round was abandoned")
	for l.roundEnded = false; !l.roundEnded; {
		switch want := l.core.Want(); {
		case l.core.StreamOpen():
			seq := l.core.Seq()
			l.core.OnEvent(watch.Event{Type: watch.Error, Object: &failed.ErrStatus})
			l.closeStaleStream(seq, false)
		case want.Op == informer.OpSleep: // within the round
			l.core.OnTime(want.Until)
		default:
			l.core.OnListError(failed)
			l.core.OnWatchOpenError(failed)
			l.roundEnded = l.core.Want().Op == informer.OpSleep
		}
	}
}

// WatchWithContext lets the loop watch, listing first if it is a streaming list. Opening the watch is part of the call, so
// that the puppet returns its error.
func (p *puppeteer) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	p.mu.Lock()
	w := p.newPuppetWatch(ctx)
	w.streaming = options.SendInitialEvents != nil
	if err := p.open(w); err != nil {
		p.mu.Unlock()
		w.cancel()
		return nil, err
	}
	go w.run() // unlocks
	return w, nil
}

func (p *puppeteer) open(w *puppetWatch) error {
	if err := p.watchErr; err != nil {
		p.watchErr = nil
		return err
	}
	if w.streaming {
		// This error makes the puppet fall back to a list, which reports the cause; after some others it would stream
		// again.
		if p.listErr = p.fill(w.ctx); p.listErr != nil {
			return errAskLists
		}
		w.ended = p.over
		return nil
	}
	if p.loop == nil {
		return errNoRound
	}
	w.ended = p.over
	for p.loop.stream == nil && !w.ended {
		var err error
		if w.ended, err = p.step(w.ctx); err != nil && w.ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// puppetWatch is the puppet's watch.
type puppetWatch struct {
	p      *puppeteer
	ctx    context.Context
	cancel context.CancelFunc
	events chan watch.Event
	done   chan struct{}
	ended  bool // the round had ended before the watch began
	// streaming is set while the puppet waits for the bookmark that ends the initial events.
	streaming bool
}

func (p *puppeteer) newPuppetWatch(ctx context.Context) *puppetWatch {
	w := &puppetWatch{p: p, events: make(chan watch.Event), done: make(chan struct{})}
	w.ctx, w.cancel = context.WithCancel(ctx)
	return w
}

// ResultChan implements watch.Interface.
func (w *puppetWatch) ResultChan() <-chan watch.Event { return w.events }

// Stop implements watch.Interface. It returns when the loop is quiescent.
func (w *puppetWatch) Stop() {
	w.cancel()
	<-w.done
}

// run steps the loop to the end of its round.
func (w *puppetWatch) run() {
	p := w.p
	defer close(w.done)
	defer p.mu.Unlock()
	defer close(w.events)
	p.options.rounds.announce = func(rv string) { w.send(bookmarkAt(rv)) }
	defer func() { p.options.rounds.announce = nil }()

	if w.streaming {
		end := bookmarkAt(p.loop.lastSyncResourceVersion())
		end.Object.(*metav1.PartialObjectMetadata).Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
		w.send(end)
	}
	var err error
	for ended := w.ended; !ended; {
		ended, err = p.step(w.ctx)
	}
	if err == nil {
		// The loop relists, as does the puppet after a 410.
		w.send(watch.Event{Type: watch.Error, Object: &metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusGone, Reason: metav1.StatusReasonExpired,
		}})
		return
	}
	// The puppet must return err. It does so from its next watch, which it requests after one that had an event.
	p.watchErr = err
	w.send(bookmarkAt(p.loop.lastSyncResourceVersion()))
}

func (w *puppetWatch) send(e watch.Event) {
	select {
	case w.events <- e:
	case <-w.ctx.Done():
	}
}

func bookmarkAt(rv string) watch.Event {
	return watch.Event{Type: watch.Bookmark, Object: &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{ResourceVersion: rv}}}
}
