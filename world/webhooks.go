package world

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime/debug"
	"syscall"
	"time"

	"k8s.io/utils/clock"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/admission"
	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/fakeapiserver/rest"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/world/wire"
)

var (
	kindCallWebhook = sim.RegisterKind("call-webhook", sim.ClassAction) // a call reaches the webhook's handler
	// kindWebhook records what became of a call: Key is the object of the write, as in a commit's; Detail the path, the operation and the answer.
	kindWebhook = sim.RegisterKind("webhook", sim.ClassRecord)
)

// webhooks calls the admission webhooks that are configured in the cluster, with a handler in the test's process. It is the world's
// rest.Admission.
//
// A plugin of a real apiserver waits for each answer. No step may wait, so the plugin runs again from the start whenever an answer has come,
// with all answers so far, until it needs no other one: it is a function of the write and of the answers. Meanwhile the write is paused. A
// call is an action of the actor "webhook/PATH", and so is each fault that it may meet.
type webhooks struct {
	w       *world
	plugins *admission.Plugins
	byPath  map[string]*webhook
	calls   map[int64]*hookCall
	last    int64 // number of calls so far
	paused  *hookReview
	ordered []*armedWebhookFault
	armed   []*armedWebhookFault // of those, the ones that wait for a call
}

// webhook is the actor of the calls to a path.
type webhook struct {
	of   *webhooks
	id   sim.ActorID
	path string
}

// hookCall is a call of a webhook: offered, then under way, then answered.
type hookCall struct {
	id      int64
	hook    *webhook
	url     string
	header  http.Header
	body    []byte
	timeout time.Duration
	write   *rest.AdmissionWrite
	done    func(*hookAnswer)

	offers   []sim.Choice
	timer    clock.Timer
	sent     bool
	lost     bool // its answer is
	answered bool
}

// hookAnswer is what came of a call: err, or an answer in HTTP.
type hookAnswer struct {
	uid    string // the one that the call had in place of the plugin's
	err    error
	code   int
	header http.Header
	body   []byte
}

func newWebhooks(w *world) (*webhooks, error) {
	h := &webhooks{w: w, byPath: map[string]*webhook{}, calls: map[int64]*hookCall{}}
	var err error
	h.plugins, err = admission.New(admission.Options{Cluster: w.cluster, Types: w.mapper.registry, Transport: hookTransport{}, EveryNamespace: true})
	return h, err
}

// Asks implements rest.Admission.
func (h *webhooks) Asks() bool { return h.plugins.Asks() }

// Begin implements rest.Admission.
func (h *webhooks) Begin(write rest.AdmissionWrite) rest.AdmissionReview {
	r, asks := h.plugins.Begin(write).(*admission.Review)
	if !asks {
		return nil
	}
	return &hookReview{h: h, review: r, write: &write}
}

// beside runs work, and again after each answer that it has asked for, and then goes on.
func (h *webhooks) beside(work, then func()) {
	h.paused = nil
	work()
	r := h.paused
	if r == nil {
		then()
		return
	}
	h.paused = nil
	r.resume = func() { h.beside(work, then) }
}

// call makes a call, and done is told what came of it.
func (h *webhooks) call(q *question, write *rest.AdmissionWrite, done func(*hookAnswer)) {
	path := q.url.Path
	hook := h.byPath[path]
	if hook == nil {
		hook = &webhook{of: h, path: path}
		hook.id = h.w.kernel.Register(hook)
		h.byPath[path] = hook
	}
	c := &hookCall{id: q.number, hook: hook, url: q.url.String(), header: q.header, body: q.body, timeout: timeoutOf(q.url), write: write, done: done}
	h.calls[c.id] = c
	if f, hit := h.armedFault(c.matches); hit {
		c.strike(f)
		return
	}
	c.offer(kindCallWebhook)
	if h.w.stopped || write.Client == workloadClient || !h.w.cluster.FaultsLeft() {
		return // a test's own writes arrive
	}
	for _, kind := range fault.WebhookKinds() {
		if choice := fault.WebhookChoice(kind); h.w.config.mix.Rate(choice) > 0 {
			c.offer(choice)
		}
	}
}

// timeoutOf returns the timeout that the caller tells a webhook.
func timeoutOf(u *url.URL) time.Duration {
	d, err := time.ParseDuration(u.Query().Get("timeout"))
	if err != nil {
		return 10 * time.Second // the default of the API
	}
	return d
}

func (c *hookCall) offer(kind sim.Kind) {
	c.offers = append(c.offers, c.hook.of.w.kernel.Offer(c.hook.id, kind, uint32(c.id)))
}

// Name implements sim.Actor.
func (hook *webhook) Name() string { return "webhook" + hook.path }

// Apply implements sim.Actor.
func (hook *webhook) Apply(picked sim.Choice) {
	c := hook.of.calls[int64(picked.Target)]
	for _, o := range c.offers {
		if o != picked {
			hook.of.w.kernel.Withdraw(o)
		}
	}
	c.offers = nil
	if picked.Kind == kindCallWebhook || !hook.of.w.cluster.SpendFault() {
		c.send()
		return
	}
	for _, kind := range fault.WebhookKinds() {
		if fault.WebhookChoice(kind) == picked.Kind {
			c.strike(kind)
		}
	}
}

// send calls the handler, and limits how long its answer may take.
func (c *hookCall) send() {
	w := c.hook.of.w
	c.sent = true
	w.remote.do(wire.DoCall).Num(c.id).Text(c.url).Header(c.header).Bytes(c.body)
	c.await()
}

// await has the caller give up after the timeout.
func (c *hookCall) await() {
	w := c.hook.of.w
	c.timer = w.kernel.Clock().AfterFunc(c.timeout, func() {
		if c.sent {
			w.remote.do(wire.DoHangUp).Num(c.id)
		}
		c.arrive(&hookAnswer{err: context.DeadlineExceeded})
	})
}

// strike has a fault hit the call.
func (c *hookCall) strike(kind fault.Kind) {
	w := c.hook.of.w
	rec := w.kernel.Record(c.hook.id, fakeapiserver.KindFault)
	rec.Key, rec.Detail = c.hook.path+" about "+c.key(), string(kind)
	w.kernel.Emit(rec)
	switch kind {
	case fault.WebhookTimeout: // on the way there, or on the way back
		if c.lost = w.kernel.Stream("fault/"+string(kind)+"/param").IntN(2) == 1; c.lost {
			c.send()
		} else {
			c.await()
		}
	default:
		c.arrive(faultyAnswer(kind))
	}
}

// faultyAnswer is what the caller gets in place of an answer.
func faultyAnswer(kind fault.Kind) *hookAnswer {
	switch kind {
	case fault.WebhookRefused:
		return &hookAnswer{err: refused}
	case fault.Webhook500:
		return &hookAnswer{code: http.StatusInternalServerError, header: http.Header{"Content-Type": {"text/plain; charset=utf-8"}}, body: []byte("internal error\n")}
	case fault.WebhookGarbage:
		return &hookAnswer{code: http.StatusOK, header: http.Header{"Content-Type": {"text/html"}}, body: []byte("<html>ok</html>\n")}
	}
	return &hookAnswer{err: context.DeadlineExceeded}
}

// refused is the error of a connection on which nobody listens.
var refused = &net.OpError{
	Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 10), Port: 443}, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED),
}

// called takes in what the test's process says of a call.
func (h *webhooks) called(m *wire.Message) {
	id := m.Num()
	a := &hookAnswer{err: m.Error()}
	a.code, a.header, a.body = int(m.Num()), m.Header(), m.Bytes()
	if c := h.calls[id]; c != nil && !c.lost {
		if errors.Is(a.err, syscall.ECONNREFUSED) {
			a.err = refused
		}
		c.arrive(a)
	}
}

// arrive parks an answer until the step ends; then the write goes on.
func (c *hookCall) arrive(a *hookAnswer) {
	if c.answered {
		return
	}
	c.answered = true
	if c.timer != nil {
		c.timer.Stop()
	}
	w := c.hook.of.w
	w.gate.parked = append(w.gate.parked, &arrival{client: c.hook.Name(), key: fmt.Sprintf("%08d", c.id), life: w.forever, f: func() { c.answer(a) }})
}

// answer hands an answer to the review.
func (c *hookCall) answer(a *hookAnswer) {
	w := c.hook.of.w
	defer func() {
		if p := recover(); p != nil {
			w.kernel.Fail(fmt.Errorf("the fake apiserver panicked after a call of the webhook %s: %v; this is a bug in informersim\n%s", c.hook.path, p, debug.Stack()))
		}
	}()
	rec := w.kernel.Record(c.hook.id, kindWebhook)
	rec.Key, rec.Detail = c.key(), c.hook.path+", asked about the "+c.write.Operation+" of "+c.write.Client+": "+a.String()
	w.kernel.Emit(rec)
	delete(c.hook.of.calls, c.id)
	c.done(a)
}

// key names the object of the write as records do.
func (c *hookCall) key() string {
	key := c.write.Name
	if c.write.Resource.Namespaced {
		key = c.write.Namespace + "/" + key
	}
	return c.write.Resource.Plural + " " + key
}

// String describes the answer in a trace.
func (a *hookAnswer) String() string {
	if a.err != nil {
		return a.err.Error()
	}
	return fmt.Sprintf("%d %s", a.code, summaryOf(a.body))
}

// response returns the answer to a request.
func (a *hookAnswer) response(r *http.Request, body io.ReadCloser) *http.Response {
	return &http.Response{
		Status: fmt.Sprintf("%d %s", a.code, http.StatusText(a.code)), StatusCode: a.code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.header, Body: body, ContentLength: -1, Request: r,
	}
}
