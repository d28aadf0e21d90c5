package library

import (
	"errors"
	"fmt"
	"math"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/informer"
)

// expires ends the watch of a Reflector, and has it list again.
func (c *check) expires(r *informer.Reflector) {
	r.OnWatchOpened()
	r.OnEvent(watch.Event{Type: watch.Error, Object: status(apierrors.NewResourceExpired("too old"))})
	r.OnTime(r.Want().Until)
	c.is("after a watch that expired", informer.OpList, r.Want().Op)
}

// pages are lists that come in pages, or not: only one at "0" that does says that all should (I5, I6).
func (c *check) pages() {
	r := informer.NewReflector(informer.ReflectorOptions{Queue: &refusing{}})
	r.Start(start)
	paged := c.oneIn(2)
	answer := func(rv string, pages bool) {
		last := rv
		if pages {
			limit := r.Want().Options.Limit
			var remaining *int64 // whatever a server says there is
			if more := []int64{-1, 0, 7, math.MaxInt64}[c.IntN(4)]; c.oneIn(2) {
				remaining = &more
			}
			r.OnPage(nil, rv, "next", remaining)
			o := r.Want().Options
			c.is("the request for the next page", fmt.Sprintf("%q next %d", "", limit), fmt.Sprintf("%q %s %d", o.ResourceVersion, o.Continue, o.Limit))
			last += "9" // a page may be of a later state, and counts as that of the first
		}
		if pages && c.oneIn(3) { // or its token may have expired: the list is one in pages all the same
			r.OnListError(apierrors.NewResourceExpired("too old"))
			last = rv
		}
		r.OnPage(nil, last, "", nil)
		c.is("LastSyncResourceVersion after a list", rv, r.LastSyncResourceVersion())
	}
	asks := func(rv string, limit int64) {
		o := r.Want().Options
		c.is("a list", fmt.Sprintf("%q limit %d", rv, limit), fmt.Sprintf("%q limit %d", o.ResourceVersion, o.Limit))
	}
	var latched int64
	asks("0", informer.DefaultPageSize)
	if answer("10", paged); paged {
		latched = informer.DefaultPageSize
	}
	c.expires(r)
	asks("10", latched)
	if c.oneIn(2) {
		r.OnListError(apierrors.NewResourceExpired("too old"))
		asks("", latched)
		answer("20", true)
	} else {
		answer("20", true)
	}
	c.expires(r)
	asks("20", latched)
	r.OnListError(errors.New("no"))
	r.OnTime(r.Want().Until)
	asks("20", latched)
	r.OnListError(apierrors.NewResourceExpired("too old"))
	r.OnListError(apierrors.NewResourceExpired("too old"))
	c.is("after a newest list that expired", informer.OpSleep, r.Want().Op)
	r.OnTime(r.Want().Until)
	asks("", informer.DefaultPageSize)
	answer("30", false)
	c.expires(r)
	asks("30", latched)
	c.expiredToken(r)
}

// expiredToken has a token expire (I8): the whole list follows, at the revision that was asked for first, and counts as it is.
func (c *check) expiredToken(r *informer.Reflector) {
	if r.Want().Options.Limit == 0 {
		return
	}
	r.OnPage([]runtime.Object{object("ns1/a", 1)}, "40", "next", nil)
	r.OnListError(apierrors.NewResourceExpired("too old"))
	o := r.Want().Options
	c.is("the list after a token that expired", `"30"  0`, fmt.Sprintf("%q %s %d", o.ResourceVersion, o.Continue, o.Limit))
	r.OnPage([]runtime.Object{object("ns1/b", 1)}, "50", "", nil)
	c.is("LastSyncResourceVersion after that", "50", r.LastSyncResourceVersion())
	c.is("the watch after that", "50", r.Want().Options.ResourceVersion)
}

// stops stops a Reflector in each of its states. Only the pause of a streaming list goes on to its end (I18).
func (c *check) stops() {
	for state := range 6 {
		q := &refusing{}
		r := informer.NewReflector(informer.ReflectorOptions{Queue: q, WatchList: state == 5, ResyncPeriod: resyncPeriod})
		r.Start(start)
		busy := apierrors.NewTooManyRequests("busy", 1)
		switch state {
		case 1:
			r.OnListError(errors.New("no"))
		case 2, 3, 4:
			r.OnPage(nil, "10", "", nil)
			if state == 3 {
				r.OnWatchOpened()
			}
			if state == 4 {
				r.OnWatchOpenError(busy)
			}
		case 5:
			r.OnWatchOpenError(busy)
		}
		until := r.Want().Until
		r.Stop()
		c.is(fmt.Sprintf("Stopped in state %d", state), state != 5, r.Stopped())
		if state == 5 {
			r.OnTime(until)
		}
		c.is(fmt.Sprintf("what it asks for after a stop in state %d", state), informer.OpNone, r.Want().Op)
		r.OnTime(start.Add(resyncPeriod))
		c.is("Stopped afterwards", true, r.Stopped())
		c.is("resyncs after a stop", 0, q.resyncs)
	}
}

// unordered is a list without a revision of its own, so that the watch behind it begins with what there is, in no order. None of that counts until something
// changes (I26). The next watch begins where that one has ended, and is in order.
func (c *check) unordered() {
	var followed []string
	r := informer.NewReflector(informer.ReflectorOptions{Queue: &refusing{}, OnResourceVersion: func(rv string) { followed = append(followed, rv) }})
	r.Start(start)
	none := []string{"", "0"}[c.IntN(2)]
	r.OnPage(nil, none, "", nil)
	r.OnWatchOpened()
	changed := []watch.EventType{watch.Modified, watch.Deleted, watch.Bookmark}[c.IntN(3)]
	for _, e := range []struct {
		what     watch.EventType
		revision int
		want     string
	}{{watch.Added, 6, none}, {changed, 7, "7"}, {"UNKNOWN", 8, "8"}, {watch.Added, 9, "9"}} {
		r.OnEvent(watch.Event{Type: e.what, Object: object("ns1/a", e.revision)})
		c.is(fmt.Sprintf("LastSyncResourceVersion after an event %s at %d, behind a list at %q", e.what, e.revision, none), e.want, r.LastSyncResourceVersion())
	}
	r.OnWatchClosed(nil)
	c.is("the watch behind that", "9", r.Want().Options.ResourceVersion)
	r.OnWatchOpened()
	r.OnEvent(watch.Event{Type: watch.Added, Object: object("ns1/a", 10)})
	c.is("the revisions that somebody is told who follows them", []string{"7", "8", "9", "10"}, followed)
}

// failing is a queue whose transform fails.
type failing struct{ *refusing }

func (failing) Transformer() cache.TransformFunc {
	return func(any) (any, error) { return nil, errFull }
}

// unstored is a streaming list that brings what cannot be stored. It has brought something all the same, so one that is cut off is asked for again at
// once (I20).
func (c *check) unstored() {
	r := informer.NewReflector(informer.ReflectorOptions{Queue: failing{&refusing{}}, WatchList: true})
	r.Start(start)
	r.OnWatchOpened()
	r.OnEvent(watch.Event{Type: watch.Added, Object: object("ns1/a", 6)})
	r.OnWatchClosed(cuts[c.IntN(len(cuts))])
	c.is("what follows a streaming list that brought what cannot be stored, and is cut off", informer.OpWatch, r.Want().Op)
}

// later is the later of two times.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// backoffs compute the pauses of a Reflector's rounds, which double up to half a minute, with up to as much again at random (I12).
func (c *check) backoffs() {
	b := informer.NewBackoff(informer.BackoffOptions{}, start)
	now, since, longest := start, start, 800*time.Millisecond
	for range 12 {
		switch c.IntN(6) {
		case 0:
			now = later(now, since.Add(2*time.Minute))
		case 1:
			now = later(now, since.Add(2*time.Minute+1))
		default:
			now = now.Add(time.Second)
		}
		if now.Sub(since) > 2*time.Minute {
			since, longest = now, 800*time.Millisecond
		}
		random := c.Float64()
		want := longest + time.Duration(random*float64(longest))
		got := b.Next(now, random)
		c.is("Next of a Backoff, to the millisecond", want.Round(time.Millisecond), got.Round(time.Millisecond))
		longest = min(2*longest, 30*time.Second)
	}
	c.is("Next of a Backoff that was not used for two minutes", 800*time.Millisecond, b.Next(now.Add(3*time.Minute), 0))
}
