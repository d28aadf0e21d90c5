package properties

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// requestKinds are the records that reflectorRequests needs.
var requestKinds = []sim.Kind{
	fakeapiserver.KindRequest, fakeapiserver.KindResponse, fakeapiserver.KindPage, fakeapiserver.KindFrame, fakeapiserver.KindWatchClosed,
	subjects.KindBackoff, subjects.KindStopped,
}

// reflectorRequests follows what the reflectors of informers ask the apiserver for, and works out from the answers what each may
// ask for next, and from when on (I1 to I37). It sees requests and answers only, so it judges any stack in the same way.
type reflectorRequests struct {
	conns byActor[reflector]
	// strict leaves out the exemption of k140890.
	strict bool
	// two has watches that are refused wait by a backoff of their own (subjects.OneBackoff).
	two bool
}

// reflector is one informer's connection.
type reflector struct {
	backoff reflectorBackoff
	opening reflectorBackoff // of watches that are refused, where these have one of their own
	began   bool
	streams bool // it began with a streaming list, as each round then does (I13)

	id       int64  // of the request in flight or the open watch
	detail   string // as the request's record has it
	kind     asked
	plural   string
	paged    bool          // it continues a list
	refused  bool          // the informer's transform fails for an object of the pages before
	attempts int           // failed ones, which the REST layer hides from the reflector (I36)
	start    time.Duration // of the first attempt
	earliest time.Duration // when it may have begun: a stack with goroutines begins it when a timer fires, and it is sent later
	events   int           // frames of the watch that is open
	opened   bool

	round     time.Duration // when its list was complete; -1 for no round
	relisting bool          // this round's list has been repeated at "" (I3)
	whole     bool          // a list in pages has been repeated as a whole (I8)
	atOnce    int           // streaming lists in a row that were opened again at once

	next allowed
}

// asked is what a request asks for; as a set, what may be asked for.
type asked uint8

const (
	askList   asked = 1 << iota // a list, or a page of one
	askStream                   // a streaming list
	askWatch
	askRound = askList | askStream // how a round begins
)

func (a asked) String() string {
	switch a {
	case askList:
		return "a list"
	case askStream:
		return "a streaming list"
	case askWatch:
		return "a watch"
	}
	return "a list or a streaming list"
}

// allowed is what may be asked for next. The zero value allows nothing.
type allowed struct {
	what    asked
	resend  string        // the REST layer sends this request again
	backoff time.Duration // the least delay, without jitter; 0 for none
	retry   time.Duration // the REST layer's delay; 0 for none
	after   reason
	reopens bool // a streaming list at once, as k140890 has it
	unsure  bool // the watch before may have been very short, or not: a list has to wait for the backoff, a watch not
}

// reason is why a request is allowed. It becomes text only when something is broken.
type reason struct {
	step   uint64
	at     time.Duration
	asked  asked  // what was asked for, if what begins with that
	what   string // with the verb for err and closed, if there is one
	err    error
	closed string // how a watch ended
	events int
	lasted time.Duration
}

// because turns the reason into evidence.
func (f *reason) because() []reports.Evidence {
	text := f.what
	if f.asked != 0 {
		text = f.asked.String() + " " + f.what
	}
	switch {
	case f.what == "":
		return nil
	case f.closed != "":
		text += fmt.Sprintf(" (%s), after %d events and %v", f.closed, f.events, f.lasted)
	case f.err != nil:
		text += ": " + f.err.Error()
	}
	return []reports.Evidence{{Step: f.step, At: f.at, Text: text}}
}

// request notes a request, and returns what was allowed. ok is false if the record is not a list or watch.
func (p *reflectorRequests) request(r *sim.Record) (c *reflector, before allowed, ok bool) {
	kind, q := askedFor(r)
	if kind == 0 {
		return nil, allowed{}, false
	}
	c = p.conns.get(r.Actor)
	before = c.next
	if !c.began {
		*c = reflector{began: true, streams: kind == askStream, backoff: newReflectorBackoff(r.At), opening: newReflectorBackoff(r.At), round: -1}
		before = allowed{what: askRound, after: reason{step: r.Step, at: r.At, what: "the informer starts"}}
	}
	c.next = allowed{}
	c.id, c.plural, c.opened, c.events = r.N, r.Key, false, 0
	if before.resend != "" && before.resend == r.Detail {
		return c, before, true
	}
	if kind != askStream || !before.reopens {
		c.atOnce = 0
	}
	before.decide(c, kind)
	if kind != askWatch {
		c.round = -1
	}
	c.kind, c.detail, c.start, c.attempts = kind, r.Detail, r.At, 0
	c.earliest = min(r.At, before.after.at+before.backoff)
	if before.backoff == 0 {
		c.earliest = r.At
	}
	c.paged = q.Continue != ""
	return c, before, true
}

// decide settles what was unsure, now that the reflector has asked for something or begun to wait.
func (a *allowed) decide(c *reflector, kind asked) {
	if a.unsure && kind&askRound != 0 {
		a.backoff = c.backoff.next(a.after.at)
	}
	a.unsure = false
}

// askedFor returns what a request's record asks for, 0 and nil if it is neither a list nor a watch.
func askedFor(r *sim.Record) (asked, *fakeapiserver.Asked) {
	switch a, _ := r.Obj.(*fakeapiserver.Asked); {
	case a == nil:
		return 0, nil
	case !a.Watch:
		return askList, a
	case a.Streaming():
		return askStream, a
	default:
		return askWatch, a
	}
}

// answer follows the records other than requests.
func (p *reflectorRequests) answer(w World, r *sim.Record) {
	if r.Kind == subjects.KindStopped {
		if id, ok := w.Kernel().ActorByName("conn/" + w.Kernel().ActorName(r.Actor)); ok {
			*p.conns.get(id) = reflector{}
		}
		return
	}
	c := p.conns.get(r.Actor)
	if !c.began {
		return
	}
	if r.Kind == fakeapiserver.KindPage {
		if c.kind == askList {
			c.listed(w, r)
		}
		return
	}
	if r.N != c.id {
		return
	}
	switch r.Kind {
	case fakeapiserver.KindResponse:
		if err, failed := r.Obj.(error); failed {
			p.failed(c, r, err)
			return
		}
		c.opened, c.attempts = true, 0
	case fakeapiserver.KindFrame:
		p.frame(c, r)
	case fakeapiserver.KindWatchClosed:
		if c.opened && r.Detail != fakeapiserver.CanceledByClient {
			err, _ := r.Obj.(error)
			p.closed(c, reason{step: r.Step, at: r.At, what: "its watch ended", closed: r.Detail, err: err})
		}
	}
}

// listed notes a page: the next one follows, or a watch (I31), or a list if the informer's transform fails for an object (I112).
func (c *reflector) listed(w World, r *sim.Record) {
	page, ok := r.Obj.(*fakeapiserver.Page)
	if !ok {
		return
	}
	c.refused = c.paged && c.refused || refusesItems(w, r.Actor, page.Items)
	if c.refused && page.Continue == "" {
		c.refused = false
		c.endRound(reason{step: r.Step, at: r.At, what: "its transform failed for an object of its list"})
		return
	}
	c.next = allowed{what: askWatch, after: reason{step: r.Step, at: r.At, what: "its list is complete"}}
	if page.Continue != "" {
		c.next.what, c.next.after.what = askList, "its list goes on"
		return
	}
	c.relisting, c.whole, c.round = false, false, r.At
}

// inRound reports whether the informer's list is complete and no other is due.
func (c *reflector) inRound() bool { return c.began && c.round >= 0 && c.next.what&askRound == 0 }

// failed notes that a request was answered with an error.
func (p *reflectorRequests) failed(c *reflector, r *sim.Record, err error) {
	from := reason{step: r.Step, at: r.At, asked: c.kind, what: "failed", err: err}
	c.attempts++
	wait, transport := restDelay(err, c.kind)
	switch {
	case wait > 0 && c.attempts <= restRetries:
		c.next = allowed{resend: c.detail, retry: wait, after: from}
	case transport && c.kind != askList:
		c.opened, c.events = true, 0 // counts as an empty watch (I36)
		p.closed(c, from)
	case c.kind == askList:
		c.listFailed(err, from)
	default:
		p.watchFailed(c, err, from)
	}
}

// listFailed decides what follows a list that failed for good (I3, I8, I12).
func (c *reflector) listFailed(err error, from reason) {
	switch {
	case c.paged && !c.whole && apierrors.IsResourceExpired(err):
		c.whole = true
		c.next = allowed{what: askList, after: from}
	case isUnavailable(err) && !c.relisting:
		c.relisting, c.whole = true, false
		c.next = allowed{what: askList, after: from}
	default:
		c.endRound(from)
	}
}

// endRound ends a round: another follows after the backoff (I12).
func (c *reflector) endRound(from reason) {
	c.relisting, c.whole = false, false
	c.next = allowed{what: askRound, backoff: c.backoff.next(from.at), after: from}
	if c.streams {
		c.next.what = askStream
	}
}

// watchFailed decides what follows a watch or streaming list that could not be opened, or sent an error (I17 to I19, I33, I34).
func (p *reflectorRequests) watchFailed(c *reflector, err error, from reason) {
	switch {
	case apierrors.IsTooManyRequests(err) || utilnet.IsConnectionRefused(err):
		b := &c.backoff
		if p.two {
			b = &c.opening
		}
		c.next = allowed{what: c.kind, backoff: b.next(from.at), after: from}
	case c.kind == askWatch:
		c.endRound(from)
	case isUnavailable(err):
		p.reopen(c, from)
	default:
		c.next = allowed{what: askList, after: from}
	}
}

// frame counts an event of a watch, or ends the watch with an error.
func (p *reflectorRequests) frame(c *reflector, r *sim.Record) {
	switch r.Detail {
	case string(watch.Error):
		status, _ := r.Obj.(*metav1.Status)
		if status == nil {
			status = &metav1.Status{}
		}
		err := &apierrors.StatusError{ErrStatus: *status}
		p.watchFailed(c, err, reason{step: r.Step, at: r.At, asked: c.kind, what: "got an ERROR event", err: err})
		c.opened = false
		return
	case string(watch.Bookmark):
		if c.kind == askStream && endsInitialEvents(r.Obj) {
			// The list is complete, and the same stream goes on as a watch (I16).
			c.kind, c.start, c.events, c.atOnce, c.round = askWatch, r.At, 0, 0, r.At
			c.relisting, c.whole = false, false
			return
		}
	}
	c.events++
}

// closed decides what follows a watch that ended without an ERROR event (I20, I21, I31, I32). Only a connection that broke in another
// way than by an EOF or a timeout is an error to the client (I37).
func (p *reflectorRequests) closed(c *reflector, from reason) {
	c.opened = false
	if err := from.err; err != nil && !utilnet.IsProbableEOF(err) && !errors.Is(err, io.ErrUnexpectedEOF) && !utilnet.IsTimeout(err) {
		p.watchFailed(c, apierrors.NewInternalError(err), from)
		return
	}
	short := c.events == 0 && from.at-c.start < time.Second
	unsure := short && from.at-c.earliest >= time.Second
	from.events, from.lasted = c.events, from.at-c.start
	switch {
	case c.kind == askStream && unsure:
		c.next = allowed{what: askRound, after: from}
	case c.kind == askStream && short:
		c.next = allowed{what: askList, after: from}
	case c.kind == askStream:
		p.reopen(c, from)
	case unsure:
		c.next = allowed{what: askWatch | askRound, after: from, unsure: true}
	case short:
		c.endRound(from)
	default:
		c.next = allowed{what: askWatch, after: from}
	}
}

// reopen allows a streaming list at once, however often the one before has failed: the exemption of k140890. client-go does so when
// a streaming list is refused as expired or too large (I17), and when it ends without its bookmark (I20). It is upstream's
// behaviour and no finding; NoLivelock bounds it.
func (p *reflectorRequests) reopen(c *reflector, from reason) {
	c.atOnce++
	c.next = allowed{what: askStream, after: from, reopens: true}
	if p.strict && c.atOnce > 1 {
		c.next.backoff = c.backoff.next(from.at)
	}
}

// isUnavailable reports whether the server has not, or not yet, what a request asks for (I2, I4).
func isUnavailable(err error) bool {
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) || apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) {
		return true
	}
	return apierrors.IsTimeout(err) && strings.Contains(err.Error(), "Too large resource version")
}

// restRetries is how often the REST layer sends a request again before the reflector sees the error (I36).
const restRetries = 10

// restDelay returns how long the REST layer waits before it sends a request again, 0 if it does not (I36). transport reports that
// the error is one of the connection that it retries.
func restDelay(err error, kind asked) (wait time.Duration, transport bool) {
	if status, ok := statusOf(err); ok {
		s := status.Status()
		busy := s.Code == http.StatusTooManyRequests || s.Code >= http.StatusInternalServerError
		if !busy || s.Details == nil {
			return 0, false
		}
		return time.Duration(s.Details.RetryAfterSeconds) * time.Second, false
	}
	transport = utilnet.IsProbableEOF(err) || utilnet.IsTimeout(err)
	if kind == askList {
		transport = utilnet.IsConnectionReset(err) || utilnet.IsProbableEOF(err) || utilnet.IsHTTP2ConnectionLost(err)
	}
	if transport {
		return time.Second, true
	}
	return 0, false
}

// statusOf returns the answer in an error. Most are one, and need no room for a result of errors.As.
func statusOf(err error) (apierrors.APIStatus, bool) {
	if status, ok := err.(apierrors.APIStatus); ok {
		return status, true
	}
	var wrapped apierrors.APIStatus
	ok := errors.As(err, &wrapped)
	return wrapped, ok
}

// The reflector's backoff (I12).
const (
	reflectorBaseDelay = 800 * time.Millisecond
	reflectorMaxDelay  = 30 * time.Second
	reflectorReset     = 2 * time.Minute
)

// reflectorBackoff models the delays of a reflector, without jitter: they double, and start over when more than two minutes have
// passed since they last did.
type reflectorBackoff struct{ delay, since time.Duration }

func newReflectorBackoff(now time.Duration) reflectorBackoff {
	return reflectorBackoff{reflectorBaseDelay, now}
}

func (b *reflectorBackoff) next(now time.Duration) time.Duration {
	if now-b.since > reflectorReset {
		*b = newReflectorBackoff(now)
	}
	d := b.delay
	b.delay = min(2*d, reflectorMaxDelay)
	return d
}
