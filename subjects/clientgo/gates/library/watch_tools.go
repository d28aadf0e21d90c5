package library

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
	"k8s.io/klog/v2"
)

// silent is a context in which nothing is logged: that would stand in the output of whoever runs a scenario.
var silent = klog.NewContext(context.Background(), logr.Discard())

// watchTools are what makes more of a watch than what passes through it: one that is made again, one with a store, and those who wait for what it brings.
func watchTools(c *check) {
	for range 2 {
		c.rewatches()
		c.until()
	}
	c.comesLater()
	c.endsUndetailed()
	c.marksNothing()
	c.watchesLater()
	c.watchesStore()
	c.untilOne()
	for _, revision := range []string{"", "0"} {
		_, err := watchtools.NewRetryWatcherWithContext(silent, revision, nil)
		c.refused(fmt.Sprintf("NewRetryWatcherWithContext at %q", revision), err)
	}
	for _, timeout := range []time.Duration{0, -time.Second, time.Hour} {
		ctx, cancel := watchtools.ContextWithOptionalTimeout(silent, timeout)
		_, ends := ctx.Deadline()
		c.is(fmt.Sprintf("whether a context with a timeout of %v ends", timeout), [2]bool{timeout > 0, false}, [2]bool{ends, ctx.Err() != nil})
		cancel()
	}
}

// rewatched is a server of watches, whose plan is written down before.
type rewatched struct {
	opens []error // of the next watches
	sent  [][]watch.Event
	later bool // the first watch ends with an error that wants the next one to come two seconds later

	mu     sync.Mutex // for what follows: a watch may come while somebody looks
	opened []*watch.FakeWatcher
	asked  []string
}

// seen returns the watches so far, and what they asked for.
func (s *rewatched) seen() (opened []*watch.FakeWatcher, asked []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.opened), slices.Clone(s.asked)
}

// WatchWithContext implements cache.WatcherWithContext.
func (s *rewatched) WatchWithContext(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.asked)
	s.asked = append(s.asked, fmt.Sprintf("from %s, bookmarks %t", o.ResourceVersion, o.AllowWatchBookmarks))
	if n >= len(s.opens) {
		return watch.NewFake(), nil
	}
	if s.opens[n] != nil {
		return nil, s.opens[n]
	}
	w := watch.NewFakeWithChanSize(len(s.sent[n]), false)
	for _, e := range s.sent[n] {
		if status, ok := e.Object.(*metav1.Status); ok && len(s.sent[n])%2 == 0 { // as a client without types has it
			e.Object = &unstructured.Unstructured{Object: map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": int64(status.Code)}}
			if d := status.Details; d != nil {
				e.Object.(*unstructured.Unstructured).Object["details"] = map[string]any{"retryAfterSeconds": int64(d.RetryAfterSeconds)}
			}
		}
		w.Action(e.Type, e.Object)
	}
	s.opened = append(s.opened, w)
	return w, nil
}

// event describes an event of a watch.
func event(e watch.Event) string {
	switch o := e.Object.(type) {
	case *metav1.Status:
		return fmt.Sprint(e.Type, " ", o.Code)
	case *unstructured.Unstructured:
		return fmt.Sprint(e.Type, " ", o.Object["code"])
	}
	return fmt.Sprint(e.Type, " ", text(e.Object))
}

// notOpened are errors of a watch that is asked for, after which the same watch may do.
var notOpened = []error{
	io.EOF, io.ErrUnexpectedEOF, errors.New("it is broken"), context.DeadlineExceeded, apierrors.NewResourceExpired("it has expired"), apierrors.NewGone("it is gone"),
	apierrors.NewInternalError(errors.New("it is broken")), apierrors.NewTooManyRequests("later", 1),
}

// rewatches has a RetryWatcher pass on what one watch brings, or two of which the first ends. It asks again if it is refused, begins anew behind what
// it has seen, and gives up where that cannot help.
func (c *check) rewatches() {
	from, at, want, asked := &rewatched{}, 5, []string{}, []string{}
	for range c.IntN(4) {
		from.opens, from.sent = append(from.opens, notOpened[c.IntN(len(notOpened))]), append(from.sent, nil)
		asked = append(asked, fmt.Sprintf("from %d, bookmarks true", at))
	}
	var ends string
	for n := range 2 {
		asked = append(asked, fmt.Sprintf("from %d, bookmarks true", at))
		seen, passed := at, len(want)
		var sent []watch.Event
		for range c.IntN(4) {
			at++
			e := watch.Event{Type: []watch.EventType{watch.Added, watch.Modified, watch.Deleted, watch.Bookmark}[c.IntN(4)], Object: object(c.key(), at)}
			sent = append(sent, e)
			if e.Type != watch.Bookmark {
				want = append(want, event(e))
			}
		}
		ends = []string{"gone", "without a revision", "no object", "unknown", "forbidden", "unauthorized", "stopped"}[c.IntN(7)]
		again := n == 0 && c.IntN(2) == 0 // the next one comes a second later
		if again {
			ends = []string{"internal", "timeout", "timeout", "conflict", "closed", "odd", "not opened"}[c.IntN(7)]
		}
		var open error
		switch ends {
		case "gone":
			sent, want = append(sent, watch.Event{Type: watch.Error, Object: &apierrors.NewResourceExpired("it has expired").ErrStatus}), append(want, "ERROR 410")
		case "without a revision":
			sent, want = append(sent, watch.Event{Type: watch.Added, Object: &metav1.PartialObjectMetadata{}}), append(want, "ERROR 500")
		case "no object":
			sent, want = append(sent, watch.Event{Type: watch.Modified, Object: &runtime.Unknown{}}), append(want, "ERROR 500")
		case "unknown":
			sent, want = append(sent, watch.Event{Type: "UNKNOWN", Object: object("c", 99)}), append(want, "ERROR 500")
		case "internal":
			sent = append(sent, watch.Event{Type: watch.Error, Object: &apierrors.NewInternalError(errors.New("it is broken")).ErrStatus})
		case "timeout":
			from.later = c.IntN(2) == 0
			pause := map[bool]int{true: 2}[from.later]
			sent = append(sent, watch.Event{Type: watch.Error, Object: &apierrors.NewTimeoutError("it takes too long", pause).ErrStatus})
		case "odd": // an error that is none of the server's
			sent = append(sent, watch.Event{Type: watch.Error, Object: object("c", 99)})
		case "not opened": // nothing of a watch that is not opened comes
			open = notOpened[c.IntN(len(notOpened))]
			at, want = seen, want[:passed]
		case "conflict":
			sent = append(sent, watch.Event{Type: watch.Error, Object: &apierrors.NewConflict(schema.GroupResource{}, "", errors.New("it is another one")).ErrStatus})
		case "forbidden", "unauthorized":
			if open = apierrors.NewUnauthorized("who are you"); ends == "forbidden" {
				open = apierrors.NewForbidden(schema.GroupResource{}, "", errors.New("you may not"))
			}
			want = append(want[:passed], map[string]string{"forbidden": fmt.Sprint("ERROR ", http.StatusForbidden), "unauthorized": fmt.Sprint("ERROR ", http.StatusUnauthorized)}[ends])
		}
		from.opens, from.sent = append(from.opens, open), append(from.sent, sent)
		if !again {
			break
		}
	}
	c.passes(from, want, asked, ends == "stopped")
}

// comesLater has a watch bring a bookmark, and end since the server is busy for two seconds. The next one comes then, and goes on behind the bookmark.
func (c *check) comesLater() {
	sent := []watch.Event{{Type: watch.Added, Object: object("c", 6)}, {Type: watch.Bookmark, Object: object("c", 7)}, {Type: watch.Error, Object: &apierrors.NewTooManyRequests("later", 2).ErrStatus}}
	from := &rewatched{opens: []error{nil}, sent: [][]watch.Event{sent}}
	w, err := watchtools.NewRetryWatcherWithContext(silent, "5", from)
	c.no("NewRetryWatcherWithContext", err)
	go func() {
		for range w.ResultChan() { // which nobody looks at
		}
	}()
	times, asked := []int{}, []string(nil)
	for range 3 {
		c.quiesce()
		_, asked = from.seen()
		times = append(times, len(asked))
		time.Sleep(time.Second)
	}
	c.is("how often a RetryWatcher has asked whose server is busy for two seconds, at once and after each of these", []int{1, 1, 2}, times)
	c.is("what a RetryWatcher asks for behind a bookmark", "from 7, bookmarks true", asked[len(asked)-1])
	w.Stop()
	c.quiesce()
}

// passes has a RetryWatcher watch as it is planned, and compares what comes of it. It asks once a second at most.
func (c *check) passes(from *rewatched, want, asked []string, stops bool) {
	w := c.follow(from)
	for n := range len(from.opens) - 1 {
		c.quiesce()
		pause := 1
		if from.opens[n] == nil {
			opened, _ := from.seen()
			opened[len(opened)-1].Stop() // if it has not been
			if from.later {
				pause = 2
			}
		}
		for s := range pause {
			c.quiesce()
			_, early := from.seen()
			c.is(fmt.Sprintf("how often a RetryWatcher has asked %d s after it did", s), n+1, len(early))
			if c.IntN(8) == 0 {
				w.Stop()
				c.quiesce()
				c.is("whether a RetryWatcher that is stopped in a pause has ended", [2]bool{true, true}, w.ended())
				return
			}
			time.Sleep(time.Second)
		}
	}
	c.quiesce()
	c.is("what a RetryWatcher passes on", fmt.Sprintf("%q", want), fmt.Sprintf("%q", w.got))
	opened, watches := from.seen()
	c.is("the watches of a RetryWatcher", fmt.Sprintf("%q", asked), fmt.Sprintf("%q", watches))
	c.is("whether a RetryWatcher has ended before it is stopped", [2]bool{!stops, !stops}, w.ended())
	for range 2 { // as often as somebody likes
		w.Stop()
	}
	c.quiesce()
	c.is("whether a RetryWatcher that is stopped has ended", [2]bool{true, true}, w.ended())
	for n, fake := range opened {
		c.is(fmt.Sprintf("whether watch %d of a RetryWatcher is stopped", n+1), true, fake.IsStopped())
	}
}

// until waits for some events, one after the other, of a watch that may end before. A condition is first asked of the last event that there was.
func (c *check) until() {
	events := c.IntN(6)
	w := watch.NewFakeWithChanSize(events, false)
	var conditions []watchtools.ConditionFunc
	asked, want := []string{}, []string{}
	at, over, fails := 0, false, c.IntN(4) == 0
	for n := range 1 + c.IntN(3) {
		from := c.IntN(5)
		broken := fails && c.IntN(2) == 0
		conditions = append(conditions, func(e watch.Event) (bool, error) {
			asked = append(asked, fmt.Sprint(n, " ", event(e)))
			if broken {
				return false, errors.New("it is broken")
			}
			return e.Object.(*metav1.PartialObjectMetadata).ResourceVersion >= fmt.Sprint(from), nil
		})
		for tries := 0; !over; tries++ {
			if at == 0 || tries > 0 {
				at++
			}
			if at > events {
				over = true
				break
			}
			want = append(want, fmt.Sprint(n, " MODIFIED c@", at))
			if broken {
				over = true
			}
			if broken || at >= from {
				break
			}
		}
	}
	for n := range events {
		w.Modify(object("c", n+1))
	}
	ctx, cancel := context.WithCancel(context.Background())
	ends := c.IntN(2) == 0
	var last *watch.Event
	var err error
	_, waits := c.waits(func() { last, err = watchtools.UntilWithoutRetry(ctx, w, conditions...) }, func() {
		if ends {
			cancel()
		} else {
			w.Stop()
		}
	})
	cancel()
	c.is("whether UntilWithoutRetry waits although its watch or its context has ended", false, waits)
	if waits {
		return
	}
	c.is("which conditions of UntilWithoutRetry were asked of what", fmt.Sprintf("%q", want), fmt.Sprintf("%q", asked))
	c.is("whether UntilWithoutRetry has stopped its watch", true, w.IsStopped())
	if at > 0 && events > 0 && last != nil {
		c.is("the last event of UntilWithoutRetry", fmt.Sprint("MODIFIED c@", min(at, events)), event(*last))
	}
	c.is("whether UntilWithoutRetry has a last event", events > 0, last != nil)
	switch {
	case !over:
		c.no("UntilWithoutRetry", err)
	case at <= events:
		c.is("the error of UntilWithoutRetry, one of a condition", "it is broken", message(err))
	case ends:
		c.is("whether UntilWithoutRetry says that it was interrupted", true, wait.Interrupted(err))
	default:
		c.is("the error of UntilWithoutRetry of a watch that has ended", message(watchtools.ErrWatchClosed), message(err))
	}
}

// rewatching is a server of watches, for those who have no context.
type rewatching struct{ *rewatched }

// Watch implements cache.Watcher.
func (s rewatching) Watch(o metav1.ListOptions) (watch.Interface, error) {
	return s.WatchWithContext(context.Background(), o)
}

// untilOne waits for one event of a watch that may be made again.
func (c *check) untilOne() {
	sent := []watch.Event{{Type: watch.Added, Object: object("c", 6)}, {Type: watch.Modified, Object: object("c", 7)}, {Type: watch.Deleted, Object: object("c", 8)}}
	from := rewatching{&rewatched{opens: []error{nil}, sent: [][]watch.Event{sent}}}
	_, err := watchtools.Until(silent, "0", from)
	c.refused("Until from revision 0", err)
	var last *watch.Event
	_, waits := c.waits(func() {
		last, err = watchtools.Until(silent, "5", from, func(e watch.Event) (bool, error) { return e.Type == watch.Modified, nil })
	}, func() {})
	c.is("whether Until waits for what has come", false, waits)
	if waits {
		return
	}
	c.no("Until", err)
	c.is("the event that Until has waited for", "MODIFIED c@7", event(*last))
	opened, _ := from.seen()
	c.is("whether Until has stopped its watch", true, opened[0].IsStopped())
}

// late is a source whose list is answered when somebody says so.
type late struct {
	source
	answers chan struct{}
}

// List implements cache.ListerWatcher.
func (s *late) List(o metav1.ListOptions) (runtime.Object, error) {
	<-s.answers
	return s.source.List(o)
}

// watchesStore fills a store by an informer, and is told of what happens to it, as if that were a watch. Nobody reads it for a while.
func (c *check) watchesStore() {
	from := &late{source: *newSource(object("ns1/a", 1), object("ns1/b", 2)), answers: make(chan struct{})}
	x, control, w, over := watchtools.NewIndexerInformerWatcher(from, &metav1.PartialObjectMetadata{})
	c.quiesce()
	c.no("Add", x.Add(object("c", 1))) // the list does not have it
	close(from.answers)
	c.quiesce()
	c.is("HasSynced of the informer of a watch", true, control.HasSynced())
	from.watch.Modify(object("ns1/a", 6))
	from.watch.Delete(object("ns1/b", 7))
	from.watch.Add(object("ns2/a", 8))
	from.watch.Modify(object("ns2/a", 9))
	c.quiesce()
	c.holds(" of a watch", x, model{"ns1/a": object("ns1/a", 6), "ns2/a": object("ns2/a", 9)})
	var listed, got []string
	enough := make(chan struct{})
	go func() {
		for {
			select {
			case e := <-w.ResultChan():
				if len(listed) < 3 {
					listed = append(listed, event(e))
				} else {
					got = append(got, event(e))
				}
			case <-enough:
				return
			}
		}
	}()
	c.quiesce()
	c.is("what a list has brought to a watch", fmt.Sprintf("%q", []string{"ADDED ns1/a@1", "ADDED ns1/b@2", "DELETED c@1"}), fmt.Sprintf("%q", sorted(listed)))
	c.is("what has followed it", fmt.Sprintf("%q", []string{"MODIFIED ns1/a@6", "DELETED ns1/b@7", "ADDED ns2/a@8", "MODIFIED ns2/a@9"}), fmt.Sprintf("%q", got))
	c.is("whether an informer of a watch ends before that is stopped", false, closed(over))
	leave := make(chan struct{})
	c.no("AddIndexers", x.AddIndexers(cache.Indexers{"gate": func(obj any) ([]string, error) {
		if obj.(*metav1.PartialObjectMetadata).ResourceVersion == "10" {
			<-leave
		}
		return nil, nil
	}}))
	// Who has an event that nobody takes hears of the end. Who is about to wait for one may not: eventProcessor.stop signals without its lock (kubernetes#90581; v0.37.2, informerwatcher.go:102).
	close(enough)
	c.quiesce()
	from.watch.Modify(object("ns2/a", 10))
	c.quiesce()
	w.Stop()
	crowd() // who closes the queue waits for its lock, so that there is no rest
	c.is("whether an informer of a watch has ended that is stopped while it writes its store", false, closed(over))
	close(leave)
	c.quiesce()
	c.is("whether an informer of a watch ends once that is stopped", true, closed(over))
	c.synced()
}
