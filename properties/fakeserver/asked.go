package fakeserver

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/internal/same"
)

// asked is a request, and what has come of it. It is a fakeapiserver.Receiver.
type asked struct {
	r         *round
	id        fakeapiserver.ReqID
	sent      int64 // the Store's revision then
	options   metav1.ListOptions
	selection selection
	answers   int
	shaken    bool // a server was restarted meanwhile
	void      bool // the Store was restored, and nothing of it is judged
	tooOld    bool // it asks for what no server has any more
	mine      *object
	slow      bool   // it was under way while watch caches were held
	lost      int64  // what was compacted then
	wrong     string // the first thing that is

	list  bool
	began *asked // the page before
	after string // the last key of that
	last  string
	next  string // the token of the next page
	at    int64  // the list's revision

	verb         fakeapiserver.WriteVerb
	key          string
	expects, uid string // the resourceVersion of an update, and the uid of a deletion

	stream, initial bool
	open            bool
	closed          bool
	refusedAs       string
	base            int64 // where the events begin
	events          []string
	added           []string // the initial events
	reached         int64
	since           time.Duration
	bookmarks       int
}

var _ fakeapiserver.Receiver = (*asked)(nil)

func (a *asked) String() string {
	o := &a.options
	switch {
	case a.list:
		return fmt.Sprintf("a list of %+v at %q %s, limit %d, continued %t, sent at rv=%d", a.selection, o.ResourceVersion, o.ResourceVersionMatch, o.Limit, a.began != nil, a.sent)
	case a.stream:
		return fmt.Sprintf("a watch of %+v at %q, initial events %t, bookmarks %t, sent at rv=%d", a.selection, o.ResourceVersion, a.initial, o.AllowWatchBookmarks, a.sent)
	}
	return fmt.Sprintf("%s %s, expecting rv=%q uid=%q, sent at rv=%d", a.verb, a.key, a.expects, a.uid, a.sent)
}

func (a *asked) is(what string, want, got any) {
	if a.void || a.wrong != "" || same.Plainly(want, got) {
		return
	}
	if w, g := fmt.Sprint(want), fmt.Sprint(got); w != g {
		a.wrong = fmt.Sprintf("%s: %s, want %s", what, g, w)
	}
}

// revision is the one asked for, 0 for none.
func (a *asked) revision() int64 {
	rev, err := strconv.ParseInt(a.options.ResourceVersion, 10, 64)
	if err != nil {
		return 0
	}
	return rev
}

func (a *asked) exact() bool {
	o := &a.options
	single := a.selection.name != "" && a.selection.namespace != ""
	return a.revision() > 0 && (o.ResourceVersionMatch == metav1.ResourceVersionMatchExact || o.ResourceVersionMatch == "" && o.Limit > 0 && !single)
}

// broke reports whether an error is of a connection to a server that was restarted, or of one that is starting.
func (a *asked) broke(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && a.shaken || apierrors.IsTooManyRequests(err) && a.r.restarted
}

// OnList implements fakeapiserver.Receiver.
func (a *asked) OnList(_ fakeapiserver.ReqID, p *fakeapiserver.Page, err error) {
	a.answers++
	switch {
	case err == nil:
		a.page(p)
	case a.broke(err):
	default:
		a.refused(err)
	}
}

// refused judges the error of a list.
func (a *asked) refused(err error) {
	s := a.r.cluster.Store()
	target := a.revision()
	if a.began != nil {
		target = a.began.at
	}
	switch {
	case fakeTooLarge(err):
		a.is("it is refused as too large, and the Store was there", true, target > a.sent && a.began == nil || a.slow && target > 0)
	case apierrors.IsResourceExpired(err):
		a.is("it is refused as expired, and the Store was not compacted beyond that", true, (a.exact() || a.began != nil) && target < s.Compacted())
		var status apierrors.APIStatus
		if errors.As(err, &status) && a.began != nil {
			a.next, a.last, a.at = status.Status().Continue, a.after, 0 // it may go on at another revision
			a.is("an expired token comes with another", true, a.next != "")
		}
	default:
		a.is("its error", nil, err)
	}
}

func fakeTooLarge(err error) bool {
	return apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge)
}

// page judges a page.
func (a *asked) page(p *fakeapiserver.Page) {
	asked, limit := a.revision(), int(a.options.Limit)
	switch {
	case a.began != nil && a.began.at > 0:
		a.is("the revision of a further page", a.began.at, p.Revision)
	case a.began != nil, a.options.ResourceVersion == "":
		a.is("the newest state is as new as when it was asked for", true, p.Revision >= a.sent)
	case a.exact():
		a.is("the exact revision", asked, p.Revision)
		a.is("the revision was compacted when it was asked for", false, asked < a.lost)
	default:
		a.is("it is not older than asked for", true, p.Revision >= asked)
	}
	a.is("it is not newer than the Store", true, p.Revision <= a.r.cluster.Store().Revision())
	single := a.began == nil && a.selection.name != "" && a.selection.namespace != ""
	if a.options.ResourceVersion == "0" || single {
		limit = 0
	}
	want := a.r.model.list(&a.selection, p.Revision, a.after)
	left := len(want)
	if limit > 0 && left > limit {
		want = want[:limit]
	}
	var got []string
	for _, o := range p.Items {
		got = append(got, print(o))
	}
	a.is("its objects", want, got)
	a.is("its resourceVersion", p.Revision, p.ResourceVersion)
	selects := a.selection.app != "" || a.selection.name != "" || a.selection.within != ""
	full := limit > 0 && len(want) == limit
	switch {
	case p.Continue == "":
		a.is("objects that are left", len(want), left)
	case !selects:
		a.is("there are objects left", true, left > len(want))
		n := int64(-1)
		if p.RemainingItemCount != nil {
			n = *p.RemainingItemCount
		}
		a.is("remainingItemCount", left-len(want), n)
	default:
		a.is("a page of a selection that is not full goes on", false, !full)
		a.is("remainingItemCount of a selection", true, p.RemainingItemCount == nil)
	}
	if a.next, a.at = p.Continue, p.Revision; a.next != "" && len(p.Keys) > 0 {
		a.last = p.Keys[len(p.Keys)-1]
	}
}

// OnWrite implements fakeapiserver.Receiver.
func (a *asked) OnWrite(_ fakeapiserver.ReqID, obj runtime.Object, err error) {
	a.answers++
	a.mine.Labels["app"] = "the client's own" // which is no concern of the server's
	if err != nil && a.broke(err) {
		return
	}
	still := a.r.since(a.sent) == 0 || !slices.ContainsFunc(a.r.changes, func(x change) bool { return x.rv > a.sent && x.key == a.key })
	live := a.r.at(a.sent)[a.key]
	if err == nil {
		a.written(obj)
		return
	}
	if !still {
		return // others have written it
	}
	switch {
	case apierrors.IsAlreadyExists(err):
		a.is("it exists already", true, live != nil && a.verb == fakeapiserver.Create)
	case apierrors.IsNotFound(err):
		a.is("it is not there", true, live == nil && a.verb != fakeapiserver.Create)
	case apierrors.IsConflict(err):
		a.is("it conflicts", true, live != nil && (a.expects != "" && a.expects != strconv.FormatInt(live.rv, 10) || a.uid != "" && a.uid != live.uid))
	default:
		a.is("its error", nil, err)
	}
}

// written judges a write that succeeded: its commit is the one of its answer's revision.
func (a *asked) written(obj runtime.Object) {
	m, ok := obj.(*object)
	n := slices.IndexFunc(a.r.changes, func(x change) bool { return ok && m != nil && strconv.FormatInt(x.rv, 10) == m.ResourceVersion })
	if n < 0 {
		a.is("a commit of what it answers", true, false)
		return
	}
	x := a.r.changes[n]
	a.is("the key of its commit", a.key, x.key)
	a.is("it deletes", a.verb == fakeapiserver.Delete, x.gone)
	a.is("the object existed before", a.verb != fakeapiserver.Create, x.existed)
	if a.expects != "" {
		a.is("the resourceVersion that it replaces", a.expects, x.beforeRevision)
	}
	if a.uid != "" {
		a.is("the uid that it deletes", a.uid, x.uid)
	}
}

// OnWatchOpened implements fakeapiserver.Receiver.
func (a *asked) OnWatchOpened(fakeapiserver.ReqID) {
	a.answers++
	a.open, a.since = true, a.r.kernel.Elapsed()
	if a.base = a.revision(); a.options.ResourceVersion == "0" && !a.initial {
		a.base = a.sent
	}
	a.reached = a.base
}

// OnWatchOpenError implements fakeapiserver.Receiver.
func (a *asked) OnWatchOpenError(_ fakeapiserver.ReqID, err error) {
	a.answers++
	a.closed = true
	if !a.broke(err) {
		a.is("its error", nil, err)
	}
}

// OnEvent implements fakeapiserver.Receiver.
func (a *asked) OnEvent(_ fakeapiserver.ReqID, e fakeapiserver.Event) {
	if t := a.options.TimeoutSeconds; t != nil {
		a.is("it has events within its time", true, a.r.kernel.Elapsed()-a.since <= time.Duration(*t)*time.Second)
	}
	switch {
	case e.Type == watch.Error:
		a.broken(e.Object)
	case e.Type == watch.Bookmark:
		a.bookmark(e)
	case a.initial:
		a.is("the type of an initial event", watch.Added, e.Type)
		a.added = append(a.added, print(e.Object))
	default:
		a.is("an event comes after the one before", true, e.Rev > a.reached)
		a.reached = e.Rev
		a.events = append(a.events, fmt.Sprintf("%s %s", e.Type, print(e.Object)))
	}
}

// bookmark judges a bookmark: what it covers has come.
func (a *asked) bookmark(e fakeapiserver.Event) {
	a.is("a bookmark was asked for", true, a.options.AllowWatchBookmarks)
	a.is("a bookmark is not older than what has come", true, e.Rev >= a.reached)
	a.is("a bookmark is not newer than the Store", true, e.Rev <= a.r.cluster.Store().Revision())
	if m, ok := e.Object.(*object); ok {
		a.is("the resourceVersion of a bookmark", e.Rev, m.ResourceVersion)
		ends := m.Annotations[metav1.InitialEventsAnnotationKey] == "true"
		a.is("a bookmark ends the initial events", a.initial, ends)
	}
	if a.initial {
		a.initial, a.base = false, e.Rev
		fresh := a.revision()
		if a.options.ResourceVersion == "" {
			fresh = a.sent
		}
		a.is("the initial events are not older than asked for", true, e.Rev >= fresh)
		a.is("the initial events", a.r.model.list(&a.selection, e.Rev, ""), a.added)
	} else {
		a.bookmarks++
		want := a.r.model.events(&a.selection, a.base)
		late := slices.DeleteFunc(want, func(line string) bool { return revisionIn(line) > e.Rev })
		a.is("events before a bookmark", strings.Join(late, ", "), strings.Join(a.events, ", "))
	}
	a.reached = e.Rev
}

// revisionIn is the revision in the description of an event.
func revisionIn(line string) int64 {
	_, rest, _ := strings.Cut(line, "@")
	digits, _, _ := strings.Cut(rest, " ")
	rev, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0
	}
	return rev
}

// broken judges the ERROR of a watch.
func (a *asked) broken(obj runtime.Object) {
	st, ok := obj.(*metav1.Status)
	if !ok {
		return
	}
	a.refusedAs = st.Message
	err := &apierrors.StatusError{ErrStatus: *st}
	rev := a.revision()
	switch {
	case fakeTooLarge(err):
		a.is("a streaming list is refused as too large, and the Store was there", true, a.initial && (rev > a.sent || a.slow))
	case apierrors.IsResourceExpired(err):
		kept := !a.r.restarted && rev >= a.r.cluster.Store().Compacted() && a.r.since(rev) <= a.r.history
		a.is("a watch is refused as too old, and the server has what came since", false, kept)
	default:
		a.is("its ERROR", nil, st.Message)
	}
}

// OnWatchClosed implements fakeapiserver.Receiver.
func (a *asked) OnWatchClosed(_ fakeapiserver.ReqID, err error) {
	a.closed = true
	a.is("it was open", true, a.open)
	if err != nil && !a.broke(err) {
		a.is("how it ends", nil, err)
	}
	if t := a.options.TimeoutSeconds; err == nil && a.refusedAs == "" && !a.shaken && a.r.compacted == 0 && !a.initial && a.unsent() <= a.r.history {
		long := a.r.kernel.Elapsed() - a.since
		a.is("it ended in its time", true, t != nil && long >= time.Duration(*t)*time.Second)
	}
}

// unsent is how many changes there are from the first on that a watch has still to send: it is too slow if that one has left the window.
func (a *asked) unsent() int {
	for _, line := range a.r.model.events(&a.selection, a.reached) {
		return a.r.since(revisionIn(line) - 1)
	}
	return 0
}

// finish judges what has come when nothing more is to come.
func (a *asked) finish() {
	if a.answers != 1 {
		a.is("answers", 1, a.answers)
	}
	if !a.stream || !a.open || a.refusedAs != "" {
		return
	}
	a.is("a watch from before all windows is served", false, a.tooOld && !a.shaken)
	if rev := a.revision(); rev > 0 && !a.initial && a.options.SendInitialEvents == nil {
		a.is("it begins where the history was compacted", false, rev < a.lost)
	}
	if a.initial {
		if !a.closed && a.options.AllowWatchBookmarks {
			a.is("the initial events have ended", true, false)
		}
		return
	}
	want, got := strings.Join(a.r.model.events(&a.selection, a.base), ", "), strings.Join(a.events, ", ")
	if a.closed {
		a.is("its events are the first ones", true, strings.HasPrefix(want, got))
		return
	}
	a.is("its events", want, got)
	if t := a.options.TimeoutSeconds; t != nil && a.r.kernel.Elapsed()-a.since > time.Duration(*t)*time.Second {
		a.is("it has ended when its time was over", true, false)
	}
}
