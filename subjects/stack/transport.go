package stack

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/informer"
	"github.com/informersim/informersim/subjects"
)

// transport carries out what the reflector wants over one connection, with the retries of the REST layer (I36).
type transport struct {
	informer *actor
	client   *fakeapiserver.Client
	seq      uint64 // of the want that is being carried out
	op       informer.Op
	options  metav1.ListOptions
	retry    informer.RESTRetry
	req      fakeapiserver.ReqID // in flight; 0 for none
	resendAt time.Time           // zero: no retry waits
}

func newTransport(i *actor) transport {
	return transport{informer: i, client: i.stack.deps.Cluster.Connect(i.Spec.Name, i.Spec.Policy)}
}

// begin makes the connection the cause of the following draws.
func (t *transport) begin() {
	t.informer.stack.deps.Draws.Begin(t.client.Name())
}

// follow carries out the reflector's current want, and cancels what an earlier one left behind.
func (t *transport) follow(w *informer.Want) {
	for w.Seq != t.seq {
		t.cancel()
		t.seq, t.op = w.Seq, w.Op
		switch w.Op {
		case informer.OpList:
			t.options = w.Options
			if tamper := t.informer.stack.parts.ListOptions; tamper != nil {
				tamper(&t.options)
			}
			t.retry = informer.RESTRetry{}
			t.send()
		case informer.OpWatch:
			t.options = w.Options
			if tamper := t.informer.stack.parts.WatchOptions; tamper != nil {
				tamper(&t.options)
			}
			t.retry = informer.RESTRetry{Watch: true}
			t.send()
		case informer.OpSleep:
			t.recordWait("backoff", w.Until)
		}
	}
}

func (t *transport) recordWait(why string, until time.Time) {
	k := t.informer.Kernel
	r := k.Record(t.informer.ID, subjects.KindBackoff)
	r.N, r.Detail = int64(until.Sub(t.informer.now())), why
	k.Emit(r)
}

func (t *transport) cancel() {
	if t.req != 0 {
		t.client.Cancel(t.req)
		t.req = 0
	}
	t.resendAt = time.Time{}
}

func (t *transport) send() {
	o := t.options
	o.LabelSelector, o.FieldSelector = t.informer.Spec.Labels, t.informer.Spec.Fields
	if t.op == informer.OpWatch {
		t.req = t.client.Watch(t.informer.Spec.Resource, t.informer.Spec.Namespace, o, t)
	} else {
		t.req = t.client.List(t.informer.Spec.Resource, t.informer.Spec.Namespace, o, t)
	}
}

// nextTime returns when a retry is due.
func (t *transport) nextTime() (time.Time, bool) { return t.resendAt, !t.resendAt.IsZero() }

// onTime resends the request if its retry is due.
func (t *transport) onTime(now time.Time) {
	if !t.resendAt.IsZero() && !now.Before(t.resendAt) {
		t.resendAt = time.Time{}
		t.send()
	}
}

// reopen opens the watch again after a time, from the last version that was seen.
func (t *transport) reopen(after time.Duration) {
	t.cancel()
	t.options.ResourceVersion = t.informer.LastSyncResourceVersion()
	if after == 0 {
		t.send()
		return
	}
	t.resendAt = t.informer.now().Add(after)
	t.informer.armTimer()
}

// failed passes an error to the REST layer; surface is false if the request will be resent.
func (t *transport) failed(err error) (d informer.RESTDecision, surface bool) {
	d = t.retry.OnAnswer(informer.RESTAnswerOf(err), t.informer.now())
	if d.Action == informer.RESTRetryAt {
		t.resendAt = d.At
		t.recordWait("retry", d.At)
		t.informer.armTimer()
		return d, false
	}
	return d, true
}

// OnList implements fakeapiserver.Receiver.
func (t *transport) OnList(req fakeapiserver.ReqID, page *fakeapiserver.Page, err error) {
	if req != t.req {
		return
	}
	t.req = 0
	t.begin()
	r := t.informer.inf.Reflector
	r.SetTime(t.informer.now())
	if err == nil {
		r.OnPage(page.Items, page.ResourceVersion, page.Continue, page.RemainingItemCount)
	} else if d, surface := t.failed(err); surface {
		r.OnListError(d.Err)
	}
	t.informer.settleWants()
}

// OnWatchOpened implements fakeapiserver.Receiver.
func (t *transport) OnWatchOpened(req fakeapiserver.ReqID) {
	if req == t.req {
		t.begin()
		t.informer.inf.Reflector.SetTime(t.informer.now())
		t.informer.inf.Reflector.OnWatchOpened()
		t.informer.settleWants()
	}
}

// OnWatchOpenError implements fakeapiserver.Receiver.
func (t *transport) OnWatchOpenError(req fakeapiserver.ReqID, err error) {
	if req != t.req {
		return
	}
	t.req = 0
	t.begin()
	r := t.informer.inf.Reflector
	r.SetTime(t.informer.now())
	switch d, surface := t.failed(err); {
	case !surface:
	case d.Action == informer.RESTEmptyWatch:
		r.OnWatchOpened()
		r.OnWatchClosed(nil)
	default:
		if change := t.informer.stack.parts.OpenError; change != nil {
			d.Err = change(d.Err)
		}
		r.OnWatchOpenError(d.Err)
	}
	t.informer.settleWants()
}

// OnEvent implements fakeapiserver.Receiver.
func (t *transport) OnEvent(req fakeapiserver.ReqID, e fakeapiserver.Event) {
	if req != t.req {
		return
	}
	i := t.informer
	t.begin()
	if again := i.stack.parts.AfterError; again != nil && e.Type == watch.Error {
		t.reopen(again())
		return
	}
	i.NoteFrame(e.Key, e.Rev, e.Object)
	rare := e.Type == watch.Error || e.Type == watch.Bookmark
	if rare {
		i.inf.Reflector.SetTime(i.now())
	}
	rv := ""
	if m, ok := e.Object.(metav1.Object); ok {
		rv = m.GetResourceVersion()
		i.revisions.know(rv, e.Rev)
	}
	i.inf.Reflector.OnKeyed(e.Type, e.Key, e.Object, rv)
	if rare || i.inf.Reflector.Seq() != t.seq {
		i.settleWants() // a bookmark may end a streaming list, and resyncs begin (I38)
		return
	}
	i.offerPop()
	if !i.Synced {
		i.checkSynced()
	}
}

// OnWatchClosed implements fakeapiserver.Receiver.
func (t *transport) OnWatchClosed(req fakeapiserver.ReqID, err error) {
	if req != t.req {
		return
	}
	t.req = 0
	t.begin()
	if change := t.informer.stack.parts.WatchEnd; change != nil {
		err = change(err)
	}
	t.informer.inf.Reflector.SetTime(t.informer.now())
	t.informer.inf.Reflector.OnWatchClosed(err)
	t.informer.settleWants()
}

// OnWrite implements fakeapiserver.Receiver. An informer writes nothing.
func (t *transport) OnWrite(fakeapiserver.ReqID, runtime.Object, error) {}
