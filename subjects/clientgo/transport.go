package clientgo

import (
	"context"
	"io"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/informer"
	"github.com/informersim/informersim/subjects"
)

// transport is an informer's ListerWatcher on one side and a client of the fake apiserver on the other. Requests of goroutines in
// the bubble are noted, and sent when the bubble is quiescent.
type transport struct {
	i      *actor
	b      *gate
	client *fakeapiserver.Client

	// Noted by client-go's goroutines, guarded by b.mu.
	parked   []*request
	canceled []*request
	waits    []time.Duration // before a request is sent again

	// whole notes that the next list follows an expired continue token, and so must not be paged (I8).
	whole bool

	// The kernel's side.
	due      []*request // their backoff is over; sent by the choice wake
	live     []*request // sent and not finished
	keys     []string   // of the pages of the list in flight
	replaced *replaced  // the list or streaming list that was completed in this step
}

// request is a List or Watch that a goroutine waits for.
type request struct {
	watch   bool
	options metav1.ListOptions
	answer  chan answer // buffered: the kernel's side never blocks
	id      fakeapiserver.ReqID
	stream  *stream
	// initial is the streaming list so far: keys and revisions; nil for other requests, and once it is complete.
	initial map[string]int64
}

type answer struct {
	list *metainternalversion.List
	err  error
}

// replaced is a list that the reflector has added to its queue.
type replaced struct {
	keys      []string
	rv        string
	unordered bool             // its objects went through a map
	revisions map[string]int64 // of its objects, if it is unordered
}

func newTransport(i *actor, client *fakeapiserver.Client) *transport {
	return &transport{i: i, b: i.s.gate, client: client}
}

func (t *transport) listerWatcher() cache.ListerWatcher {
	return &cache.ListWatch{ListWithContextFunc: t.list, WatchFuncWithContext: t.open}
}

// list makes a list for client-go, on its goroutine. Failed attempts are retried as a REST client retries them (I36).
//
// A shared informer's page size cannot be set; its pager follows the first page.
func (t *transport) list(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	if t.i.Spec.PageSize > 0 && !t.whole {
		o.Limit = t.i.Spec.PageSize
	}
	t.whole = false
	var retry informer.RESTRetry
	for {
		_, a, err := t.roundTrip(ctx, false, o)
		if err != nil {
			return nil, err
		}
		d := retry.OnAnswer(informer.RESTAnswerOf(a.err), time.Now())
		switch d.Action {
		case informer.RESTSucceed:
			return a.list, nil
		case informer.RESTRetryAt:
			if err := t.sleep(ctx, d.At); err != nil {
				return nil, err
			}
		default:
			t.whole = o.Continue != "" && apierrors.IsResourceExpired(d.Err)
			return nil, d.Err
		}
	}
}

// open is list for a watch.
func (t *transport) open(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	retry := informer.RESTRetry{Watch: true}
	for {
		r, a, err := t.roundTrip(ctx, true, o)
		if err != nil {
			return nil, err
		}
		d := retry.OnAnswer(informer.RESTAnswerOf(a.err), time.Now())
		switch d.Action {
		case informer.RESTSucceed:
			return r.stream.watch(), nil
		case informer.RESTEmptyWatch:
			return watch.NewEmptyWatch(), nil
		case informer.RESTRetryAt:
			if err := t.sleep(ctx, d.At); err != nil {
				return nil, err
			}
		default:
			return nil, d.Err
		}
	}
}

// roundTrip parks a request until it is answered or its context ends.
func (t *transport) roundTrip(ctx context.Context, isWatch bool, o metav1.ListOptions) (*request, answer, error) {
	r := &request{watch: isWatch, options: o, answer: make(chan answer, 1)}
	if isWatch {
		r.stream = newStream(t, r)
	}
	t.b.mu.Lock()
	t.parked = append(t.parked, r)
	t.b.mu.Unlock()
	t.b.Note()
	select {
	case a := <-r.answer:
		return r, a, nil
	case <-ctx.Done():
		t.cancel(r)
		return nil, answer{}, ctx.Err()
	}
}

func (t *transport) cancel(r *request) {
	t.b.mu.Lock()
	t.canceled = append(t.canceled, r)
	t.b.mu.Unlock()
	t.b.Note()
}

// sleep backs off before a retry.
func (t *transport) sleep(ctx context.Context, until time.Time) error {
	d := time.Until(until)
	t.b.mu.Lock()
	t.waits = append(t.waits, d)
	t.b.mu.Unlock()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// collect carries out, on the kernel's side, what goroutines have requested, cancellations first.
func (t *transport) collect() {
	t.b.mu.Lock()
	parked, canceled, waits := t.parked, t.canceled, t.waits
	t.parked, t.canceled, t.waits = nil, nil, nil
	t.b.mu.Unlock()
	for _, r := range canceled {
		if k := slices.Index(t.live, r); k >= 0 {
			t.live = slices.Delete(t.live, k, k+1)
			t.client.Cancel(r.id)
		}
		same := func(x *request) bool { return x == r }
		parked, t.due = slices.DeleteFunc(parked, same), slices.DeleteFunc(t.due, same)
	}
	for _, d := range waits {
		k := t.i.Kernel
		r := k.Record(t.i.ID, subjects.KindBackoff)
		r.N, r.Detail = int64(d), "retry"
		k.Emit(r)
	}
	if t.b.passed {
		// Their backoff is over. The informer's reaction is a choice of its own, as in the step engine.
		t.due = append(t.due, parked...)
	} else {
		t.sendAll(parked)
	}
	t.i.offerWake(len(t.due) > 0)
}

func (t *transport) sendAll(rs []*request) {
	for _, r := range rs {
		t.send(r)
	}
}

// wake sends the requests that are due.
func (t *transport) wake() {
	t.i.wake.Taken()
	due := t.due
	t.due = nil
	t.sendAll(due)
}

func (t *transport) send(r *request) {
	spec := &t.i.Spec
	o := r.options
	o.LabelSelector, o.FieldSelector = spec.Labels, spec.Fields
	t.live = append(t.live, r)
	if r.watch {
		if o.SendInitialEvents != nil && *o.SendInitialEvents {
			r.initial = map[string]int64{}
		}
		r.id = t.client.Watch(spec.Resource, spec.Namespace, o, t)
		return
	}
	if o.Continue == "" {
		t.keys = t.keys[:0]
	}
	r.id = t.client.List(spec.Resource, spec.Namespace, o, t)
}

// request returns the live request with an id; nil if client-go has canceled it.
func (t *transport) request(id fakeapiserver.ReqID) *request {
	for _, r := range t.live {
		if r.id == id {
			return r
		}
	}
	return nil
}

func (t *transport) finish(r *request) {
	t.live = slices.DeleteFunc(t.live, func(x *request) bool { return x == r })
}

func (t *transport) reply(r *request, a answer) {
	t.i.s.begin(t.client.Name())
	r.answer <- a
	t.b.touch()
}

// OnList implements fakeapiserver.Receiver.
func (t *transport) OnList(id fakeapiserver.ReqID, page *fakeapiserver.Page, err error) {
	r := t.request(id)
	if r == nil {
		return
	}
	t.finish(r)
	if err != nil {
		t.reply(r, answer{err: err})
		return
	}
	t.keys = append(t.keys, page.Keys...)
	if page.Continue == "" {
		t.replaced = &replaced{keys: slices.Clone(t.keys), rv: page.ResourceVersion}
	}
	t.reply(r, answer{list: &metainternalversion.List{
		ListMeta: metav1.ListMeta{
			ResourceVersion: page.ResourceVersion, Continue: page.Continue, RemainingItemCount: page.RemainingItemCount,
		},
		Items: page.Items,
	}})
}

// OnWatchOpened implements fakeapiserver.Receiver.
func (t *transport) OnWatchOpened(id fakeapiserver.ReqID) {
	if r := t.request(id); r != nil {
		t.reply(r, answer{})
	}
}

// OnWatchOpenError implements fakeapiserver.Receiver.
func (t *transport) OnWatchOpenError(id fakeapiserver.ReqID, err error) {
	if r := t.request(id); r != nil {
		t.finish(r)
		t.reply(r, answer{err: err})
	}
}

// OnEvent implements fakeapiserver.Receiver.
func (t *transport) OnEvent(id fakeapiserver.ReqID, e fakeapiserver.Event) {
	r := t.request(id)
	if r == nil {
		return
	}
	if r.initial != nil {
		t.streamed(r, &e)
	}
	r.stream.send(frame{event: watch.Event{Type: e.Type, Object: e.Object}})
}

// streamed tracks a streaming list, whose end counts as a list (I16).
func (t *transport) streamed(r *request, e *fakeapiserver.Event) {
	switch e.Type {
	case watch.Added, watch.Modified:
		r.initial[e.Key] = e.Rev
	case watch.Deleted:
		delete(r.initial, e.Key)
	case watch.Bookmark:
		m, ok := e.Object.(metav1.Object)
		if !ok || m.GetAnnotations()[metav1.InitialEventsAnnotationKey] != "true" {
			return
		}
		keys := make([]string, 0, len(r.initial))
		for key := range r.initial { // order: sorted below
			keys = append(keys, key)
		}
		slices.Sort(keys)
		t.replaced = &replaced{keys: keys, rv: m.GetResourceVersion(), unordered: true, revisions: r.initial}
		r.initial = nil
	}
}

// OnWatchClosed implements fakeapiserver.Receiver.
func (t *transport) OnWatchClosed(id fakeapiserver.ReqID, err error) {
	r := t.request(id)
	if r == nil {
		return
	}
	t.finish(r)
	if err == nil {
		err = io.EOF
	}
	r.stream.send(frame{err: err})
}

// OnWrite implements fakeapiserver.Receiver. An informer writes nothing.
func (t *transport) OnWrite(fakeapiserver.ReqID, runtime.Object, error) {}
