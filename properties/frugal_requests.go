package properties

import (
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// FrugalRequests checks that informers do not ask for more than they need: a list of the newest state is a consistent read of the Store,
// and a watch without bookmarks ends in a list that it could have spared (I1 to I3, I14, I25).
var FrugalRequests = Property{
	Name: "FrugalRequests",
	Statement: "an informer asks for a list of the newest state while the server does not have what it asked for before, and only then; " +
		"its watches ask for bookmarks, and it closes none that works to open another",
	Kinds: append(slices.Clone(requestKinds), subjects.KindRefused),
	New: func() Checker {
		p := &frugalRequests{}
		return Checker{Record: p.record}
	},
}

// frugalRequests knows which lists of each connection are answered.
type frugalRequests struct{ conns byActor[frugalConn] }

type frugalConn struct {
	id     int64 // of the request in flight, or the open watch
	kind   asked
	paged  bool             // it goes on with a list
	listed reports.Evidence // of the last list that was complete; none before the first
	gone   bool             // since then, the server did not have a resourceVersion
	lost   reports.Evidence // of that, once the informer has been told of it; none
	worked bool             // the open watch has brought no ERROR, and nothing that the informer refuses
	closed reports.Evidence // that the client has closed one that worked; none
}

func (p *frugalRequests) record(w World, r *sim.Record) *reports.Violation {
	c := p.conns.get(r.Actor)
	switch r.Kind {
	case fakeapiserver.KindRequest:
		return c.request(w, r)
	case fakeapiserver.KindPage:
		if page, ok := r.Obj.(*fakeapiserver.Page); ok && page.Continue == "" && c.kind == askList {
			c.complete(r)
		}
	case fakeapiserver.KindResponse:
		if err, failed := r.Obj.(error); failed && r.N == c.id {
			wait, _ := restDelay(err, c.kind)
			c.failed(r, err, wait > 0)
		}
	case fakeapiserver.KindFrame:
		c.frame(r)
	case fakeapiserver.KindWatchClosed:
		if r.N == c.id && c.worked && r.Detail == fakeapiserver.CanceledByClient {
			c.closed = reports.Because(r, "it closes watch %d, which works", r.N)
		}
	case subjects.KindStopped:
		if conn, ok := w.Kernel().ActorByName("conn/" + w.Kernel().ActorName(r.Actor)); ok {
			*p.conns.get(conn) = frugalConn{} // another life would know nothing of its lists
		}
	case subjects.KindRefused:
		if conn, ok := w.Kernel().ActorByName("conn/" + w.Kernel().ActorName(r.Actor)); ok && r.Key == "" {
			c := p.conns.get(conn)
			c.listed, c.closed, c.worked = reports.Evidence{}, reports.Evidence{}, false // it did not take that list
		}
	}
	return nil
}

func (c *frugalConn) request(w World, r *sim.Record) *reports.Violation {
	kind, q := askedFor(r)
	if kind == 0 {
		return nil
	}
	if c.closed.Text != "" {
		c.listed = c.closed
		return c.broken(w, r, "closes a watch that works, and asks again")
	}
	if c.id, c.kind, c.worked = r.N, kind, kind != askList; kind != askList && !q.Options.AllowWatchBookmarks {
		return c.broken(w, r, "asks for no bookmarks")
	}
	c.paged = q.Continue != ""
	if kind == askWatch || c.paged {
		return nil
	}
	switch newest := q.Options.ResourceVersion == ""; {
	case newest && c.listed.Text != "" && !c.gone:
		return c.broken(w, r, "asks for the newest state, although it has a resourceVersion that no server lacked")
	case !newest && c.lost.Text != "":
		c.listed = c.lost
		return c.broken(w, r, "does not ask for the newest state, although the server lacked a resourceVersion, and there was no list since")
	}
	return nil
}

func (c *frugalConn) complete(r *sim.Record) {
	c.listed, c.gone, c.lost = reports.Because(r, "it has a list at rv=%d", r.RV), false, reports.Evidence{}
}

// failed notes an error. Its client may send the request again, so that the informer is not told.
func (c *frugalConn) failed(r *sim.Record, err error, again bool) {
	// Not that of a watch (I35), nor a continue token that has expired: another list at the same resourceVersion follows (I8).
	if c.kind != askWatch && isUnavailable(err) && !(c.paged && apierrors.IsResourceExpired(err)) {
		c.gone = true
		if !again {
			c.lost = reports.Because(r, "%s failed: %v", c.kind, err)
		}
	}
}

func (c *frugalConn) frame(r *sim.Record) {
	if r.N == c.id && r.Detail == string(watch.Error) {
		c.worked = false
	}
	if c.kind != askStream || r.N != c.id {
		return
	}
	switch status, _ := r.Obj.(*metav1.Status); {
	case r.Detail == string(watch.Error) && status != nil:
		c.failed(r, &apierrors.StatusError{ErrStatus: *status}, false)
	case r.Detail == string(watch.Bookmark) && endsInitialEvents(r.Obj):
		c.complete(r)
		c.kind = askWatch
	}
}

func (c *frugalConn) broken(w World, r *sim.Record, what string) *reports.Violation {
	v := &reports.Violation{Message: fmt.Sprintf("%s %s: %s", w.Kernel().ActorName(r.Actor), what, r.Detail)}
	if c.listed.Text != "" {
		v.Because = append(v.Because, c.listed)
	}
	v.Because = append(v.Because, reports.Because(r, "but it asks: %s", r.Detail))
	return v
}
