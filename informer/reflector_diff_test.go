package informer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"pgregory.net/rapid"
)

// A scriptEntry answers one request of a Reflector: it has an answer for a LIST and one for a WATCH.
type scriptEntry struct {
	listErr error
	items   []*v1.Pod
	rv      string
	cont    string

	openErr error
	events  []scriptEvent
	closeIn time.Duration // after the last event
}

type scriptEvent struct {
	in time.Duration // after the previous event
	e  watch.Event
}

type script struct {
	entries   []scriptEntry
	watchList bool
	pageSize  int64
	resync    time.Duration
	internal  time.Duration
}

func drawScript(t *rapid.T) script {
	s := script{
		watchList: rapid.Bool().Draw(t, "watchList"),
		pageSize:  rapid.SampledFrom([]int64{0, 0, 3}).Draw(t, "pageSize"),
		resync:    rapid.SampledFrom([]time.Duration{0, 700*time.Millisecond + 7, 3*time.Second + 11}).Draw(t, "resync"),
		internal:  rapid.SampledFrom([]time.Duration{0, 5 * time.Second}).Draw(t, "internal"),
	}
	for range rapid.IntRange(1, 25).Draw(t, "entries") {
		s.entries = append(s.entries, drawEntry(t))
	}
	return s
}

func drawEntry(t *rapid.T) (e scriptEntry) {
	rv := func() int { return rapid.IntRange(1, 9).Draw(t, "rv") }
	errs := []error{nil, nil, nil, nil, expired, gone, tooLarge(), tooMany, internalError, errBoom, syscall.ECONNREFUSED}
	e.listErr = rapid.SampledFrom(errs).Draw(t, "listErr")
	e.openErr = rapid.SampledFrom(errs).Draw(t, "openErr")
	e.rv = rapid.SampledFrom([]string{"", "0", "5", "6", "7"}).Draw(t, "listRV")
	e.cont = rapid.SampledFrom([]string{"", "", "token"}).Draw(t, "continue")
	for i := range rapid.IntRange(0, 2).Draw(t, "items") {
		e.items = append(e.items, pod(fmt.Sprintf("item%d", i), rv()))
	}
	// Fractions of a millisecond keep events, resyncs and backoffs apart: at one instant client-go leaves their order to
	// chance.
	gap := func() time.Duration {
		return time.Duration(rapid.SampledFrom([]int{0, 1, 400, 999, 1000, 2500}).Draw(t, "ms"))*time.Millisecond + 13*time.Microsecond
	}
	for range rapid.IntRange(0, 4).Draw(t, "events") {
		e.events = append(e.events, scriptEvent{gap(), drawEvent(t, rv())})
	}
	e.closeIn = gap()
	return e
}

func drawEvent(t *rapid.T, rv int) watch.Event {
	key := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "key")
	switch kind := rapid.IntRange(0, 9).Draw(t, "kind"); kind {
	case 0, 1:
		return watch.Event{Type: watch.Modified, Object: pod(key, rv)}
	case 2:
		return watch.Event{Type: watch.Deleted, Object: pod(key, rv)}
	case 3:
		return watch.Event{Type: watch.Bookmark, Object: pod("", rv)}
	case 4, 5:
		return watch.Event{Type: watch.Bookmark, Object: endBookmark(rv)}
	case 6:
		status := rapid.SampledFrom([]*apierrors.StatusError{expired, gone, tooLarge(), tooMany, internalError}).Draw(t, "inStream")
		return watch.Event{Type: watch.Error, Object: &status.ErrStatus}
	case 7:
		return watch.Event{Type: watch.Added, Object: &v1.Node{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "99"}}}
	case 8:
		return watch.Event{Type: "STRANGE", Object: pod(key, rv)}
	}
	return watch.Event{Type: watch.Added, Object: pod(key, rv)}
}

// journal records the observable behaviour of a Reflector: its requests and its writes, with their times.
type journal struct {
	mu    sync.Mutex
	now   func() time.Duration
	lines []string
	over  bool // the script has ended: actions while stopping are not compared
}

func (j *journal) log(format string, args ...any) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.over {
		return nil
	}
	j.lines = append(j.lines, fmt.Sprintf("%v ", j.now())+fmt.Sprintf(format, args...))
	return nil
}

func (j *journal) Add(obj any) error    { return j.log("add %s", show(obj)) }
func (j *journal) Update(obj any) error { return j.log("update %s", show(obj)) }
func (j *journal) Delete(obj any) error { return j.log("delete %s", show(obj)) }
func (j *journal) Replace(list []any, rv string) error {
	return j.log("replace %s at %q", strings.Join(sortedShow(list), " "), rv)
}

func (j *journal) Resync() error {
	j.log("resync")
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.lines)%5 == 0 { // occasionally, at the same place in both journals
		return errBoom
	}
	return nil
}
func (j *journal) Bookmark(rv string) error         { return j.log("bookmark %s", rv) }
func (j *journal) Transformer() cache.TransformFunc { return nil }
func (j *journal) UpdateResourceVersion(rv string)  { j.log("at %s", rv) }

func (j *journal) request(verb string, o metav1.ListOptions) {
	j.log("%s rv=%q match=%q limit=%d continue=%q initial=%v bookmarks=%v", verb, o.ResourceVersion, o.ResourceVersionMatch,
		o.Limit, o.Continue, o.SendInitialEvents != nil && *o.SendInitialEvents, o.AllowWatchBookmarks)
}

// runOurs steps our Reflector through the script.
func runOurs(s script) []string {
	now := t0
	j := &journal{now: func() time.Duration { return now.Sub(t0) }}
	r := NewReflector(ReflectorOptions{
		Queue: j, ExpectedType: &v1.Pod{}, ResyncPeriod: s.resync, WatchListPageSize: s.pageSize, WatchList: s.watchList,
		MaxInternalErrorRetryDuration: s.internal, Backoff: BackoffOptions{Jitter: -1},
		OnResourceVersion: j.UpdateResourceVersion,
	})
	r.Start(now)
	// until advances time to at, through every timer in between, and reports whether the want is still the same.
	until := func(at time.Time) bool {
		seq := r.Seq()
		for {
			timer, any := r.NextTime()
			if !any || timer.After(at) {
				break
			}
			now = timer
			if r.OnTime(now); r.Seq() != seq {
				return false
			}
		}
		now = at
		r.OnTime(now)
		return r.Seq() == seq
	}
	next := 0
	for {
		w := *r.Want()
		if w.Op == OpSleep {
			until(w.Until)
			continue
		}
		j.request(w.Op.String(), w.Options)
		if next == len(s.entries) {
			r.Stop()
			return j.lines
		}
		e := s.entries[next]
		next++
		switch {
		case w.Op == OpList && e.listErr != nil:
			r.OnListError(e.listErr)
		case w.Op == OpList:
			r.OnPage(objects(e.items...), e.rv, e.cont, nil)
		case e.openErr != nil:
			r.OnWatchOpenError(e.openErr)
		default:
			r.OnWatchOpened()
			playOurs(r, e, until, &now)
		}
	}
}

func playOurs(r *Reflector, e scriptEntry, until func(time.Time) bool, now *time.Time) {
	seq := r.Seq()
	for _, ev := range e.events {
		if r.Seq() != seq || !until(now.Add(ev.in)) {
			return
		}
		r.OnEvent(ev.e)
	}
	if r.Seq() == seq && until(now.Add(e.closeIn)) {
		r.OnWatchClosed(nil)
	}
}

// scriptedServer is a ListerWatcher that plays a script.
type scriptedServer struct {
	j    *journal
	s    script
	next int
	done chan struct{}
	wg   sync.WaitGroup
}

func (l *scriptedServer) IsWatchListSemanticsUnSupported() bool { return !l.s.watchList }

func (l *scriptedServer) take(ctx context.Context, verb string, o metav1.ListOptions) (scriptEntry, error) {
	l.j.request(verb, o)
	if l.next == len(l.s.entries) {
		if !l.j.over {
			l.j.over = true
			close(l.done)
		}
		<-ctx.Done()
		return scriptEntry{}, ctx.Err()
	}
	l.next++
	return l.s.entries[l.next-1], nil
}

func (l *scriptedServer) ListWithContext(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	e, err := l.take(ctx, "list", o)
	if err = cmp.Or(err, e.listErr); err != nil {
		return nil, err
	}
	list := &v1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: e.rv, Continue: e.cont}}
	for _, p := range e.items {
		list.Items = append(list.Items, *p)
	}
	return list, nil
}

func (l *scriptedServer) List(o metav1.ListOptions) (runtime.Object, error) {
	return l.ListWithContext(context.Background(), o)
}

func (l *scriptedServer) Watch(o metav1.ListOptions) (watch.Interface, error) {
	return l.WatchWithContext(context.Background(), o)
}

func (l *scriptedServer) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	e, err := l.take(ctx, "watch", o)
	if err = cmp.Or(err, e.openErr); err != nil {
		return nil, err
	}
	ch := make(chan watch.Event)
	w := watch.NewProxyWatcher(ch)
	l.wg.Go(func() {
		defer close(ch)
		for _, ev := range e.events {
			select {
			case <-time.After(ev.in):
			case <-w.StopChan():
				return
			}
			select {
			case ch <- ev.e:
			case <-w.StopChan():
				return
			}
		}
		select {
		case <-time.After(e.closeIn):
		case <-w.StopChan():
		}
	})
	return w, nil
}

// runTheirs runs client-go's Reflector through the script, in a bubble.
func runTheirs(t *testing.T, s script) (lines []string) {
	synctest.Test(t, func(*testing.T) {
		start := time.Now()
		j := &journal{now: func() time.Duration { return time.Since(start) }}
		l := &scriptedServer{j: j, s: s, done: make(chan struct{})}
		r := cache.NewReflectorWithOptions(l, &v1.Pod{}, j, cache.ReflectorOptions{
			ResyncPeriod: s.resync,
			Backoff:      &wait.Backoff{Duration: 800 * time.Millisecond, Cap: 30 * time.Second, Steps: 38, Factor: 2},
		})
		r.WatchListPageSize = s.pageSize
		r.MaxInternalErrorRetryDuration = s.internal
		ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), klog.Logger{}))
		stopped := make(chan struct{})
		go func() { r.RunWithContext(ctx); close(stopped) }()
		<-l.done
		cancel()
		<-stopped
		l.wg.Wait()
		lines = j.lines
	})
	return lines
}

// TestReflectorAgainstClientGo: whatever the answers, our Reflector sends the same requests and makes the same writes as
// client-go's, at the same times (I1 to I39).
func TestReflectorAgainstClientGo(t *testing.T) {
	handlers := utilruntime.ErrorHandlers
	utilruntime.ErrorHandlers = nil // the default ones sleep in real time
	defer func() { utilruntime.ErrorHandlers = handlers }()
	rapid.Check(t, func(rt *rapid.T) {
		s := drawScript(rt)
		ours, theirs := runOurs(s), runTheirs(t, s)
		if !slices.Equal(ours, theirs) {
			i := 0
			for i < min(len(ours), len(theirs)) && ours[i] == theirs[i] {
				i++
			}
			rt.Fatalf("equal up to %d:\n%s\nthen ours:\n%s\nand client-go's:\n%s", i, strings.Join(ours[max(0, i-6):i], "\n"),
				strings.Join(ours[i:min(len(ours), i+3)], "\n"), strings.Join(theirs[i:min(len(theirs), i+3)], "\n"))
		}
	})
}
