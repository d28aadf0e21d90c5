package scenarios

import (
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/store"
)

// writer is a client that makes one write after the other and retries transient failures. A create that finds its object, or a
// delete that finds none, counts as done: the answer of an earlier attempt was lost.
type writer struct {
	w        *World
	client   *fakeapiserver.Client
	queue    []write
	inFlight bool
}

type write struct {
	op       string
	resource store.ResourceID
	key      objectKey
	object   runtime.Object
}

// writerRetry is a writer's backoff, unless the answer has a Retry-After.
const writerRetry = time.Second

func (w *World) addWriter(name string) error {
	if err := w.ensureCluster(); err != nil {
		return err
	}
	wr := &writer{w: w, client: w.cluster.Connect(name, fakeapiserver.Policy{})}
	w.writers[name] = wr
	w.writeOrd = append(w.writeOrd, wr)
	return nil
}

func (r *writer) busy() bool { return r.inFlight || len(r.queue) > 0 }

func (r *writer) enqueue(x write) {
	r.queue = append(r.queue, x)
	r.next()
}

func (r *writer) next() {
	if r.inFlight || len(r.queue) == 0 {
		return
	}
	r.inFlight = true
	x := r.queue[0]
	r.client.Write(fakeapiserver.Write{
		Verb: fakeapiserver.WriteVerb(x.op), Resource: x.resource, Object: x.object, Namespace: x.key.namespace, Name: x.key.name,
	}, r)
}

// OnWrite implements fakeapiserver.Receiver.
func (r *writer) OnWrite(_ fakeapiserver.ReqID, _ runtime.Object, err error) {
	x := r.queue[0]
	settled := err == nil ||
		x.op == "create" && apierrors.IsAlreadyExists(err) ||
		x.op != "create" && apierrors.IsNotFound(err)
	if !settled && (apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsConflict(err)) {
		r.w.refusedWrongly(x.key.String(), fmt.Sprintf("%s of %s: %v", x.op, x.key, err)) // it was checked when it was read
		return
	}
	if settled {
		r.queue = r.queue[1:]
		r.inFlight = false
		r.next()
		return
	}
	wait := writerRetry
	if s, ok := apierrors.SuggestsClientDelay(err); ok {
		wait = time.Duration(s) * time.Second
	}
	r.w.kernel.Clock().AfterFunc(wait, func() {
		r.inFlight = false
		r.next()
	})
}

// A writer neither lists nor watches.

// OnList implements fakeapiserver.Receiver.
func (*writer) OnList(fakeapiserver.ReqID, *fakeapiserver.Page, error) {}

// OnWatchOpened implements fakeapiserver.Receiver.
func (*writer) OnWatchOpened(fakeapiserver.ReqID) {}

// OnWatchOpenError implements fakeapiserver.Receiver.
func (*writer) OnWatchOpenError(fakeapiserver.ReqID, error) {}

// OnEvent implements fakeapiserver.Receiver.
func (*writer) OnEvent(fakeapiserver.ReqID, fakeapiserver.Event) {}

// OnWatchClosed implements fakeapiserver.Receiver.
func (*writer) OnWatchClosed(fakeapiserver.ReqID, error) {}
