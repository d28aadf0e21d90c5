package clientgo

import (
	"fmt"
	"io"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/clientgo/gates"
)

// transport sends what the informer's ListerWatcher is asked for, when the bubble is quiescent, as a client of the fake apiserver.
type transport struct {
	i      *actor
	client *fakeapiserver.Client

	// Noted in the bubble since the last collect.
	parked   []*request
	canceled []int64
	waits    []time.Duration // before a request is sent again

	due      []*request // their backoff is over; sent by the choice wake
	live     []*request // sent and not finished
	pages    replaced   // the list in flight, as far as its pages have come
	replaced *replaced  // the list or streaming list that was completed in this step
}

// request is a List or Watch that a goroutine in the bubble waits for.
type request struct {
	id      int64
	watch   bool
	options metav1.ListOptions
	sent    fakeapiserver.ReqID
	// initial is the streaming list so far: keys and revisions; nil for other requests, and once it is complete.
	initial map[string]int64
}

// replaced is a list that the reflector has added to its queue.
type replaced struct {
	keys      []string
	rv        string
	unordered bool             // its objects went through a map
	revisions map[string]int64 // of its objects
	refused   int              // for how many of them the transform fails: if there is one, the queue takes no list
}

func newTransport(i *actor, client *fakeapiserver.Client) *transport {
	return &transport{i: i, client: client}
}

// collect carries out, on the kernel's side, what goroutines have requested, cancellations first.
func (t *transport) collect() {
	parked, canceled, waits := t.parked, t.canceled, t.waits
	t.parked, t.canceled, t.waits = nil, nil, nil
	for _, id := range canceled {
		same := func(x *request) bool { return x.id == id }
		if k := slices.IndexFunc(t.live, same); k >= 0 {
			r := t.live[k]
			t.live = slices.Delete(t.live, k, k+1)
			t.client.Cancel(r.sent)
		}
		parked, t.due = slices.DeleteFunc(parked, same), slices.DeleteFunc(t.due, same)
	}
	for _, d := range waits {
		k := t.i.Kernel
		r := k.Record(t.i.ID, subjects.KindBackoff)
		r.N, r.Detail = int64(d), "retry"
		k.Emit(r)
	}
	if t.i.s.passed {
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
		r.sent = t.client.Watch(spec.Resource, spec.Namespace, o, t)
		return
	}
	if o.Continue == "" {
		t.pages = replaced{revisions: map[string]int64{}}
	}
	r.sent = t.client.List(spec.Resource, spec.Namespace, o, t)
}

// request returns the live request with an id; nil if client-go has canceled it.
func (t *transport) request(id fakeapiserver.ReqID) *request {
	for _, r := range t.live {
		if r.sent == id {
			return r
		}
	}
	return nil
}

func (t *transport) finish(r *request) {
	t.live = slices.DeleteFunc(t.live, func(x *request) bool { return x == r })
}

func (t *transport) reply(r *request, a gates.Answer) {
	t.i.s.begin(t.client.Name())
	t.i.s.side.Answer(r.id, a)
	t.i.s.touch()
}

// frame sends an event of an open watch, or its end.
func (t *transport) frame(r *request, event watch.EventType, obj runtime.Object, end error) {
	t.i.s.begin(t.client.Name())
	t.i.s.side.Frame(r.id, event, obj, end)
	t.i.s.touch()
}

// unread ends the run if a request is this informer's.
func (t *transport) unread(id int64) {
	if slices.ContainsFunc(t.live, func(r *request) bool { return r.id == id }) {
		t.i.Kernel.Fail(&subjects.Failure{Kind: subjects.Hung, What: fmt.Sprintf("informer %s has a watch open but does not read it", t.i.Spec.Name)})
	}
}

// OnList implements fakeapiserver.Receiver.
func (t *transport) OnList(id fakeapiserver.ReqID, page *fakeapiserver.Page, err error) {
	r := t.request(id)
	if r == nil {
		return
	}
	t.finish(r)
	if err != nil {
		t.reply(r, gates.Answer{Err: err})
		return
	}
	t.pages.keys = append(t.pages.keys, page.Keys...)
	for n, obj := range page.Items {
		if t.i.Refuses(obj) {
			t.pages.refused++
		}
		if m, ok := obj.(metav1.Object); ok {
			t.pages.revisions[page.Keys[n]] = subjects.ParseRevision(m.GetResourceVersion())
		}
	}
	if page.Continue == "" {
		whole := t.pages
		whole.rv = page.ResourceVersion
		t.replaced = &whole
	}
	t.reply(r, gates.Answer{
		Items: page.Items, ResourceVersion: page.ResourceVersion, Continue: page.Continue, Remaining: page.RemainingItemCount,
	})
}

// OnWatchOpened implements fakeapiserver.Receiver.
func (t *transport) OnWatchOpened(id fakeapiserver.ReqID) {
	if r := t.request(id); r != nil {
		t.reply(r, gates.Answer{})
	}
}

// OnWatchOpenError implements fakeapiserver.Receiver.
func (t *transport) OnWatchOpenError(id fakeapiserver.ReqID, err error) {
	if r := t.request(id); r != nil {
		t.finish(r)
		t.reply(r, gates.Answer{Err: err})
	}
}

// OnEvent implements fakeapiserver.Receiver.
func (t *transport) OnEvent(id fakeapiserver.ReqID, e fakeapiserver.Event) {
	r := t.request(id)
	if r == nil {
		return
	}
	switch {
	case r.initial != nil:
		t.streamed(r, &e)
	case !t.i.Refuses(e.Object):
		t.i.backlog.came(&e)
	}
	t.i.NoteFrame(e.Key, e.Rev, e.Object)
	t.frame(r, e.Type, e.Object, nil)
}

// streamed tracks a streaming list, whose end counts as a list (I16).
func (t *transport) streamed(r *request, e *fakeapiserver.Event) {
	switch e.Type {
	case watch.Added, watch.Modified:
		if !t.i.Refuses(e.Object) {
			r.initial[e.Key] = e.Rev
		}
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
	t.frame(r, "", nil, err)
}

// OnWrite implements fakeapiserver.Receiver. An informer writes nothing.
func (t *transport) OnWrite(fakeapiserver.ReqID, runtime.Object, error) {}
