package gates

import (
	"context"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	restretry "github.com/informersim/informersim/informer"
)

// request is a List or Watch that a goroutine waits for.
type request struct {
	id       int64
	informer int
	options  metav1.ListOptions
	answer   chan Answer // buffered: the kernel's side never blocks
	stream   *stream     // of a watch; nil for a list
}

// list makes a list for client-go, on its goroutine. Failed attempts are retried as a REST client retries them (I36).
//
// A shared informer's page size cannot be set; its pager follows the first page.
func (i *informer) list(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	if i.spec.PageSize > 0 && !i.whole {
		o.Limit = i.spec.PageSize
	}
	i.whole = false
	i.listBegins()
	var retry restretry.RESTRetry
	for {
		_, a, err := i.roundTrip(ctx, false, o)
		if err != nil {
			return nil, err
		}
		d := retry.OnAnswer(restretry.RESTAnswerOf(a.Err), time.Now())
		switch d.Action {
		case restretry.RESTSucceed:
			return &metainternalversion.List{
				ListMeta: metav1.ListMeta{ResourceVersion: a.ResourceVersion, Continue: a.Continue, RemainingItemCount: a.Remaining},
				Items:    a.Items,
			}, nil
		case restretry.RESTRetryAt:
			if err := i.sleep(ctx, d.At); err != nil {
				return nil, err
			}
		default:
			i.whole = o.Continue != "" && apierrors.IsResourceExpired(d.Err)
			i.listFails(d.Err)
			return nil, d.Err
		}
	}
}

// open is list for a watch.
func (i *informer) open(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	retry := restretry.RESTRetry{Watch: true}
	for {
		r, a, err := i.roundTrip(ctx, true, o)
		if err != nil {
			return nil, err
		}
		d := retry.OnAnswer(restretry.RESTAnswerOf(a.Err), time.Now())
		switch d.Action {
		case restretry.RESTSucceed:
			return r.stream.watch(), nil
		case restretry.RESTEmptyWatch:
			return watch.NewEmptyWatch(), nil
		case restretry.RESTRetryAt:
			if err := i.sleep(ctx, d.At); err != nil {
				return nil, err
			}
		default:
			return nil, d.Err
		}
	}
}

// roundTrip parks a request until it is answered or its context ends.
func (i *informer) roundTrip(ctx context.Context, isWatch bool, o metav1.ListOptions) (*request, Answer, error) {
	g := i.g
	r := &request{informer: i.n, options: o, answer: make(chan Answer, 1)}
	if isWatch {
		r.stream = newStream(g, r)
	}
	g.mu.Lock()
	g.asked++
	r.id = g.asked
	g.requests[r.id] = r
	g.parked = append(g.parked, r)
	g.mu.Unlock()
	g.b.Note()
	select {
	case a := <-r.answer:
		return r, a, nil
	case <-ctx.Done():
		g.cancel(r)
		return nil, Answer{}, ctx.Err()
	}
}

// asks reports whether an informer has a request that is yet to be told.
func (g *Gates) asks(i *informer) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.ContainsFunc(g.parked, func(r *request) bool { return r.informer == i.n })
}

func (g *Gates) cancel(r *request) {
	g.mu.Lock()
	g.canceled = append(g.canceled, r)
	g.mu.Unlock()
	g.b.Note()
}

// sleep backs off before a retry.
func (i *informer) sleep(ctx context.Context, until time.Time) error {
	d := time.Until(until)
	g := i.g
	g.mu.Lock()
	g.waits = append(g.waits, retryWait{i.n, d})
	g.mu.Unlock()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Answer answers a request.
func (g *Gates) Answer(id int64, a Answer) {
	g.mu.Lock()
	r := g.requests[id]
	if r != nil && r.stream == nil || a.Err != nil {
		delete(g.requests, id)
	}
	g.mu.Unlock()
	if r != nil {
		r.answer <- a
	}
}

// Frame sends an event of an open watch or, with a type of "", its end.
func (g *Gates) Frame(id int64, event watch.EventType, obj runtime.Object, end error) {
	g.mu.Lock()
	r := g.requests[id]
	g.mu.Unlock()
	if r == nil || r.stream == nil {
		return
	}
	select {
	case r.stream.frames <- frame{event: watch.Event{Type: event, Object: obj}, err: end}:
	default:
		g.mu.Lock()
		g.unread = append(g.unread, id)
		g.mu.Unlock()
	}
}
