package world

import (
	"net/http"
	"net/url"
	"time"

	"github.com/informersim/informersim/fakeapiserver/rest"
	"github.com/informersim/informersim/sim"
)

// backlog is what one of the cluster's own controllers has to do: an actor that handles one item after the other, with one request at most each.
// Its requests go through the API like any client's: faults and lost races meet them, and the trace shows them.
type backlog[K comparable] struct {
	w      *world
	name   string // of the actor
	client string
	id     sim.ActorID
	kind   sim.Kind
	handle func(K)

	items   []K
	queued  map[K]bool
	offered bool
	busy    bool // a request is in flight
}

func newBacklog[K comparable](w *world, name, client string, kind sim.Kind, handle func(K)) *backlog[K] {
	b := &backlog[K]{w: w, name: name, client: client, kind: kind, handle: handle, queued: map[K]bool{}}
	b.id = w.kernel.Register(b)
	return b
}

// Name implements sim.Actor.
func (b *backlog[K]) Name() string { return b.name }

// Apply implements sim.Actor.
func (b *backlog[K]) Apply(sim.Choice) {
	b.offered = false
	if len(b.items) == 0 {
		return // the Store was restored
	}
	item := b.items[0]
	b.items = b.items[1:]
	delete(b.queued, item)
	b.handle(item)
	b.offer()
}

// clear forgets all items.
func (b *backlog[K]) clear() {
	b.items = nil
	clear(b.queued)
}

// add queues an item that is not queued.
func (b *backlog[K]) add(item K) {
	if !b.queued[item] {
		b.queued[item] = true
		b.items = append(b.items, item)
		b.offer()
	}
}

func (b *backlog[K]) offer() {
	if len(b.items) > 0 && !b.offered && !b.busy {
		b.offered = true
		b.w.kernel.Clock().AfterFunc(b.pause(), func() { b.w.kernel.Offer(b.id, b.kind, 0) })
	}
}

// The bounds of the delay before an item is handled. Without a delay, a controller whose stale cache makes it undo what one of the cluster's
// has done would loop for ever without time passing.
const (
	minBacklogPause = 100 * time.Millisecond
	maxBacklogPause = time.Second
)

func (b *backlog[K]) pause() time.Duration {
	return minBacklogPause + time.Duration(b.w.kernel.Stream(b.name).IntN(int(maxBacklogPause-minBacklogPause)))
}

// request makes a request, and then again looks at what comes of it: at once, or after retryWait if the request failed.
func (b *backlog[K]) request(method, path, contentType string, body []byte, again func()) {
	b.busy = true
	goOn := func() { b.busy = false; again(); b.offer() }
	s := &backlogSink{finished: func(ok bool) {
		if ok {
			goOn()
			return
		}
		b.w.kernel.Clock().AfterFunc(retryWait, goOn)
	}}
	b.w.api.Serve(&rest.Request{
		Method: method, URL: &url.URL{Path: path}, Header: http.Header{"Content-Type": {contentType}, "Accept": {"application/json"}},
		Body: body, Client: b.client,
	}, s)
}

// backlogSink receives the answer to a request.
type backlogSink struct {
	finished func(ok bool)
	sink
}

func (s *backlogSink) Answer(code int, h http.Header, body rest.Body) {
	s.sink.Answer(code, h, body)
	s.finished(code < 300 || code == http.StatusNotFound || code == http.StatusConflict)
}

func (s *backlogSink) Fail(err error) { s.sink.Fail(err); s.finished(false) }
