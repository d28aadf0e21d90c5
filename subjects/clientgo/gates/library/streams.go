package library

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/go-logr/logr"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	clocktesting "k8s.io/utils/clock/testing"
)

// stream is a server of streaming lists. What comes of each watch is written down before.
type stream struct {
	source
	plan  []string // what comes of the next watches; then all goes well
	end   int      // the revision of the next list
	churn bool     // objects change and go while it is sent
	errs  []error  // what the reflector's handler was told
}

// IsWatchListSemanticsUnSupported is asked by reflectors.
func (*stream) IsWatchListSemanticsUnSupported() bool { return false }

// Watch implements cache.ListerWatcher.
func (s *stream) Watch(options metav1.ListOptions) (watch.Interface, error) {
	s.watched = append(s.watched, options)
	next := ""
	if len(s.plan) > 0 {
		next, s.plan = s.plan[0], s.plan[1:]
	}
	expired := apierrors.NewResourceExpired("it has expired")
	switch next {
	case "429":
		return nil, apierrors.NewTooManyRequests("later", 0)
	case "expired":
		return nil, expired
	case "too large":
		return nil, apierrors.NewTimeoutError("Too large resource version: 9, current: 5", 1)
	case "invalid":
		return nil, apierrors.NewInvalid(schema.GroupKind{}, "sendInitialEvents", nil)
	}
	s.watch = watch.NewFakeWithChanSize(16, false)
	if options.SendInitialEvents == nil {
		return s.watch, nil
	}
	switch next {
	case "closed":
		s.watch.Add(object("ns1/phantom", 3))
		s.watch.Stop()
		return s.watch, nil
	case "broken":
		s.watch.Add(object("ns1/phantom", 3))
		s.watch.Error(&expired.ErrStatus)
		return s.watch, nil
	}
	for n := range s.list.Items {
		item := &s.list.Items[n]
		if n == 0 && s.churn { // what changes while the list is sent comes in between
			older := item.DeepCopy()
			older.ResourceVersion = "1"
			s.watch.Add(older)
			s.watch.Add(object("ns1/phantom", 3))
			s.watch.Modify(item)
			s.watch.Delete(object("ns1/phantom", 4))
			continue
		}
		s.watch.Add(item)
	}
	s.bookmark(s.end-1, "false")                        // it ends nothing
	s.watch.Action(watch.Bookmark, object("", s.end-1)) // nor does this
	if next != "slow" {
		s.ends()
	}
	return s.watch, nil
}

// ends marks the end of a streaming list.
func (s *stream) ends() { s.bookmark(s.end, "true") }

func (s *stream) bookmark(revision int, ends string) {
	o := object("", revision)
	o.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: ends}
	s.watch.Action(watch.Bookmark, o)
}

// streams have a reflector stream its first list, and another one once its watch has expired, from a server with which not all goes well (I12 to I16).
func streams(c *check) {
	from := &stream{end: 5, churn: c.IntN(2) == 0}
	from.list, from.paged = &metav1.PartialObjectMetadataList{}, false
	from.list.ResourceVersion = "5"
	m := model{}
	for n, key := range keys[:1+c.IntN(3)] {
		m[key] = object(key, n+1)
		from.list.Items = append(from.list.Items, *m[key])
	}
	now := clocktesting.NewFakeClock(time.Unix(1000, 0))
	s := &resynced{Store: cache.NewStore(cache.MetaNamespaceKeyFunc)}
	r := cache.NewReflectorWithOptions(from, &metav1.PartialObjectMetadata{}, s, cache.ReflectorOptions{Name: "r", Clock: now, Backoff: &wait.Backoff{}, ResyncPeriod: time.Hour})
	want := c.plans(from, "")
	cancel, ended := running(r.RunWithContext)
	c.goesOn(now)
	c.streamed(" at first", from, want)
	c.holds(" after a streaming list", s, m)
	c.is("LastSyncResourceVersion after a streaming list", "5", r.LastSyncResourceVersion())
	for n := range 2 {
		changed := object("ns1/a", 10*n+7)
		from.watch.Modify(changed)
		m["ns1/a"] = changed
		c.quiesce()
		c.holds(" after an update", s, m)
		c.is("LastSyncResourceVersion after an update", changed.ResourceVersion, r.LastSyncResourceVersion())
		from.end = 10*n + 9
		from.list.ResourceVersion = fmt.Sprint(from.end)
		from.list.Items = append(from.list.Items[:0], *changed, *object("c", from.end))
		clear(m)
		m["ns1/a"], m["c"] = changed, object("c", from.end)
		from.watched, from.listed = nil, nil
		want = c.plans(from, changed.ResourceVersion)
		from.watch.Error(&apierrors.NewResourceExpired("it has expired").ErrStatus)
		c.goesOn(now)
		c.streamed(" after a watch that has expired", from, want)
		c.holds(" after another streaming list", s, m)
		c.is("LastSyncResourceVersion after another streaming list", fmt.Sprint(from.end), r.LastSyncResourceVersion())
		if len(c.wrong) > 0 {
			break
		}
	}
	now.Step(time.Hour)
	c.quiesce()
	c.is("how many resyncs there are after an hour, behind a streaming list", 1, s.n)
	cancel()
	c.quiesce()
	select {
	case <-ended:
	default:
		c.is("Run of a reflector that is stopped", "it returns", "it does not")
	}
	c.warns()
	c.refusedStream()
	c.stoppedStream()
	c.stoppedInReplace()
	c.differ()
	c.streamsSlowly()
}

// differ asks for a streaming list again and again. The requests do not last as long as each other.
func (c *check) differ() {
	from, timeouts := &stream{end: 5, plan: []string{"closed", "closed", "closed", "closed", "closed"}}, map[int64]bool{}
	from.list = &metav1.PartialObjectMetadataList{}
	r := cache.NewReflectorWithOptions(from, &metav1.PartialObjectMetadata{}, cache.NewStore(cache.MetaNamespaceKeyFunc), cache.ReflectorOptions{Name: "r", Backoff: &wait.Backoff{}})
	cancel, _ := running(r.RunWithContext)
	c.quiesce()
	for _, o := range from.watched {
		timeouts[*o.TimeoutSeconds] = true
	}
	c.is("how often a streaming list is asked for of which five are not sent to the end", 6, len(from.watched))
	c.is("whether six streaming lists last as long as each other", false, len(timeouts) == 1) // by chance in one of 2,000 billion runs
	cancel()
	c.quiesce()
}

// stoppedStream is a reflector that is stopped while it waits to ask for a streaming list again. It waits to the end, and does not ask (I18).
func (c *check) stoppedStream() {
	from, now := &stream{end: 5, plan: []string{"429"}}, clocktesting.NewFakeClock(time.Unix(1000, 0))
	from.list = &metav1.PartialObjectMetadataList{}
	r := cache.NewReflectorWithOptions(from, &metav1.PartialObjectMetadata{}, cache.NewStore(cache.MetaNamespaceKeyFunc), cache.ReflectorOptions{
		Name: "r", Clock: now, Backoff: &wait.Backoff{Duration: time.Second},
	})
	cancel, ended := running(r.RunWithContext)
	c.quiesce()
	now.Step(time.Second - 1)
	c.quiesce()
	asked := len(from.watched)
	cancel()
	c.quiesce()
	now.Step(1)
	c.quiesce()
	c.is("how often a reflector has asked for a streaming list that was to come later, before it was stopped and after", [2]int{1, 1}, [2]int{asked, len(from.watched)})
	c.is("whether Run of a reflector returns that was stopped before it asked again", true, closed(ended))
}

// refusedStream is a streaming list that the store does not take. So its revision does not count: the list that follows may be as old as any.
func (c *check) refusedStream() {
	from := &stream{end: 5}
	from.list = &metav1.PartialObjectMetadataList{}
	from.list.ResourceVersion = "5"
	s := &refusingStore{Store: cache.NewStore(cache.MetaNamespaceKeyFunc), replace1: errRefused}
	r := cache.NewReflectorWithOptions(from, &metav1.PartialObjectMetadata{}, s, cache.ReflectorOptions{Name: "r"})
	ctx, cancel := context.WithCancel(context.Background())
	go r.RunWithContext(ctx)
	c.quiesce()
	got := []string{}
	for _, o := range from.listed {
		got = append(got, o.ResourceVersion)
	}
	c.is("the revisions of lists after a streaming list that the store has refused", []string{"0"}, got)
	cancel()
	c.quiesce()
}

// expired counts the warnings of a slow streaming list in what is logged.
type expired struct{ n *int }

// Init implements logr.LogSink.
func (expired) Init(logr.RuntimeInfo) {}

// Enabled implements logr.LogSink.
func (expired) Enabled(level int) bool { return level == 0 }

// Info implements logr.LogSink.
func (s expired) Info(_ int, msg string, _ ...any) {
	if strings.Contains(msg, "bookmark expired") {
		*s.n++
	}
}

// Error implements logr.LogSink.
func (expired) Error(error, string, ...any) {}

// WithValues implements logr.LogSink.
func (s expired) WithValues(...any) logr.LogSink { return s }

// WithName implements logr.LogSink.
func (s expired) WithName(string) logr.LogSink { return s }

// warns has a streaming list take its time. The reflector looks at it every ten seconds, and warns unless something has come since.
func (c *check) warns() {
	from, now := &stream{end: 5, plan: []string{"slow"}}, clocktesting.NewFakeClock(time.Unix(1000, 0))
	from.list = &metav1.PartialObjectMetadataList{}
	s, warnings := cache.NewStore(cache.MetaNamespaceKeyFunc), new(int)
	r := cache.NewReflectorWithOptions(from, &metav1.PartialObjectMetadata{}, s, cache.ReflectorOptions{Name: "r", Clock: now, Backoff: &wait.Backoff{}})
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), logr.New(expired{warnings})))
	defer cancel()
	go r.RunWithContext(ctx)
	c.quiesce()
	for n, step := range []struct {
		takes time.Duration
		want  int
		then  func()
	}{
		{10 * time.Second, 1, nil}, {4 * time.Second, 1, func() { from.watch.Add(object("c", 1)) }}, {6 * time.Second, 1, nil}, {10 * time.Second, 2, from.ends}, {10 * time.Second, 2, nil},
	} {
		now.Step(step.takes)
		c.quiesce()
		c.is(fmt.Sprintf("how often a reflector has warned of a slow streaming list when it has looked at it %d times", n+1), step.want, *warnings)
		if step.then != nil {
			step.then()
			c.quiesce()
		}
	}
	c.holds(" after a slow streaming list", s, model{"c": object("c", 1)})
	cancel()
	c.quiesce()
}

// goesOn waits until all goroutines rest, although the clock of a check ends a wait of no time only when it is told the time.
func (c *check) goesOn(now *clocktesting.FakeClock) {
	for range 4 {
		c.quiesce()
		now.Step(0)
	}
	c.quiesce()
}

// plans draws what comes of the next watches, and returns what they should ask for: a watch after a list that does not stream is the last.
func (c *check) plans(from *stream, revision string) (want []string) {
	from.plan = nil
	for range c.IntN(4) {
		next := []string{"429", "expired", "too large", "closed", "broken", "invalid"}[c.IntN(6)]
		from.plan = append(from.plan, next)
		want = append(want, "a stream from "+revision)
		switch next {
		case "expired", "too large", "broken":
			revision = ""
		case "invalid": // the list that follows does not stream
			return append(want, "a watch from "+from.list.ResourceVersion)
		}
	}
	return append(want, "a stream from "+revision)
}

// streamed compares the requests of a reflector with those that there should be.
func (c *check) streamed(when string, from *stream, want []string) {
	var got []string
	for _, o := range from.watched {
		if o.SendInitialEvents == nil {
			got = append(got, "a watch from "+o.ResourceVersion)
			continue
		}
		got = append(got, "a stream from "+o.ResourceVersion)
		c.is("whether a streaming list wants initial events, bookmarks, and nothing older"+when, [3]bool{true, true, true},
			[3]bool{*o.SendInitialEvents, o.AllowWatchBookmarks, o.ResourceVersionMatch == metav1.ResourceVersionMatchNotOlderThan})
		c.is("whether a streaming list has a timeout"+when, true, o.TimeoutSeconds != nil)
	}
	c.is("the streaming lists and watches"+when, fmt.Sprintf("%q", want), fmt.Sprintf("%q", got))
	lists := 0
	for _, next := range want {
		if len(next) > 7 && next[:7] == "a watch" {
			lists++
		}
	}
	c.is("how many lists do not stream"+when, lists, len(from.listed))
}

// List implements cache.ListerWatcher.
func (s *stream) List(options metav1.ListOptions) (runtime.Object, error) {
	return s.source.List(options)
}
