package world

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/world/wire"
)

// conversions calls the conversion webhooks of a run's CustomResourceDefinitions, with a handler in the test's process.
//
// Reading a version is part of whatever reads it, from a list to a watch frame, so a call is made in the middle of a step: the bubble is at rest
// then, and only the handler moves. What the handler waits for cannot come, and it gets no time. Faults are choices all the same: they are
// offered once an object has been written, until the next call, which meets the one that was picked.
type conversions struct {
	w       *world
	byPath  map[string]*conversionHook
	last    int64     // number of calls so far
	direct  bool      // it is the test that reads, not the apiserver
	current *underWay // nil if none is
}

// underWay is a conversion.
type underWay struct {
	*converter
	random, uid string // of its call
	late        bool   // nobody has answered in time
}

// conversionHook is the actor of the calls to a path.
type conversionHook struct {
	of     *conversions
	id     sim.ActorID
	path   string
	offers []sim.Choice
	armed  []fault.Kind // were picked, and wait for a call
}

func newConversions(w *world) *conversions {
	c := &conversions{w: w, byPath: map[string]*conversionHook{}}
	w.mapper.converters.run = c
	w.cluster.OnCommit(c.committed)
	return c
}

// hook returns the actor of a path.
func (c *conversions) hook(path string) *conversionHook {
	h := c.byPath[path]
	if h == nil {
		h = &conversionHook{of: c, path: path}
		h.id = c.w.kernel.Register(h)
		c.byPath[path] = h
	}
	return h
}

// committed has faults offered: what was written will be converted.
func (c *conversions) committed(_ store.ResourceID, v store.Committed) {
	path, converted := c.w.mapper.converters.paths[v.Object.GetObjectKind().GroupVersionKind().GroupKind()]
	if converted && !v.Deleted {
		c.hook(path).offer()
	}
}

// read has the test read something: no fault is met, and a handler answers even if its process is down.
func (c *conversions) read(f func() error) error {
	before := c.direct
	c.direct = true
	defer func() { c.direct = before }()
	return f()
}

// offer offers the faults that the next call may meet.
func (h *conversionHook) offer() {
	w := h.of.w
	if len(h.offers) > 0 || w.stopped || !w.cluster.FaultsLeft() {
		return
	}
	for _, kind := range fault.WebhookKinds() {
		if choice := fault.WebhookChoice(kind); w.config.mix.Rate(choice) > 0 {
			h.offers = append(h.offers, w.kernel.Offer(h.id, choice, 0))
		}
	}
}

// withdraw takes back what is offered.
func (h *conversionHook) withdraw(but sim.Choice) {
	for _, o := range h.offers {
		if o != but {
			h.of.w.kernel.Withdraw(o)
		}
	}
	h.offers = nil
}

// Name implements sim.Actor.
func (h *conversionHook) Name() string { return "conversion" + h.path }

// Apply implements sim.Actor: the next call meets a fault.
func (h *conversionHook) Apply(picked sim.Choice) {
	h.withdraw(picked)
	for _, kind := range fault.WebhookKinds() {
		if fault.WebhookChoice(kind) == picked.Kind {
			h.armed = append(h.armed, kind)
		}
	}
}

// stopFaults ends what calls might still meet.
func (c *conversions) stopFaults() {
	for _, h := range c.byPath { // order: what is withdrawn does not depend on it
		h.withdraw(sim.Choice{})
		h.armed = nil
	}
}

// fault returns the fault that a call about an object meets.
func (h *conversionHook) fault(about *conversionKey) (kind fault.Kind, hit bool) {
	if hooks := h.of.w.webhooks; hooks != nil {
		if kind, hit = hooks.armedFault(about.matches); hit {
			return kind, true
		}
	}
	if len(h.armed) == 0 || !h.of.w.cluster.SpendFault() { // one that meets no call has not happened
		return "", false
	}
	kind, h.armed = h.armed[0], h.armed[1:]
	return kind, true
}

// conversionKey is the object that a call is about.
type conversionKey struct{ plural, namespace, name, from, to string }

// matches reports whether an injected fault is about the object. The apiserver converts it for nobody in particular, so no fault of a client's or
// of a verb's requests is.
func (k *conversionKey) matches(f *fault.Fault) bool {
	return f.Target == "" && f.Verb == "" && (f.Resource == "" || f.Resource == k.plural) && (f.Namespace == "" || f.Namespace == k.namespace) &&
		(f.Name == "" || f.Name == k.name)
}

// String names the object as records do.
func (k *conversionKey) String() string {
	if k.namespace == "" {
		return k.plural + " " + k.name
	}
	return k.plural + " " + k.namespace + "/" + k.name
}

// roundTrip carries a call of the library's.
func (c *conversions) roundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var review apiextensionsv1.ConversionReview
	if err := json.Unmarshal(body, &review); err != nil {
		return nil, err
	}
	if review.Request == nil || len(review.Request.Objects) == 0 {
		return nil, errors.New("this call of a conversion webhook has no object; this is a bug in informersim")
	}
	var obj metav1.PartialObjectMetadata
	if err := json.Unmarshal(review.Request.Objects[0].Raw, &obj); err != nil {
		return nil, err
	}
	now := c.current
	key := &conversionKey{now.plural, obj.Namespace, obj.Name, obj.APIVersion, review.Request.DesiredAPIVersion}
	c.last++
	now.random, now.uid = string(review.Request.UID), fmt.Sprintf("%08x-0000-4000-9000-%012x", uint32(c.w.seed), c.last)
	a := c.answer(now, key, r, bytes.ReplaceAll(body, []byte(now.random), []byte(now.uid)))
	if a.err != nil {
		now.late = errors.Is(a.err, context.DeadlineExceeded)
		return nil, a.err
	}
	return a.response(r, io.NopCloser(bytes.NewReader(bytes.ReplaceAll(a.body, []byte(now.uid), []byte(now.random))))), nil
}

// answer returns what comes of a call: the handler's answer, or that of a fault.
func (c *conversions) answer(now *underWay, key *conversionKey, r *http.Request, body []byte) *hookAnswer {
	if c.direct {
		return c.w.remote.call(true, r, body)
	}
	h, kernel := c.hook(now.path), c.w.kernel
	h.withdraw(sim.Choice{})
	kind, hit := h.fault(key)
	var a *hookAnswer
	if hit {
		rec := kernel.Record(h.id, fakeapiserver.KindFault)
		rec.Key, rec.Detail = h.path+" about "+key.String(), string(kind)
		kernel.Emit(rec)
		a = faultyAnswer(kind)
	} else {
		a = c.w.remote.call(false, r, body)
	}
	if a.err != nil || hit {
		h.offer() // it will be tried again
	}
	rec := kernel.Record(h.id, kindWebhook)
	rec.Key, rec.Detail = key.String(), h.path+", asked to convert "+key.from+" to "+key.to+": "+a.converted()
	kernel.Emit(rec)
	return a
}

// converted describes the answer in a trace.
func (a *hookAnswer) converted() string {
	if a.err != nil {
		return a.err.Error()
	}
	var review apiextensionsv1.ConversionReview
	what := "no ConversionReview"
	if err := json.Unmarshal(a.body, &review); err == nil && review.Response != nil {
		if what = "converted"; review.Response.Result.Status != metav1.StatusSuccess {
			what = strings.TrimSuffix("failed: "+review.Response.Result.Message, ": ")
		}
	}
	return fmt.Sprintf("%d %s", a.code, what)
}

// call has the test's process call its handler at once.
func (r *remote) call(direct bool, request *http.Request, body []byte) *hookAnswer {
	if r.lost() {
		return &hookAnswer{err: io.ErrUnexpectedEOF}
	}
	inQuery := r.queried > 0
	r.w.flight.leave()
	r.peer.send(wire.New(wire.Call).Flag(direct).Text(request.URL.String()).Header(request.Header).Bytes(body))
	m := r.await(wire.Called)
	switch {
	case m == nil && r.reported != nil:
		r.w.kernel.Fail(errConverterWaits)
		return &hookAnswer{err: context.DeadlineExceeded}
	case m == nil:
		r.w.flight.cutOff(false)
		return &hookAnswer{err: io.ErrUnexpectedEOF}
	}
	r.moved = true // the handler may have changed what the checks look at, and said something
	a := &hookAnswer{err: m.Error(), code: int(m.Num()), header: m.Header(), body: m.Bytes()}
	switch {
	case m.Err() != nil:
		r.peer.broken(m.Err())
		r.w.kernel.Fail(r.peer.gone)
	case errors.Is(a.err, syscall.ECONNREFUSED):
		a.err = refused
	case a.err != nil && a.err.Error() == context.DeadlineExceeded.Error():
		if a.err = context.DeadlineExceeded; inQuery {
			r.w.kernel.Fail(errConverterWaits)
		}
	}
	return a
}
